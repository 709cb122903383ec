"""Machine verbs: machine, partition, tier and doctor; the catalogue, schemas and completion."""

from __future__ import annotations

from assay.cli.parsing.options import (
    Group,
    add_budget_options,
    add_common_options,
    add_configuration_options,
    add_disturbance_option,
    add_reservation_options,
    add_seed_option,
)
from assay.cli.parsing.usage import Parser
from assay.cli.parsing.verb import Verbs, add_verb

INSTALLATION = """\
  bash   assay completion bash > DIR/assay, where DIR is
         ~/.local/share/bash-completion/completions
  zsh    assay completion zsh > DIR/_assay, where DIR is listed in $fpath
  fish   assay completion fish > ~/.config/fish/completions/assay.fish
"""


def add_machine(verbs: Verbs[Parser]) -> None:
    """Add ``assay machine``."""
    parser = add_verb(
        verbs,
        "machine",
        "show, check, compare and set this machine, and measure its noise",
        "assay machine ACTION [WORD ...] [options]",
        actions="""\
  show      show the hardware and its settings; with -o FILE.svg draw it
              assay machine show -o machine.svg
  check     check whether it is fit for measuring; status 1 if a check fails
              assay machine check --profile hpc
  snapshot  record all that assay reads, without names and serial numbers
              assay machine snapshot -o machine.tar.gz
  diff      compare two machines: snapshots, folders, studies, or live
              assay machine diff before.tar.gz live
  apply     apply the settings of a profile, until restore or a reboot (root)
              assay machine apply measuring --dry-run
  restore   undo apply and interrupted studies, delete all partitions (root)
              assay machine restore
  noise     measure OS noise with the methods selfish, fwq and ftq
              assay machine noise fwq --cpus 0-1 --seconds 10s
""",
    )
    parser.add_argument(
        "action",
        choices=("show", "check", "snapshot", "diff", "apply", "restore", "noise"),
        metavar="ACTION",
        help="one of the actions below",
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="diff: the machines; apply: the profile; noise: methods (default: all)",
    )
    group = parser.add_argument_group("show, snapshot, diff, check")
    group.add_argument(
        "--root",
        metavar="DIR",
        help="folder or archive of a recorded machine (default: this machine)",
    )
    group.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE (default: standard output)"
    )
    group = parser.add_argument_group("check")
    group.add_argument(
        "--profile",
        metavar="NAME|FILE",
        help="profile to check against: measuring, hpc, latency, or a file (default: measuring)",
    )
    group = parser.add_argument_group("apply, restore")
    group.add_argument("--dry-run", action="store_true", help="print the changes and make none")
    group.add_argument(
        "--force",
        action="store_true",
        help="restore also files that another program has changed since",
    )
    _add_noise_options(parser.add_argument_group("noise"))
    add_common_options(parser)
    parser.most_used = ("--profile", "--output", "--dry-run", "--cpus", "--seconds", "--json")


def _add_noise_options(group: Group) -> None:
    group.add_argument(
        "--cpus", metavar="LIST", help="CPUs to measure (default: all that assay may use)"
    )
    group.add_argument("--seconds", metavar="TIME", help="length of each measurement (default: 3s)")
    group.add_argument(
        "--quantum", metavar="TIME", help="work quantum of fwq and ftq (default: 1ms)"
    )
    group.add_argument(
        "--threshold",
        metavar="TIME",
        help="shortest interruption that counts as a detour (default: 1us)",
    )
    group.add_argument(
        "--figures",
        action="store_true",
        help="print lines of name, value and unit, which --metric can read",
    )
    group.add_argument(
        "--tool",
        metavar="osnoise|timerlat",
        help="measure with this tracer of the kernel instead (root)",
    )


