"""Measuring verbs: tune, run, measure, compare and sweep."""

from __future__ import annotations

from assay.cli.parsing.options import (
    DEFAULT_OBSERVATIONS,
    add_boot_options,
    add_budget_options,
    add_build_options,
    add_common_options,
    add_configuration_options,
    add_decision_options,
    add_disturbance_option,
    add_export_option,
    add_measurement_options,
    add_observe_option,
    add_reservation_options,
    add_seed_option,
    add_warmup_option,
)
from assay.cli.parsing.usage import ListGivenOnce, Parser
from assay.cli.parsing.verb import Verbs, add_verb


def add_tune(verbs: Verbs[Parser]) -> None:
    """Add ``assay tune``."""
    parser = add_verb(
        verbs,
        "tune",
        "find, prove and recommend the best configuration of a program",
        "assay tune [SETTING=DOMAIN ...] [options] -- COMMAND [ARG ...]",
        examples="""\
  assay tune -- ./app                      try the settings that may matter
  assay tune threads=1..8:log2 malloc=glibc,jemalloc --budget 5m -- ./app
  assay tune --metric 'fps=FPS: (.*)' --objective fps -- ./app
""",
    )
    parser.add_argument(
        "settings",
        nargs="*",
        metavar="SETTING=DOMAIN",
        help="values to try: a,b,c or lo..hi[:step] or lo..hi:log2 (default: settings that may"
        " matter on this machine)",
    )
    group = parser.add_argument_group("search")
    group.add_argument(
        "--space",
        metavar="FILE.toml",
        help="file with domains, conditions, constraints and named configurations",
    )
    group.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="EXPR",
        help="skip configurations that violate this: 'threads * arg.n <= 8'; repeatable",
    )
    group.add_argument(
        "--parallel",
        metavar="K",
        help="divide the CPUs into K slots, confine each launch to one, and search with K launches"
        " at a time (default: one launch on all CPUs)",
    )
    group.add_argument(
        "--warm-start",
        action="append",
        default=[],
        metavar="STUDY|auto|none",
        help="let an earlier study guide the search; auto: studies of this workload, else of this"
        " machine; repeatable (default: none)",
    )
    group.add_argument(
        "--fidelity",
        action=ListGivenOnce,
        metavar="SETTING=DOMAIN",
        help="begin the search with low values of this argument or variable, which make a launch"
        " cheap, and confirm with the last value alone: arg.steps=50..2000:log or"
        " arg.epochs=1,3,9 (default: every launch of the search is whole)",
    )
    group.add_argument(
        "--search-on",
        metavar="PARTITION",
        help="search and confirm on a whole partition; `assay study confirm` then repeats the"
        " comparison outside of it",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="print the search space and run nothing"
    )
    group = parser.add_argument_group("budget and decision")
    add_budget_options(group, "10m")
    add_seed_option(group, 0)
    add_decision_options(group)
    add_measurement_options(parser)
    add_common_options(parser)
    parser.most_used = (
        *("--budget", "--metric", "--objective", "--goal", "--require"),
        *("--space", "--dry-run", "--json"),
    )


def add_run(verbs: Verbs[Parser]) -> None:
    """Add ``assay run``."""
    parser = add_verb(
        verbs,
        "run",
        "run a command once under a configuration",
        "assay run [SETTING=VALUE ...] [options] -- COMMAND [ARG ...]\n"
        "       assay run --from STUDY [options] [-- COMMAND [ARG ...]]",
        examples="""\
  assay run threads=4 malloc=jemalloc -- ./app   set two settings
  assay run --from last -- ./app                 as the last study recommends
  assay run --from last --explain > app.sh       print a script without assay
""",
    )
    add_configuration_options(parser)
    group = parser.add_argument_group("recommendation of a study")
    group.add_argument(
        "--from",
        dest="study",
        metavar="STUDY",
        help="apply the recommendation of this study; without COMMAND run the study's own",
    )
    group.add_argument(
        "--point",
        metavar="N",
        help="point of the Pareto front of a study with several objectives, by number or settings"
        " (default: best in the first objective)",
    )
    group.add_argument(
        "--cell",
        metavar="NAME",
        help="cell of a sweep or arm of a comparison (default: the best, if a claim shows that it"
        " is better)",
    )
    group.add_argument(
        "--unproven",
        action="store_true",
        help="accept a recommendation that is not proven (default: refuse it)",
    )
    group.add_argument(
        "--outputs-may-differ",
        action="store_true",
        help="accept a recommendation that changes the output (default: refuse it)",
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--explain", action="store_true", help="print the plan and a script; run nothing"
    )
    group.add_argument(
        "--record",
        metavar="FILE",
        help="write the measurements to FILE as JSON; - prints them as the last line of standard"
        " output",
    )
    add_observe_option(group, "memory,scheduling with --record, else none")
    add_build_options(parser.add_argument_group("build"))
    add_reservation_options(parser.add_argument_group("environment"))
    add_common_options(parser, json=False)
    parser.most_used = ("--from", "--explain", "--record", "--reserve", "--build", "--quiet")


