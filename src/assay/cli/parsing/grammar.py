"""Grammar: every verb with its words and options."""

from __future__ import annotations

import argparse

from assay import __version__
from assay.cli.machine.actions import ACTIONS
from assay.cli.parsing.options import (
    USUAL_OBSERVATIONS,
    booting,
    building,
    claiming,
    configured,
    disturbed_above,
    export,
    measuring,
    observing,
    reserving,
    seed,
    spending,
    warmup,
)
from assay.cli.parsing.usage import Parser

DESCRIPTION = "Finds the system configuration in which a program runs best, and proves the gain."
EPILOG = """\
examples:
  assay tune -- python3 simulate.py            find the best settings for a program
  assay tune threads=1,2,4 malloc=glibc,jemalloc --budget 5m -- ./app
  assay compare 'xz -T1 -k f' 'xz -T2 -k f'    which of two commands is faster
  assay run --from last -- ./app               run it as the last study recommends
  assay report last -o report.html             one page with everything
"""

COMPLETION = """\
installation:
  bash   assay completion bash > ~/.local/share/bash-completion/completions/assay
  zsh    assay completion zsh > DIR/_assay, where DIR is listed in $fpath
  fish   assay completion fish > ~/.config/fish/completions/assay.fish
"""


def build(verb: str | None = None) -> argparse.ArgumentParser:
    """The parser: of all verbs, or of one of ``VERBS`` alone, which takes a fifth of the time."""
    parser: argparse.ArgumentParser = Parser(
        prog="assay",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"assay {__version__}")
    # Its name is given, as argparse would set up all that help takes to work it out.
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, prog=parser.prog)
    for name, add in VERBS.items():
        if verb in (None, name):
            add(verbs)
    return parser


Verbs = argparse._SubParsersAction  # argparse names no public type for it


def _verb(
    verbs: Verbs[argparse.ArgumentParser], name: str, summary: str, usage: str, json: bool = True
) -> argparse.ArgumentParser:
    """A verb with the options that all have."""
    parser = verbs.add_parser(
        name, help=summary, description=summary, usage=usage, allow_abbrev=False
    )
    common = parser.add_argument_group("common options")
    common.add_argument("--db", metavar="URL", help="where studies are kept (also ASSAY_DB)")
    if json:
        common.add_argument(
            "--json", action="store_true", help="one JSON document on standard output"
        )
    common.add_argument("-v", "--verbose", action="store_true", help="say more")
    common.add_argument("-q", "--quiet", action="store_true", help="say only the result")
    common.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours and live lines",
    )
    common.add_argument(
        "--as-root", action="store_true", help="with sudo: all is root's, the program too"
    )
    return parser


def _tune(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "tune",
        "find, prove and recommend the best configuration",
        "assay tune [SETTING=DOMAIN ...] [options] -- COMMAND [ARG ...]",
    )
    parser.add_argument(
        "settings",
        nargs="*",
        metavar="SETTING=DOMAIN",
        help="a,b,c | lo..hi[:step] | lo..hi:log2; none: those that can matter here",
    )
    measuring(parser)
    claiming(parser)
    group = parser.add_argument_group("search")
    group.add_argument(
        "--space",
        metavar="FILE.toml",
        help="domains, conditions, constraints, named configurations",
    )
    group.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="EXPR",
        help="as 'threads * arg.n <= 8'",
    )
    group.add_argument(
        "--parallel",
        metavar="K",
        help="divide the CPUs into K slots, confine each launch to one, and search K at a time",
    )
    group.add_argument(
        "--warm-start",
        action="append",
        default=[],
        metavar="STUDY|auto|none",
        help="let an earlier study guide the search; auto: of this workload, else machine (none)",
    )
    group.add_argument(
        "--search-on",
        metavar="PARTITION",
        help="on a whole partition, where it is quiet; study confirm then asks the system as it is",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="say what would be tried, run nothing"
    )


