"""The parser of every verb. Imports nothing but argparse, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from assay import __version__
from assay.errors import nearest

DESCRIPTION = "Finds the system configuration in which a program runs best, and proves the gain."
EPILOG = """\
examples:
  assay tune -- python3 simulate.py            find the best settings for a program
  assay tune threads=1,2,4 malloc=glibc,jemalloc --budget 5m -- ./app
  assay compare 'xz -T1 -k f' 'xz -T2 -k f'    which of two commands is faster
  assay run --from last -- ./app               run it as the last study recommends
  assay report last -o report.html             one page with everything
"""


@dataclass(frozen=True)
class Parsed:
    """Arguments, and the words after ``--``."""

    arguments: argparse.Namespace
    command: tuple[str, ...]
    separated: bool


def parse(words: Sequence[str]) -> Parsed:
    """Parse a command line (without the program's name); exits as argparse does on bad usage."""
    own, command, separated = _split(words)
    return Parsed(_arguments(own), command, separated)


LISTED = {"tune": "settings", "compare": "commands"}
"""Verbs whose positional words may stand between options, and where they are kept."""


def _arguments(own: list[str]) -> argparse.Namespace:
    """Parse, taking words that follow an option as well: argparse itself takes one run of them."""
    parser = build()
    arguments, rest = parser.parse_known_args(own)
    kept = LISTED.get(arguments.verb)
    if kept is not None and not any(word.startswith("-") for word in rest):
        getattr(arguments, kept).extend(rest)
    elif rest:
        _refuse(_of_verb(parser, arguments.verb), rest)
    return arguments


def _of_verb(parser: argparse.ArgumentParser, verb: str) -> argparse.ArgumentParser:
    """The parser of one verb; argparse keeps it among the choices of the subparsers' action."""
    verbs = next(a for a in parser._actions if isinstance(a, _Verbs))
    found: argparse.ArgumentParser = verbs.choices[verb]
    return found


def _refuse(parser: argparse.ArgumentParser, rest: list[str]) -> NoReturn:
    """End on words that a verb does not take, with the option that was perhaps meant."""
    options = [word.split("=")[0] for word in rest if word.startswith("-")]
    if not options:
        parser.error(f"{rest[0]!r} is one word too many; the command stands after --")
    near = nearest(options[0], tuple(parser._option_string_actions))
    parser.error(
        f"there is no option {options[0]}"
        + (f"; did you mean {near}?" if near else "")
        + " (options of your own command stand after --)"
    )


def _split(words: Sequence[str]) -> tuple[list[str], tuple[str, ...], bool]:
    """What belongs to assay, and what follows the first ``--``."""
    if "--" not in words:
        return list(words), (), False
    at = list(words).index("--")
    return list(words[:at]), tuple(words[at + 1 :]), True


def build() -> argparse.ArgumentParser:
    """The parser."""
    parser = argparse.ArgumentParser(
        prog="assay",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"assay {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _tune(verbs)
    _run(verbs)
    _measure(verbs)
    _compare(verbs)
    _settings(verbs)
    _study(verbs)
    _report(verbs)
    _doctor(verbs)
    return parser


_Verbs = argparse._SubParsersAction  # argparse names no public type for it


def _verb(
    verbs: _Verbs[argparse.ArgumentParser], name: str, summary: str, usage: str, json: bool = True
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
    return parser


def _spending(group: argparse._ArgumentGroup, usual: str) -> None:
    """What may be spent."""
    group.add_argument("--budget", metavar="TIME", help=f"time to spend, as 90s, 10m, 2h{usual}")
    group.add_argument("--runs", metavar="N", help="launches to spend")


def _claiming(parser: argparse.ArgumentParser) -> None:
    """The options of the verbs that hold one thing against another."""
    group = parser.add_argument_group("deciding")
    group.add_argument("--margin", metavar="SHARE", help="differences below it are none (1%%)")
    group.add_argument(
        "--null", action="store_true", help="run the default twice: shows the noise floor"
    )


def _export(group: argparse._ArgumentGroup) -> None:
    """Where else the answer goes."""
    group.add_argument(
        "--export",
        action="append",
        default=[],
        metavar="FILE",
        help="write the answer to FILE.md, FILE.csv or FILE.json as well",
    )


def _measuring(parser: argparse.ArgumentParser) -> None:
    """The options that tune, measure and compare share."""
    group = parser.add_argument_group("measuring")
    _spending(group, " (10m)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of every random choice")
    group.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME[=REGEX]",
        help="a figure to read: wall_s, user_s, sys_s, peak_anon_bytes, or from the output",
    )
    group.add_argument(
        "--unit", action="append", default=[], metavar="NAME=UNIT", help="of a figure of yours"
    )
    group.add_argument(
        "--goal", action="append", default=[], metavar="[NAME=]lower|higher", help="which is better"
    )
    group.add_argument("--objective", metavar="NAME", help="the metric to decide by (wall_s)")
    group.add_argument("--check", metavar="REGEX", help="must be in the output of a good launch")
    group.add_argument("--timeout", metavar="TIME", help="stop a launch after this")
    group.add_argument(
        "--limit", metavar="WHAT=N,...", help="of a launch: mem=2G, procs=64, cpu=30s, output=1G"
    )
    group.add_argument("--input", metavar="FILE", help="standard input of the program (/dev/null)")
    group.add_argument("--shell", action="store_true", help="the command is one text for /bin/sh")
    _export(group)


def _configured(parser: argparse.ArgumentParser) -> None:
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


def _tune(verbs: _Verbs[argparse.ArgumentParser]) -> None:
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
    _measuring(parser)
    _claiming(parser)
    group = parser.add_argument_group("search")
    group.add_argument("--space", metavar="FILE.toml", help="domains, conditions, constraints")
    group.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="EXPR",
        help="as 'threads * arg.n <= 8'",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="say what would be tried, run nothing"
    )


def _run(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "run",
        "run a command once under a configuration",
        "assay run [--with SETTING=VALUE ...] [options] -- COMMAND [ARG ...] | --from STUDY",
        json=False,
    )
    _configured(parser)
    parser.add_argument(
        "--from",
        dest="study",
        metavar="STUDY",
        help="as a study recommends; without a command the study's own",
    )
    parser.add_argument(
        "--explain", action="store_true", help="print the plan and the script; run nothing"
    )
    parser.add_argument("--record", metavar="FILE", help="write what was measured, as JSON")


def _measure(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "measure",
        "repeat one configuration until it is precise enough",
        "assay measure [--with SETTING=VALUE ...] [options] -- COMMAND [ARG ...]",
    )
    _configured(parser)
    parser.add_argument(
        "--precision",
        metavar="SHARE",
        help="half the interval over the mean at which to stop (1%%)",
    )
    _measuring(parser)


def _compare(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "compare",
        "compare commands or configurations, interleaved",
        "assay compare 'COMMAND A' 'COMMAND B' ... | --arm 'a=1 b=2' --arm '...' -- COMMAND",
    )
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="the first is the baseline")
    parser.add_argument(
        "--arm", action="append", default=[], metavar="'S=V ...'", help="a configuration"
    )
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME", help="of each arm, in order"
    )
    parser.add_argument(
        "--fail-if",
        metavar="VERDICT,...",
        help="exit 1 on any of: slower, faster, same, unclear, failed (launches that failed)",
    )
    _measuring(parser)
    _claiming(parser)


def _settings(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs, "settings", "every setting and what it does here", "assay settings list|show NAME"
    )
    parser.add_argument("action", choices=("list", "show"), nargs="?", default="list")
    parser.add_argument("name", nargs="?", metavar="NAME")


def _study(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "study",
        "what was measured: list, show, resume, delete",
        "assay study list|show|resume|delete [STUDY]",
    )
    parser.add_argument("action", choices=("list", "show", "resume", "delete"))
    parser.add_argument("study", nargs="?", metavar="STUDY", help="an id, its beginning, or last")
    parser.add_argument(
        "--new-stratum", action="store_true", help="resume: begin anew beside what changed"
    )
    group = parser.add_argument_group("resume")
    _spending(group, ", beyond what was spent")
    _export(group)


def _report(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    parser = _verb(
        verbs,
        "report",
        "one self-contained page of a study",
        "assay report STUDY [-o report.html]",
    )
    parser.add_argument("study", metavar="STUDY", help="an id, its beginning, or last")
    parser.add_argument(
        "-o", "--output", default="report.html", metavar="FILE", help="the page (report.html)"
    )


def _doctor(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    _verb(verbs, "doctor", "what this host grants to you, in one screen", "assay doctor")