def add_partition(verbs: Verbs[Parser]) -> None:
    """Add ``assay partition``."""
    parser = add_verb(
        verbs,
        "partition",
        "reserve CPUs and memory for measured work (root)",
        "assay partition ACTION [NAME] [options]",
        actions="""\
  create  reserve CPUs and memory, and keep interrupts and other work away
  list    list the partitions, their state and their free resources
  start   restore a partition that is not in force, and its broker
  delete  undo all changes of a partition
""",
        examples="""\
  sudo assay partition create --cpus 4-7 --mem 8G
  assay run --reserve cpus=2 -- ./app        run on a share of it, without root
  sudo assay partition delete
""",
    )
    parser.add_argument(
        "action",
        choices=("create", "list", "start", "delete"),
        metavar="ACTION",
        help="one of the actions below",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="name of the partition (default: main)"
    )
    group = parser.add_argument_group("create")
    group.add_argument(
        "--cpus",
        metavar="LIST|auto",
        help="CPUs of the partition (default: auto, all but one core of each package)",
    )
    group.add_argument("--cores", metavar="N", help="number of adjacent cores, instead of --cpus")
    group.add_argument(
        "--partial",
        action="store_true",
        help="accept single hardware threads of a core (default: whole cores only)",
    )
    group.add_argument(
        "--mem",
        metavar="SIZE|auto|NODE:SIZE,...",
        help="memory to reserve, in all or for each NUMA node (default: none)",
    )
    group.add_argument(
        "--pages", metavar="2M|1G", help="reserve the memory as huge pages of this size"
    )
    group.add_argument(
        "--precise",
        action="store_true",
        help="fail if less memory is available (default: reserve as much as possible)",
    )
    group.add_argument("--gpus", metavar="LIST", help="GPUs that runs can reserve")
    group.add_argument(
        "--idle",
        choices=("default", "shallow", "poll"),
        help="idle states of the CPUs: shallow allows light ones only, poll none (default:"
        " unchanged)",
    )
    group.add_argument(
        "--no-machine-checks",
        action="store_true",
        help="stop polling for corrected hardware errors, on all CPUs",
    )
    group.add_argument(
        "--no-broker",
        action="store_true",
        help="start no broker: --reserve is not available then",
    )
    group.add_argument("--dry-run", action="store_true", help="print the changes and make none")
    group = parser.add_argument_group("create, start, delete")
    group.add_argument(
        "--timeout",
        metavar="TIME",
        help="time to wait for another process that changes the machine (default: 30s)",
    )
    group = parser.add_argument_group("delete")
    group.add_argument("--force", action="store_true", help="delete it even while it is in use")
    add_common_options(parser)
    parser.most_used = ("--cpus", "--cores", "--mem", "--dry-run", "--force", "--json")


def add_case(verbs: Verbs[Parser]) -> None:
    """Add ``assay case``."""
    parser = add_verb(
        verbs,
        "case",
        "list, show and run the built-in workloads",
        "assay case list | show NAME | run NAME [PARAMETER=N ...] [options]",
        actions="""\
  list  list all cases of the catalogue
  show  show the variants, parameters and sources of a case
  run   compare the variants of a case, and place them on the roofline
""",
        examples="""\
  assay case show kmeans
  assay case run kmeans --size LLC --budget 2m
""",
    )
    parser.add_argument(
        "action",
        choices=("list", "show", "run"),
        metavar="ACTION",
        help="one of the actions below",
    )
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
        help="variant to run; repeatable (default: all available ones)",
    )
    add_budget_options(group, "10m")
    add_seed_option(group, 0)
    add_disturbance_option(group)
    group.add_argument("-o", "--output", metavar="FILE.svg", help="write the roofline as a picture")
    add_common_options(parser)
    parser.most_used = ("--size", "--threads", "--variant", "--budget", "--output", "--json")