def _run(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "run",
        "run a command once under a configuration",
        "assay run [--with SETTING=VALUE ...] [options] -- COMMAND [ARG ...] | --from STUDY",
        json=False,
    )
    configured(parser)
    building(parser)
    reserving(parser)
    parser.add_argument(
        "--from",
        dest="study",
        metavar="STUDY",
        help="as a study recommends; without a command the study's own",
    )
    parser.add_argument(
        "--point",
        metavar="N",
        help="of a study with several objectives: this point of its front, by number or settings",
    )
    parser.add_argument(
        "--cell",
        metavar="NAME",
        help="of a sweep or a comparison: this cell, by its name (default: the best, where a claim "
        "shows that it is better)",
    )
    parser.add_argument(
        "--unproven",
        action="store_true",
        help="accept a recommendation of --from that is not proven (default: refuse it)",
    )
    parser.add_argument(
        "--outputs-may-differ",
        action="store_true",
        help="accept one whose output differs from the default's (default: refuse it)",
    )
    parser.add_argument(
        "--explain", action="store_true", help="print the plan and the script; run nothing"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="write what was measured, as JSON; - is the last line of standard output",
    )
    observing(parser, "memory,scheduling with --record, else none")


def _measure(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "measure",
        "repeat one configuration until it is precise enough",
        "assay measure [--with SETTING=VALUE ...] [options] -- COMMAND [ARG ...]",
    )
    configured(parser)
    parser.add_argument(
        "--precision",
        metavar="SHARE",
        help="half the interval over the mean at which to stop (1%%)",
    )
    warmup(parser, "until they get no faster")
    parser.add_argument(
        "--fail-if",
        metavar="VERDICT,...",
        help="exit 1 on any of: broken (what is required), unclear, failed (launches that failed)",
    )
    measuring(parser)


def _compare(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "compare",
        "compare commands or configurations, interleaved",
        "assay compare 'COMMAND A' 'COMMAND B' ... | --arm 'a=1 b=2' --arm '...' -- COMMAND",
    )
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="the first is the baseline")
    parser.add_argument(
        "--arm",
        action="append",
        default=[],
        metavar="'S=V ...'",
        help="a configuration, or a name of --space",
    )
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME", help="of each arm, in order"
    )
    parser.add_argument(
        "--space",
        metavar="FILE.toml",
        help="named configurations, for --arm NAME; without --arm all of them, the first of the"
        " file is the baseline",
    )
    warmup(parser, "1 of each arm")
    parser.add_argument(
        "--fail-if",
        metavar="VERDICT,...",
        help="exit 1 on any of: slower or faster (by more than the margin), same, unclear, failed"
        " (launches that failed), broken (what is required)",
    )
    measuring(parser)
    claiming(parser)


def _sweep(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "sweep",
        "an experiment from a file: grid, factorial, random, Latin hypercube",
        "assay sweep FILE.toml [options]",
    )
    parser.add_argument("file", nargs="?", metavar="FILE.toml", help="the experiment")
    parser.add_argument(
        "--dry-run", action="store_true", help="show all cells and what they take, run nothing"
    )
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of the file, for editors"
    )
    group = parser.add_argument_group("in place of what the file says")
    spending(group, " (10m)")
    seed(group, None)
    disturbed_above(group)
    observing(group, USUAL_OBSERVATIONS)
    reserving(parser.add_argument_group("where"))
    claiming(parser)
    export(parser.add_argument_group("results"))
    booting(parser.add_argument_group("settings of the boot and the firmware"))


def _settings(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs, "settings", "every setting and what it does here", "assay settings list|show NAME"
    )
    parser.add_argument("action", choices=("list", "show"), nargs="?", default="list")
    parser.add_argument("name", nargs="?", metavar="NAME")


