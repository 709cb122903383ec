"""The groups of options that several verbs share. Imports nothing but argparse, as the parser."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

HOOKS = {
    "setup": "once before the launches",
    "prepare": "before each launch",
    "cleanup": "once after the launches",
    "stop": "to end a launch, in place of SIGTERM",
}
"""Options that take a command beside the workload, and when it runs."""


class SingleCommand(argparse.Action):
    """Of options that take a command: a second one would silently take the place of the first.

    Other single values keep the habit of command lines that the last one counts, so that a wrapper
    can be overruled.
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


def spending(group: argparse._ArgumentGroup, usual: str) -> None:
    """What may be spent."""
    group.add_argument("--budget", metavar="TIME", help=f"time to spend, as 90s, 10m, 2h{usual}")
    group.add_argument("--runs", metavar="N", help="launches to spend")


def claiming(parser: argparse.ArgumentParser) -> None:
    """The options of the verbs that hold one thing against another."""
    group = parser.add_argument_group("deciding")
    group.add_argument("--margin", metavar="SHARE", help="differences below it are none (1%%)")
    group.add_argument(
        "--null", action="store_true", help="run the default twice: shows the noise floor"
    )


def export(group: argparse._ArgumentGroup) -> None:
    """Where else the answer goes."""
    group.add_argument(
        "--export",
        action="append",
        default=[],
        metavar="FILE",
        help="write the answer to FILE.md, FILE.csv or FILE.json as well",
    )


