"""Parsing a command line. Imports nothing but argparse, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from assay.cli.parsing.grammar import VERBS, Verbs, build
from assay.cli.parsing.usage import EXAMPLES
from assay.errors import nearest

MINUS = re.compile(r"-[.\d]")
"""A value below zero, with a unit perhaps."""


class Parsed(NamedTuple):
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
    if not own or own[0] not in VERBS:
        parser = build()
        later = next((word for word in own if word in VERBS), None)
        if own and own[0].startswith("-") and own[0] not in parser._option_string_actions and later:
            parser.error(f"{own[0]} stands behind the verb: assay {later} {own[0]}")
        return parser.parse_args(own)  # help, version, or what is said of a wrong verb
    of_verb = verb_parsers(build(own[0]))[own[0]]
    arguments, rest = of_verb.parse_known_intermixed_args(_joined(own[1:], of_verb))
    if rest:
        _refuse(of_verb, rest)
    _demand_values(of_verb, arguments)
    arguments.verb = own[0]
    arguments.helper = None  # see assay.cli.process.privileges
    return arguments


def verb_parsers(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Return the parser of each verb.

    argparse keeps them among the choices of the action of the subparsers.
    """
    verbs = next(a for a in parser._actions if isinstance(a, Verbs))
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


_ALIKE = {"--dry-run": "--explain", "--explain": "--dry-run"}
"""What verbs that change the machine call a look ahead, and what verbs that launch call it."""


def _refuse(parser: argparse.ArgumentParser, rest: list[str]) -> NoReturn:
    """End on words that a verb does not take, with the option that was perhaps meant."""
    options = [word.split("=")[0] for word in rest if word.startswith("-")]
    if not options and "=" in rest[0] and "--with" in parser._option_string_actions:
        parser.error(f"{rest[0]!r} is one word too many; a setting stands behind --with")
    if not options:
        parser.error(f"{rest[0]!r} is one word too many; the command stands after --")
    known = parser._option_string_actions
    meant = _ALIKE.get(options[0])
    near = meant if meant in known else nearest(options[0], tuple(known))
    if options[0] in EXAMPLES:
        near = None  # an option of other verbs, and no slip
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