def _study(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "study",
        "what was measured: list, show, compare, resume, export, verify, calibrate and more",
        "assay study list | show|resume|confirm|export|delete STUDY | verify FILE "
        "| calibrate [-- COMMAND] | compare A B",
    )
    parser.add_argument(
        "action",
        choices=(
            *("list", "show", "compare", "resume", "confirm", "export", "verify", "calibrate"),
            "delete",
        ),
    )
    parser.add_argument(
        "study",
        nargs="?",
        metavar="STUDY",
        help="an id, its beginning, or last; to verify, the file of a bundle",
    )
    # The second condition of compare, the file of export --json FILE.
    parser.add_argument("file", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument(
        "--new-stratum", action="store_true", help="resume: begin anew beside what changed"
    )
    group = parser.add_argument_group("resume")
    spending(group, ", beyond what was spent")
    export(group)
    booting(group, verify=False)
    group = parser.add_argument_group(
        "confirm",
        "what was found against the default, here; also --budget, --runs, --disturbed-above",
    )
    group.add_argument("--point", metavar="N", help="of several objectives: this one of the front")
    group = parser.add_argument_group(
        "calibrate", "also --budget (3m) and --runs; without a command a load that assay brings"
    )
    group.add_argument(
        "--overhead",
        action="store_true",
        help="measure the cost of each observation instead (takes no --runs)",
    )
    seed(group, None)
    disturbed_above(group)
    observing(group, USUAL_OBSERVATIONS)
    _study_compare(
        parser.add_argument_group(
            "compare",
            "A and B: a study, the file of a bundle, either with :STRATUM or @ARM behind it, a line"
            " of a table of published figures (runs.csv:2), or n=30,mean=299.4,sd=3.38",
        )
    )
    group = parser.add_argument_group("export", "several may be given; - is standard output")
    group.add_argument(
        "--bundle", metavar="FILE.zip", help="for others to check; names of host and user left out"
    )
    group.add_argument("--csv", metavar="FILE", help="a row for each sample")
    group.add_argument("--openmetrics", metavar="FILE", help="for Prometheus and its like")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="by its ending: .zip, .csv, .json (all there is; also --json FILE), .om",
    )
    group.add_argument("--no-outputs", action="store_true", help="leave out what the program wrote")
    group = parser.add_argument_group("verify")
    group.add_argument("--signature", metavar="FILE.sig", help="as ssh-keygen -Y sign wrote it")
    group.add_argument(
        "--signer", metavar="KEY.pub|WHO=FILE", help="a public key, or one of the allowed signers"
    )


def _study_compare(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--metric", metavar="NAME", help="metric to compare (default: objective)")
    group.add_argument(
        "--margin", metavar="SHARE", help="ignore differences below it (default: 1%%)"
    )
    group.add_argument(
        "--occasion",
        action="append",
        default=[],
        metavar="STUDY|FILE",
        help="use this study as well to estimate the variance between occasions; repeatable"
        " (default: all fitting studies of the store)",
    )
    group.add_argument(
        "--same-workload",
        action="store_true",
        help="compare two commands that differ: they do the same work",
    )
    group.add_argument(
        "--fail-if",
        metavar="VERDICT,...",
        help="exit 1 on any of: slower, faster (beyond the margin), same, unclear, unproven",
    )
    group.add_argument("--markdown", action="store_true", help="print the result as Markdown")


def _report(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "report",
        "one self-contained page of a study",
        "assay report STUDY [-o report.html]",
    )
    parser.add_argument("study", metavar="STUDY", help="an id, its beginning, or last")
    parser.add_argument(
        "-o",
        "--output",
        default="report.html",
        metavar="FILE",
        help="the page (report.html), or with .svg or .png its main picture; - is standard output",
    )


def _machine(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "machine",
        "this machine: show, check, set, put back, and its noise",
        "assay machine show|check|snapshot|diff|apply|restore|noise [options]",
    )
    parser.epilog, parser.formatter_class = ACTIONS, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "action",
        choices=("show", "check", "snapshot", "diff", "apply", "restore", "noise"),
    )
    parser.add_argument("words", nargs="*", metavar="WORD", help="what an action is about")
    _machine_show(parser.add_argument_group("show, snapshot, diff, check"))
    _machine_check(parser.add_argument_group("check"))
    _machine_set(parser.add_argument_group("apply, restore"))
    _machine_noise(parser.add_argument_group("noise"))