def reserving(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Where launches run."""
    group.add_argument(
        "--reserve",
        metavar="WISH",
        help="a share of a partition for what is launched: cpus=2,mem=4G, cores=1/2, list=2-3, all",
    )
    group.add_argument("--partition", metavar="NAME", help="of which (the only one)")


USUAL_OBSERVATIONS = "memory,scheduling, unless study calibrate --overhead shows them too costly"
"""Default of ``--observe`` in studies, as the help states it."""


def observing(group: argparse._ArgumentGroup | argparse.ArgumentParser, usual: str) -> None:
    """Add the option that chooses observations.

    Args:
        group: takes it.
        usual: the default, as the help states it.
    """
    group.add_argument(
        "--observe",
        metavar="all|none|NAME,...",
        help="observations of the launches that count: counters, memory, scheduling, readback"
        f" (default: {usual})",
    )


def disturbed_above(group: argparse._ArgumentGroup) -> None:
    """What others may do meanwhile."""
    group.add_argument(
        "--disturbed-above",
        metavar="SHARE|never",
        help="share of the CPUs above which others disturb a block (10%%; also"
        " ASSAY_DISTURBED_ABOVE)",
    )


def seed(group: argparse._ArgumentGroup, usual: int | None) -> None:
    """What every random choice follows from."""
    told = " (0)" if usual is None else ""
    group.add_argument(
        "--seed", type=_seed, default=usual, metavar="N", help=f"of every random choice{told}"
    )


def _seed(text: str) -> int:
    """A seed: generators of random numbers take none below zero."""
    if not (text.isascii() and text.isdecimal() and len(text) < _SEED_DIGITS):
        raise argparse.ArgumentTypeError(f"takes a whole number from 0 on, not {text[:60]!r}")
    return int(text)


_SEED_DIGITS = 19
"""Seeds of so many digits are no number that a store holds: 2**63 has nineteen."""


def measuring(parser: argparse.ArgumentParser) -> None:
    """The options that tune, measure and compare share."""
    group = parser.add_argument_group("measuring")
    spending(group, " (10m)")
    seed(group, 0)
    group.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME[=REGEX]|NAME@p99=REGEX",
        help="a figure to read: wall_s, user_s, sys_s, peak_anon_bytes, energy_j, instructions,"
        " cycles, task_clock_s, context_switches, page_faults, cpu_migrations, or from the output:"
        " its last match, or @pN, @mean, @median, @max, @min, @sum of all matches of a launch",
    )
    group.add_argument(
        "--metric-file",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a file that each launch writes, to read a figure of yours from (the output)",
    )
    group.add_argument(
        "--unit", action="append", default=[], metavar="NAME=UNIT", help="of a figure of yours"
    )
    group.add_argument(
        "--goal", action="append", default=[], metavar="[NAME=]lower|higher", help="which is better"
    )
    group.add_argument(
        "--metric-as-is",
        action="append",
        default=[],
        metavar="NAME",
        help="take a figure of yours even where it looks like a part of a number",
    )
    group.add_argument(
        "--outputs-may-differ",
        action="store_true",
        help="give a verdict on arms that write different output (default: unproven; tune may "
        "take them as failed)",
    )
    group.add_argument(
        "--combine",
        action="append",
        default=[],
        metavar="NAME=sum|mean|max|min",
        help="what is made of the figures of several instances (sum where high is good, else max)",
    )
    group.add_argument(
        "--objective",
        action="append",
        default=[],
        metavar="NAME[:median|spread]",
        help="the metric to decide by (wall_s), by its mean unless said otherwise; tune weighs two"
        " or three against each other",
    )
    group.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="'METRIC<=X'",
        help="what is to be kept beside, as 'peak_anon_bytes<=200MiB', 'fps>=30', 'wall_s:p90<=2s'",
    )
    disturbed_above(group)
    observing(group, USUAL_OBSERVATIONS)
    reserving(group)
    group.add_argument("--check", metavar="REGEX", help="must be in the output of a good launch")
    group.add_argument("--timeout", metavar="TIME", help="stop a launch after this")
    group.add_argument(
        "--grace",
        metavar="TIME",
        help="what a program has to end in once it is asked to, before it is killed (10s)",
    )
    group.add_argument(
        "--limit", metavar="WHAT=N,...", help="of a launch: mem=2G, procs=64, cpu=30s, output=1G"
    )
    for name, when in HOOKS.items():
        group.add_argument(
            f"--{name}", action=SingleCommand, metavar="'COMMAND'", help=f"run {when}, not timed"
        )
    building(group)
    group.add_argument("--input", metavar="FILE", help="standard input of the program (/dev/null)")
    group.add_argument(
        "--shell",
        action="store_true",
        help="the command is one text for bash with pipefail (sh without bash)",
    )
    export(group)
    booting(parser.add_argument_group("settings of the boot and the firmware"))


def booting(group: argparse._ArgumentGroup, *, verify: bool = True) -> None:
    """What a study does that goes from boot to boot."""
    group.add_argument(
        "--reboot-command",
        metavar="'COMMAND'",
        help="run this where the study waits for another boot: it sets ASSAY_BOOT_ADD and boots",
    )
    group.add_argument(
        "--confirm",
        action="append",
        default=[],
        metavar="firmware.NAME=VALUE",
        help="say what the firmware is set to, where nothing shows it",
    )
    if verify:
        group.add_argument(
            "--verify",
            action="append",
            default=[],
            metavar="firmware.NAME=FILE|!COMMAND",
            help="what tells it instead: the text of a file, or the output of a command",
        )


def building(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """What makes the program of each configuration."""
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
        help="what it is built from (what the command names, sources in this folder)",
    )
    group.add_argument(
        "--build-timeout",
        metavar="TIME",
        help="end a build after this (ten times the longest before, at least a minute)",
    )


def warmup(parser: argparse.ArgumentParser, usual: str) -> None:
    """Launches whose time is not used."""
    parser.add_argument("--warmup", metavar="N", help=f"launches before those that count ({usual})")


def configured(parser: argparse.ArgumentParser) -> None:
    """The configuration of the verbs that run a single one."""
    parser.add_argument(
        "--with",
        action="extend",
        nargs="+",
        default=[],
        dest="assignments",
        metavar="SETTING=VALUE",
        help="a setting of the launch; several may follow",
    )
