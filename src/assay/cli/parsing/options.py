"""Groups of options that several verbs share. Imports nothing but argparse, as the parser."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from assay.cli.parsing.usage import HelpAction

HOOKS = {
    "setup": "run this command once before the launches, not timed",
    "prepare": "run this command before each launch, not timed",
    "cleanup": "run this command once after the launches, not timed",
    "stop": "run this command to end a launch, not timed (default: send SIGTERM)",
}
"""Options that take a command of their own, with their help."""

Group = argparse._ArgumentGroup  # argparse has no public type for it


class SingleCommand(argparse.Action):
    """Action of an option that takes a command: a second one is an error.

    If another option is given twice, its last value counts, so that it overrides that of a wrapper.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """See ``argparse.Action``."""
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(
                self, "takes one command; join several with sh -c 'ONE && OTHER'"
            )
        setattr(namespace, self.dest, values)


def add_common_options(parser: argparse.ArgumentParser, *, json: bool = True) -> None:
    """Add the options that all verbs have.

    Args:
        parser: parser of a verb.
        json: the verb can print a JSON document.
    """
    group = parser.add_argument_group("common options")
    group.add_argument("-h", "--help", action=HelpAction)
    group.add_argument(
        "--db",
        metavar="PATH",
        help="store of the studies (default: ASSAY_DB, or assay/assay.db in the user's state"
        " folder)",
    )
    if json:
        group.add_argument(
            "--json", action="store_true", help="print one JSON document on standard output"
        )
    group.add_argument("-v", "--verbose", action="store_true", help="print more details")
    group.add_argument("-q", "--quiet", action="store_true", help="print the result only")
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours and a live progress line (default: auto, that is, on a terminal)",
    )
    group.add_argument(
        "--as-root",
        action="store_true",
        help="under sudo: run the program as root, and let root own all files (default: only"
        " privileged steps run as root)",
    )


def add_budget_options(group: Group, default: str) -> None:
    """Add the limits of a study.

    Args:
        group: group to extend.
        default: default budget, in words.
    """
    group.add_argument(
        "--budget", metavar="TIME", help=f"time to spend: 90s, 10m, 2h (default: {default})"
    )
    group.add_argument(
        "--runs", metavar="N", help="number of launches to spend (default: no limit)"
    )


def add_decision_options(group: Group) -> None:
    """Add the options of verbs that decide between arms."""
    group.add_argument(
        "--margin",
        metavar="SHARE",
        help="margin of equivalence: smaller differences count as none (default: 1%%; of a spread"
        " 25%%)",
    )
    group.add_argument(
        "--null",
        action="store_true",
        help="run the default as a second arm as well, to measure the noise floor",
    )


def add_export_option(group: Group) -> None:
    """Add the option that writes the answer to files."""
    group.add_argument(
        "--export",
        action="append",
        default=[],
        metavar="FILE",
        help="also write the answer to FILE.md, FILE.csv or FILE.json; repeatable",
    )


def add_reservation_options(group: Group) -> None:
    """Add the options that reserve a share of a partition for the launches."""
    group.add_argument(
        "--reserve",
        metavar="SPEC",
        help="run launches on a share of a partition: cpus=2,mem=4G, cores=1/2, list=2-3, all",
    )
    group.add_argument(
        "--partition",
        metavar="NAME",
        help="partition to reserve from (default: the only one that exists)",
    )


DEFAULT_OBSERVATIONS = (
    "memory,scheduling, unless `study calibrate --overhead` found them too costly"
)
"""Default of ``--observe`` in studies, as the help states it."""


def add_observe_option(group: Group, default: str) -> None:
    """Add the option that chooses observations.

    Args:
        group: group to extend.
        default: the default, as the help states it.
    """
    group.add_argument(
        "--observe",
        metavar="all|none|NAME,...",
        help="observations of the launches that count: counters, memory, scheduling, readback"
        f" (default: {default})",
    )


def add_disturbance_option(group: Group) -> None:
    """Add the limit of CPU time that other processes may use during a block."""
    group.add_argument(
        "--disturbed-above",
        metavar="SHARE|never",
        help="CPU share of other processes above which a block counts as disturbed (default: 10%%,"
        " or ASSAY_DISTURBED_ABOVE)",
    )