def add_measure(verbs: Verbs[Parser]) -> None:
    """Add ``assay measure``."""
    parser = add_verb(
        verbs,
        "measure",
        "repeat one configuration until its mean is precise enough",
        "assay measure [SETTING=VALUE ...] [options] -- COMMAND [ARG ...]",
        examples="""\
  assay measure -- ./app                         mean, quartiles, spread
  assay measure threads=4 --precision 0.5% -- ./app
  assay measure --require 'wall_s:p90<=2s' --fail-if broken -- ./app
""",
    )
    add_configuration_options(parser)
    group = parser.add_argument_group("budget and precision")
    add_budget_options(group, "10m")
    group.add_argument(
        "--precision",
        metavar="SHARE",
        help="stop once half the confidence interval is below this share of the mean (default:"
        " 1%%)",
    )
    add_warmup_option(group, "until launches no longer become faster")
    add_seed_option(group, 0)
    group.add_argument(
        "--fail-if",
        metavar="VERDICT,...",
        help="exit with status 1 on any of these: broken (a requirement), unclear, failed (a"
        " launch)",
    )
    add_measurement_options(parser)
    add_common_options(parser)
    parser.most_used = (
        *("--budget", "--runs", "--precision", "--warmup", "--metric", "--require", "--fail-if"),
        *("--export", "--json"),
    )


def add_compare(verbs: Verbs[Parser]) -> None:
    """Add ``assay compare``."""
    parser = add_verb(
        verbs,
        "compare",
        "compare commands or configurations in interleaved blocks",
        "assay compare 'COMMAND A' 'COMMAND B' ... [options]\n"
        "       assay compare --arm 'S=V ...' [--arm ...] [options] -- COMMAND [ARG ...]",
        examples="""\
  assay compare 'xz -T1 -k f' 'xz -T2 -k f'      two commands
  assay compare --arm threads=4 -- ./app         settings against the default
  assay compare --fail-if slower './old' './new' status 1 on a regression
""",
    )
    parser.add_argument(
        "commands", nargs="*", metavar="COMMAND", help="quoted command; the first is the baseline"
    )
    group = parser.add_argument_group("arms")
    group.add_argument(
        "--arm",
        action="append",
        default=[],
        metavar="'S=V ...'",
        help="settings of an arm, or the name of a configuration of --space; a single arm is"
        " compared with the default; repeatable",
    )
    group.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="NAME",
        help="name of an arm, in the order of the arms; repeatable (default: its command or"
        " settings)",
    )
    group.add_argument(
        "--space",
        metavar="FILE.toml",
        help="file with named configurations for --arm NAME; without --arm all of them are"
        " compared, and the first one is the baseline",
    )
    group = parser.add_argument_group("budget and decision")
    add_budget_options(group, "10m")
    add_warmup_option(group, "1 of each arm")
    add_seed_option(group, 0)
    add_decision_options(group)
    group.add_argument(
        "--fail-if",
        metavar="VERDICT,...",
        help="exit with status 1 on any of these: slower or faster (by more than the margin),"
        " same, unclear, failed (a launch), broken (a requirement)",
    )
    add_measurement_options(parser)
    add_common_options(parser)
    parser.most_used = (
        *("--arm", "--budget", "--runs", "--margin", "--metric", "--objective", "--fail-if"),
        *("--export", "--json"),
    )


def add_sweep(verbs: Verbs[Parser]) -> None:
    """Add ``assay sweep``."""
    parser = add_verb(
        verbs,
        "sweep",
        "run a designed experiment, which a file describes",
        "assay sweep FILE.toml [options]",
        examples="""\
  assay sweep experiment.toml --dry-run          list the cells and their cost
  assay sweep experiment.toml --budget 1h --export result.csv
  assay sweep --schema > sweep.schema.json       JSON Schema of the file
""",
    )
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE.toml",
        help="file that describes the experiment: grid, factorial, random, Latin hypercube",
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--dry-run", action="store_true", help="list all cells and their cost; run nothing"
    )
    group.add_argument(
        "--schema",
        action="store_true",
        help="print the JSON Schema of the file, for editors; run nothing",
    )
    add_export_option(group)
    group = parser.add_argument_group("budget and decision", "These options override the file.")
    add_budget_options(group, "that of the file, else 10m")
    add_seed_option(group, None)
    add_decision_options(group)
    group = parser.add_argument_group("environment and observation")
    add_reservation_options(group)
    add_disturbance_option(group)
    add_observe_option(group, DEFAULT_OBSERVATIONS)
    add_boot_options(parser.add_argument_group("settings of boot and firmware"))
    add_common_options(parser)
    parser.most_used = (
        *("--dry-run", "--schema", "--export", "--budget", "--runs", "--margin", "--reserve"),
        "--json",
    )