def _machine_show(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--root", metavar="DIR", help="a recorded machine, a folder or an archive")
    group.add_argument("-o", "--output", metavar="FILE", help="write to this file")


def _machine_check(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--profile", metavar="NAME|FILE", help="measuring (also without), hpc, latency, or a file"
    )


def _machine_set(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    group.add_argument("--force", action="store_true", help="put back also what others changed")


def _machine_noise(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--cpus", metavar="LIST", help="where to look (all that may be used)")
    group.add_argument("--seconds", metavar="TIME", help="how long each method takes (3s)")
    group.add_argument("--quantum", metavar="TIME", help="of fixed work, or of fixed time (1ms)")
    group.add_argument("--threshold", metavar="TIME", help="a detour takes longer (1us)")
    group.add_argument(
        "--figures", action="store_true", help="lines of name, value and unit, for --metric"
    )
    group.add_argument(
        "--tool", metavar="osnoise|timerlat", help="a tracer of the kernel; needs root"
    )


def _partition(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "partition",
        "CPUs and memory set apart for measured work (root): create, list, start, delete",
        "assay partition create [NAME] [--cpus LIST|auto] [--mem SIZE] ... | list | delete [NAME]",
    )
    parser.add_argument("action", choices=("create", "list", "start", "delete"))
    parser.add_argument("name", nargs="?", metavar="NAME", help="of the partition (main)")
    group = parser.add_argument_group("create")
    group.add_argument(
        "--cpus", metavar="LIST|auto", help="auto: all but a core of each socket (auto)"
    )
    group.add_argument("--cores", metavar="N", help="so many cores, close together, instead")
    group.add_argument("--partial", action="store_true", help="also parts of cores")
    group.add_argument("--mem", metavar="SIZE|auto|NODE:SIZE,...", help="memory of its own (none)")
    group.add_argument("--pages", metavar="2M|1G", help="take the memory as huge pages")
    group.add_argument(
        "--precise", action="store_true", help="less memory than asked for is not enough"
    )
    group.add_argument("--gpus", metavar="LIST", help="GPUs that runs can have of it")
    group.add_argument(
        "--idle", choices=("default", "shallow", "poll"), help="how deep its CPUs sleep"
    )
    group.add_argument(
        "--no-machine-checks", action="store_true", help="do not poll for corrected errors"
    )
    group.add_argument("--no-broker", action="store_true", help="nobody can have a share")
    group.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    group = parser.add_argument_group("create, start, delete")
    group.add_argument(
        "--timeout", metavar="TIME", help="wait so long for another that changes the machine (30s)"
    )
    group = parser.add_argument_group("delete")
    group.add_argument("--force", action="store_true", help="also while it is used")


def _case(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "case",
        "the catalogue of workloads: list, show, run",
        "assay case list | show NAME | run NAME [PARAMETER=N ...] [options]",
    )
    parser.add_argument("action", choices=("list", "show", "run"))
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the case")
    parser.add_argument(
        "values", nargs="*", metavar="PARAMETER=N", help="parameter of the work (`show` lists them)"
    )
    group = parser.add_argument_group("show, run")
    group.add_argument(
        "--size",
        metavar="tiny|L2|LLC|DRAM|BYTES",
        help="size of the data: a cache, DRAM or bytes (default: L2)",
    )
    group.add_argument("--threads", metavar="N", help="number of threads (default: that of OpenMP)")
    group = parser.add_argument_group("run")
    group.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="NAME",
        help="variant to run, repeatable (default: all available ones)",
    )
    spending(group, " (10m)")
    seed(group, 0)
    disturbed_above(group)
    group.add_argument("-o", "--output", metavar="FILE.svg", help="the roofline as a picture")


def _tier(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "tier",
        "storage as memory: doctor, run, top, bench, predict",
        "assay tier doctor [--path DIR[,DIR...]]"
        " | run --dram SIZE [--path DIR[,DIR...]] [--how HOW] -- PROGRAM"
        " | top | bench --dram SIZE --path DIR[,DIR...]"
        " | predict --dram SIZE --path DIR[,DIR...] -- PROGRAM",
    )
    parser.add_argument("action", choices=("doctor", "run", "top", "bench", "predict"))
    parser.add_argument("--path", metavar="DIR[,DIR...]", help="directories on disks")
    group = parser.add_argument_group("run")
    group.add_argument(
        "--dram", metavar="SIZE", help="what the program's large allocations share of DRAM"
    )
    group.add_argument(
        "--how",
        choices=("auto", "pager", "advisor"),
        help="pager: needs rights, and --path; advisor: advice on the kernel's swap;"
        " auto: the pager where it may be used (auto)",
    )
    group.add_argument(
        "--numa",
        choices=("follow", "local", "interleave"),
        help="nodes that the DRAM comes from: follow: those of the threads that touch it; local:"
        " one; interleave: all in turn (follow)",
    )
    group.add_argument(
        "--keep-free",
        metavar="SIZE",
        help="room that stays free on each file system of --path, whatever the program asks for"
        " (a twentieth of the file system, 1G at most)",
    )
    group.add_argument(
        "--trace", metavar="DIR", help="record there which memory is touched, for --replay"
    )
    group.add_argument(
        "--replay", metavar="DIR", help="foresee what is touched by a trace of the same program"
    )
    configured(parser)
    reserving(group)
    group.add_argument(
        "--explain", action="store_true", help="print the plan and the script; run nothing"
    )
    group.add_argument(
        "--record",
        metavar="FILE",
        help="write what was measured, as JSON; - is the last line of standard output",
    )
    group = parser.add_argument_group("top")
    group.add_argument("--every", metavar="TIME", help="between two looks (1s)")
    group = parser.add_argument_group("predict")
    group.add_argument("--for", metavar="TIME", help="to look at the program (30s)")
    group = parser.add_argument_group("bench")
    group.add_argument(
        "--threads", metavar="N[,N...]", help="of the programs, as 1,2,4 (one for each CPU)"
    )
    group.add_argument(
        "--work",
        action="append",
        default=[],
        metavar="WORD",
        help="only programs with WORD in their names; repeatable",
    )
    group.add_argument(
        "--data", metavar="X[,X...]", help="only data of so many times DRAM (0.5,1,1.5,2,4,8)"
    )
    group.add_argument("--budget", metavar="TIME", help="time to spend, as 90s, 10m, 2h (10m)")
    group.add_argument("-o", "--output", metavar="FILE.svg", help="the efficiencies as a picture")


def _doctor(verbs: Verbs[argparse.ArgumentParser]) -> None:
    _verb(verbs, "doctor", "what this host grants to you, in one screen", "assay doctor")


def _schema(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(verbs, "schema", "print the JSON Schema of a document", "assay schema [NAME]")
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="document to describe (default: list all names)"
    )


def _completion(verbs: Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "completion",
        "print a completion script for a shell",
        "assay completion bash|zsh|fish",
        json=False,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="shell to complete for")
    parser.epilog = COMPLETION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


VERBS = {
    "tune": _tune,
    "run": _run,
    "measure": _measure,
    "compare": _compare,
    "sweep": _sweep,
    "settings": _settings,
    "study": _study,
    "report": _report,
    "machine": _machine,
    "partition": _partition,
    "case": _case,
    "tier": _tier,
    "doctor": _doctor,
    "schema": _schema,
    "completion": _completion,
}
"""What adds each verb."""