def add_tier(verbs: Verbs[Parser]) -> None:
    """Add ``assay tier``."""
    parser = add_verb(
        verbs,
        "tier",
        "use storage as memory: check, run, watch, benchmark and predict",
        "assay tier ACTION [SETTING=VALUE ...] [options] [-- COMMAND [ARG ...]]",
        actions="""\
  doctor   check whether storage can extend memory on this machine
  run      run a command whose large allocations exceed its DRAM
  top      show the memory traffic of commands that run with a tier
  bench    measure the efficiency of a tier against memory alone
  predict  predict the efficiency of a command from a short sample
""",
        examples="""\
  assay tier doctor --path /mnt/nvme
  assay tier run --dram 8G --path /mnt/nvme -- ./app
  assay tier predict --dram 8G --path /mnt/nvme -- ./app
""",
    )
    parser.add_argument(
        "action",
        choices=("doctor", "run", "top", "bench", "predict"),
        metavar="ACTION",
        help="one of the actions below",
    )
    add_configuration_options(parser)
    group = parser.add_argument_group("doctor, run, bench, predict")
    group.add_argument(
        "--path", metavar="DIR[,DIR...]", help="directories of the backing store, on local disks"
    )
    group = parser.add_argument_group("run, bench, predict")
    group.add_argument(
        "--dram", metavar="SIZE", help="DRAM for the large allocations of the program"
    )
    group.add_argument(
        "--numa",
        choices=("follow", "local", "interleave"),
        help="NUMA nodes of the DRAM; follow: those of the accessing threads, local: a single one,"
        " interleave: all in turn (default: follow)",
    )
    group = parser.add_argument_group("run")
    group.add_argument(
        "--how",
        choices=("auto", "pager", "advisor"),
        help="pager: move pages in user space (needs --path and rights); advisor: advise the"
        " kernel's swap; auto: the pager, if it is available (default: auto)",
    )
    group.add_argument(
        "--keep-free",
        metavar="SIZE",
        help="space to keep free on each file system of --path (default: 5%% of it, at most 1G)",
    )
    group.add_argument(
        "--trace", metavar="DIR", help="record the memory accesses to DIR, for --replay"
    )
    group.add_argument(
        "--replay",
        metavar="DIR",
        help="prefetch and evict by a recorded trace of the same program",
    )
    add_reservation_options(group)
    group.add_argument(
        "--explain", action="store_true", help="print the plan and a script; run nothing"
    )
    group.add_argument(
        "--record",
        metavar="FILE",
        help="write the measurements to FILE as JSON; - prints them as the last line of standard"
        " output",
    )
    group = parser.add_argument_group("top")
    group.add_argument("--every", metavar="TIME", help="refresh interval (default: 1s)")
    group = parser.add_argument_group("predict")
    group.add_argument("--for", metavar="TIME", help="length of the sample (default: 30s)")
    group = parser.add_argument_group("bench")
    group.add_argument(
        "--threads",
        metavar="N[,N...]",
        help="numbers of threads, such as 1,2,4 (default: one for each CPU)",
    )
    group.add_argument(
        "--work",
        action="append",
        default=[],
        metavar="WORD",
        help="run only the programs with WORD in their names; repeatable (default: all)",
    )
    group.add_argument(
        "--data",
        metavar="X[,X...]",
        help="sizes of the data as multiples of DRAM (default: 0.5,1,1.5,2,4,8)",
    )
    group.add_argument("--budget", metavar="TIME", help="time to spend (default: 10m)")
    group.add_argument(
        "-o", "--output", metavar="FILE.svg", help="write the efficiencies as a picture"
    )
    add_common_options(parser)
    parser.most_used = ("--path", "--dram", "--how", "--numa", "--explain", "--json")


def add_doctor(verbs: Verbs[Parser]) -> None:
    """Add ``assay doctor``."""
    parser = add_verb(
        verbs,
        "doctor",
        "show which measurements and settings this host allows",
        "assay doctor [options]",
    )
    add_common_options(parser)


def add_schema(verbs: Verbs[Parser]) -> None:
    """Add ``assay schema``."""
    parser = add_verb(
        verbs, "schema", "print the JSON Schema of a document", "assay schema [NAME] [options]"
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="document to describe (default: list all names)"
    )
    add_common_options(parser)


def add_completion(verbs: Verbs[Parser]) -> None:
    """Add ``assay completion``."""
    parser = add_verb(
        verbs,
        "completion",
        "print a completion script for a shell",
        "assay completion bash|zsh|fish",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="shell to complete for")
    add_common_options(parser, json=False)
    parser.sections["installation"] = INSTALLATION