def add_seed_option(group: Group, default: int | None) -> None:
    """Add the seed of all random choices.

    Args:
        group: group to extend.
        default: default in the namespace; ``None`` if the verb chooses it later.
    """
    group.add_argument(
        "--seed",
        type=_seed,
        default=default,
        metavar="N",
        help="seed of all random choices (default: 0)",
    )


def _seed(text: str) -> int:
    """Convert a seed; generators of random numbers take none below zero."""
    if not (text.isascii() and text.isdecimal() and len(text) < _SEED_DIGITS):
        raise argparse.ArgumentTypeError(f"takes a whole number from 0 on, not {text[:60]!r}")
    return int(text)


_SEED_DIGITS = 19
"""Digits of 2**63, the first number that a store cannot hold."""


def add_metric_options(group: Group) -> None:
    """Add the options that define metrics, the objective and requirements."""
    group.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME[=REGEX]|NAME@p99=REGEX",
        help="also measure this metric; with REGEX read it from the output: the last match, or"
        " @pN, @mean, @median, @max, @min, @sum of all matches of a launch; repeatable",
    )
    group.add_argument(
        "--metric-file",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="read the metric from a file that each launch writes; repeatable (default: from the"
        " output)",
    )
    group.add_argument(
        "--progress",
        action="append",
        default=[],
        metavar="NAME[=REGEX]|FORMAT[.KEY]",
        help="also measure this metric, which the program reports while it runs: REGEX is applied"
        " to each line as it is printed, or as it is appended to --progress-file; NAME alone is a"
        " key of that file or of the progress channel; FORMAT is tqdm, keras, lightning,"
        " huggingface, lammps or gromacs,"
        " whose speed is the metric steps_per_s, and KEY another value of that format; the first"
        " metric is the default objective; repeatable",
    )
    group.add_argument(
        "--progress-file",
        metavar="FILE",
        help="file that the program appends its values to: text for REGEX or FORMAT, CSV, JSON"
        " lines, or a TensorBoard event file or folder (default: the output, and for NAME alone the"
        " progress channel)",
    )
    group.add_argument(
        "--until",
        metavar="end|auto|steady:N",
        help="end each launch after N steady steps, or, with auto, as soon as the study gains more"
        " from the next launch (default: end, that is, let the program end)",
    )
    group.add_argument(
        "--unit",
        action="append",
        default=[],
        metavar="NAME=UNIT",
        help="unit of a metric; repeatable (default: derived from REGEX, if it captures a unit)",
    )
    group.add_argument(
        "--goal",
        action="append",
        default=[],
        metavar="[NAME=]lower|higher",
        help="direction in which a metric improves; repeatable (default: derived from its name and"
        " unit)",
    )
    group.add_argument(
        "--metric-as-is",
        action="append",
        default=[],
        metavar="NAME",
        help="accept matches of REGEX that look like a part of a longer number; repeatable",
    )
    group.add_argument(
        "--combine",
        action="append",
        default=[],
        metavar="NAME=sum|mean|max|min",
        help="how to combine the values of several instances; repeatable (default: sum if higher is"
        " better, else max)",
    )
    group.add_argument(
        "--objective",
        action="append",
        default=[],
        metavar="NAME[:median|spread]",
        help="metric to decide by: its mean, median or spread; repeatable in tune, which takes up"
        " to three metrics and returns their Pareto front (default: mean of wall_s)",
    )
    group.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="'METRIC<=X'",
        help="requirement to meet: 'peak_anon_bytes<=200MiB', 'fps>=30', 'wall_s:p90<=2s';"
        " repeatable",
    )


