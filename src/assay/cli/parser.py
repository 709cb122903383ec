"""The parser of every verb. Imports nothing but argparse, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from assay import __version__
from assay.cli.options import (
    claiming,
    configured,
    disturbed_above,
    export,
    measuring,
    spending,
    warmup,
)
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

MINUS = re.compile(r"-[.\d]")
"""A value below zero, with a unit perhaps."""

WITHOUT_VALUE = re.compile(r"argument (\S+): expected (?:one|at least one) argument")
"""What argparse says of an option without a value."""

NO_INTEGER = re.compile(r"argument (\S+): invalid int value: (.*)")
"""What it says of one whose value is to be a number."""

EXAMPLES = {
    "--budget": "10m",
    "--runs": "100",
    "--seed": "7",
    "--margin": "1%",
    "--precision": "1%",
    "--timeout": "30s",
    "--limit": "mem=2G",
    "--with": "threads=2",
}
"""Of values that never begin with a minus sign and that a metavar does not explain."""


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


def _arguments(own: list[str]) -> argparse.Namespace:
    """Parse; words and options of a verb may stand in any order."""
    parser = build()
    verbs = _verbs_of(parser)
    if not own or own[0] not in verbs:
        later = next((word for word in own if word in verbs), None)
        if own and own[0].startswith("-") and own[0] not in parser._option_string_actions and later:
            parser.error(f"{own[0]} stands behind the verb: assay {later} {own[0]}")
        return parser.parse_args(own)  # help, version, or what is said of a wrong verb
    of_verb = verbs[own[0]]
    arguments, rest = of_verb.parse_known_intermixed_args(_joined(own[1:], of_verb))
    if rest:
        _refuse(of_verb, rest)
    _demand_values(of_verb, arguments)
    arguments.verb = own[0]
    return arguments


def _verbs_of(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """The parser of each verb; argparse keeps them among the choices of the subparsers' action."""
    verbs = next(a for a in parser._actions if isinstance(a, _Verbs))
    found: Mapping[str, argparse.ArgumentParser] = verbs.choices
    return found


def _joined(own: list[str], of_verb: argparse.ArgumentParser) -> list[str]:
    """``--budget -5s`` as ``--budget=-5s``, so that the value is judged as any other.

    argparse takes a word that begins with a minus sign for an option, unless it is a plain number.
    """
    joined: list[str] = []
    for word in own:
        action = of_verb._option_string_actions.get(joined[-1]) if joined else None
        takes_one = action is not None and action.nargs is None
        if takes_one and joined[-1].startswith("--") and MINUS.match(word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _demand_values(of_verb: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Refuse options whose value is empty: a variable of the shell that is not set, mostly."""
    for action in of_verb._actions:
        option = action.option_strings[-1] if action.option_strings else ""
        given = getattr(arguments, action.dest, None)
        texts = given if isinstance(given, list) else [given]
        if option not in ("", "--arm") and "" in texts:
            of_verb.error(f"argument {option}: expected one argument")


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


class _Parser(argparse.ArgumentParser):
    """Says of a wrong word what it may be, in the words of the other messages."""

    def error(self, message: str) -> NoReturn:
        """See ``argparse.ArgumentParser.error``."""
        if match := WITHOUT_VALUE.fullmatch(message):
            option = match[1].split("/")[-1]
            example = EXAMPLES.get(option)
            metavar = self._option_string_actions[option].metavar
            message = f"{option} needs a value, as in {option} {example or metavar}" + (
                "" if example else f"; {option}=-X where it begins with a minus sign"
            )
        elif match := NO_INTEGER.fullmatch(message):
            message = f"{match[1]} takes a whole number, not {match[2]}"
        super().error(message)

    def _check_value(self, action: argparse.Action, value: str) -> None:
        if action.choices is None or value in action.choices:
            return
        near = nearest(value, tuple(action.choices))
        raise argparse.ArgumentError(
            action if action.option_strings else None,
            f"{value!r} is none of {', '.join(action.choices)}"
            + (f"; did you mean {near}?" if near else ""),
        )


def _split(words: Sequence[str]) -> tuple[list[str], tuple[str, ...], bool]:
    """What belongs to assay, and what follows the first ``--``."""
    if "--" not in words:
        return list(words), (), False
    at = list(words).index("--")
    return list(words[:at]), tuple(words[at + 1 :]), True


def build() -> argparse.ArgumentParser:
    """The parser."""
    parser: argparse.ArgumentParser = _Parser(
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
    _sweep(verbs)
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
    measuring(parser)
    claiming(parser)
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
    configured(parser)
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
    configured(parser)
    parser.add_argument(
        "--precision",
        metavar="SHARE",
        help="half the interval over the mean at which to stop (1%%)",
    )
    warmup(parser, "until they get no faster")
    measuring(parser)


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
    warmup(parser, "1 of each arm")
    parser.add_argument(
        "--fail-if",
        metavar="VERDICT,...",
        help="exit 1 on any of: slower, faster, same, unclear, failed (launches that failed)",
    )
    measuring(parser)
    claiming(parser)


def _sweep(verbs: _Verbs[argparse.ArgumentParser]) -> None:
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
    group.add_argument("--seed", type=int, metavar="N", help="of every random choice")
    disturbed_above(group)
    claiming(parser)
    export(parser.add_argument_group("results"))


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
        "what was measured: list, show, resume, export, verify, calibrate, delete",
        "assay study list | show|resume|export|delete STUDY | verify FILE | calibrate [-- COMMAND]",
    )
    parser.add_argument(
        "action",
        choices=("list", "show", "resume", "export", "verify", "calibrate", "delete"),
    )
    parser.add_argument(
        "study",
        nargs="?",
        metavar="STUDY",
        help="an id, its beginning, or last; to verify, the file of a bundle",
    )
    parser.add_argument("file", nargs="?", help=argparse.SUPPRESS)  # of export --json FILE
    parser.add_argument(
        "--new-stratum", action="store_true", help="resume: begin anew beside what changed"
    )
    group = parser.add_argument_group("resume")
    spending(group, ", beyond what was spent")
    export(group)
    group = parser.add_argument_group(
        "calibrate", "also --budget (3m) and --runs; without a command a load that assay brings"
    )
    group.add_argument("--seed", type=int, metavar="N", help="of every random choice (0)")
    disturbed_above(group)
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


def _report(verbs: _Verbs[argparse.ArgumentParser]) -> None:
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
        help="the page (report.html); - is standard output",
    )


def _doctor(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    _verb(verbs, "doctor", "what this host grants to you, in one screen", "assay doctor")