def add_launch_options(group: Group) -> None:
    """Add the options that describe how each launch of a workload runs."""
    group.add_argument(
        "--input", metavar="FILE", help="standard input of the program (default: /dev/null)"
    )
    group.add_argument(
        "--shell",
        action="store_true",
        help="take the command as one text for bash with pipefail (without bash: for sh)",
    )
    group.add_argument(
        "--check",
        metavar="REGEX",
        help="the output of a successful launch matches this expression",
    )
    group.add_argument("--timeout", metavar="TIME", help="stop a launch after this time")
    group.add_argument(
        "--grace",
        metavar="TIME",
        help="time between the request to end and SIGKILL (default: 10s)",
    )
    group.add_argument(
        "--limit",
        metavar="NAME=N,...",
        help="resource limits of a launch: mem=2G, procs=64, cpu=30s, output=1G",
    )
    for name, text in HOOKS.items():
        group.add_argument(f"--{name}", action=SingleCommand, metavar="'COMMAND'", help=text)


def add_measurement_options(parser: argparse.ArgumentParser) -> None:
    """Add the groups of options that tune, measure and compare share."""
    metrics = parser.add_argument_group(
        "metrics and objective",
        "Metrics without REGEX: wall_s, user_s, sys_s, peak_anon_bytes, energy_j, instructions,"
        " cycles, task_clock_s, context_switches, page_faults, cpu_migrations.",
    )
    add_metric_options(metrics)
    metrics.add_argument(
        "--outputs-may-differ",
        action="store_true",
        help="accept arms whose outputs differ (default: such a claim remains unproven; tune may"
        " count these launches as failed)",
    )
    add_launch_options(parser.add_argument_group("launches"))
    add_build_options(parser.add_argument_group("build"))
    environment = parser.add_argument_group("environment and observation")
    add_reservation_options(environment)
    add_disturbance_option(environment)
    add_observe_option(environment, DEFAULT_OBSERVATIONS)
    add_export_option(parser.add_argument_group("results"))
    add_boot_options(parser.add_argument_group("settings of boot and firmware"))


def add_boot_options(group: Group, *, verify: bool = True) -> None:
    """Add the options of studies that continue after a reboot.

    Args:
        group: group to extend.
        verify: add ``--verify`` as well.
    """
    group.add_argument(
        "--reboot-command",
        metavar="'COMMAND'",
        help="command to run when the study needs another boot: it applies ASSAY_BOOT_ADD and"
        " reboots (default: print the steps and pause)",
    )
    group.add_argument(
        "--confirm",
        action="append",
        default=[],
        metavar="firmware.NAME=VALUE",
        help="state the current value of a firmware setting that assay cannot read; repeatable",
    )
    if verify:
        group.add_argument(
            "--verify",
            action="append",
            default=[],
            metavar="firmware.NAME=FILE|!COMMAND",
            help="read the value of a firmware setting from a file or the output of a command;"
            " repeatable",
        )


def add_build_options(group: Group) -> None:
    """Add the options that build the program of each configuration."""
    group.add_argument(
        "--build",
        action=SingleCommand,
        metavar="'COMMAND'",
        help="build the program into {build}, once for each value of build.NAME; not timed",
    )
    group.add_argument(
        "--build-input",
        action="append",
        default=[],
        metavar="PATH",
        help="source file or folder of the build; repeatable (default: files named in the command,"
        " and sources in this folder)",
    )
    group.add_argument(
        "--build-timeout",
        metavar="TIME",
        help="stop a build after this time (default: ten times the longest so far, at least 1m)",
    )


def add_warmup_option(group: Group, default: str) -> None:
    """Add the number of launches whose times are not used."""
    group.add_argument(
        "--warmup",
        metavar="N",
        help=f"warm-up launches before the ones that count (default: {default})",
    )


def add_configuration_options(parser: argparse.ArgumentParser) -> None:
    """Add the configuration of verbs that run a single one: words, or values of ``--with``."""
    parser.add_argument(
        "settings",
        nargs="*",
        metavar="SETTING=VALUE",
        help="setting of the launch, such as threads=4 or malloc=jemalloc (default: the system's"
        " own); `assay settings list` names all",
    )
    parser.add_argument_group("configuration").add_argument(
        "--with",
        action="extend",
        nargs="+",
        default=[],
        dest="assignments",
        metavar="SETTING=VALUE",
        help="same as SETTING=VALUE without --with; repeatable",
    )
