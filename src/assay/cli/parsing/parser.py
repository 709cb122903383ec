"""Parsing a command line. Imports nothing but argparse, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from assay.cli.parsing.grammar import VERBS, build
from assay.cli.parsing.usage import EXAMPLES, VERBS_OF_OPTIONS
from assay.cli.parsing.verb import Verbs
from assay.errors import nearest

if TYPE_CHECKING:
    from assay.root_helper.helper import RootHelper

LAUNCHING = frozenset({"run", "measure", "compare", "sweep", "tune"})
"""Verbs that take a command after ``--``."""
LAUNCHING_ACTIONS = frozenset({("study", "calibrate"), ("tier", "run"), ("tier", "predict")})
"""Actions of other verbs that take a command after ``--``."""
MINUS = re.compile(r"-[.\d]")
"""Beginning of a negative value, with or without a unit."""


class Parsed(NamedTuple):
    """Parsed command line.

    Only the modules of ``assay.cli.arguments`` read ``arguments``.

    Attributes:
        arguments: values of the options and words of assay.
        command: words after ``--``.
        separated: the line contains ``--``.
        helper: process with root privileges, if this one has given them up
            (``assay.cli.process.privileges``).
    """

    arguments: argparse.Namespace
    command: tuple[str, ...]
    separated: bool
    helper: RootHelper | None = None

    @property
    def verb(self) -> str:
        """Return the verb."""
        verb: str = self.arguments.verb
        return verb

    @property
    def action(self) -> str:
        """Return the action of the verb; empty if the verb has none."""
        action: str = getattr(self.arguments, "action", "")
        return action


def takes_command(verb: str, action: str) -> bool:
    """Return whether a command may follow ``--``."""
    return verb in LAUNCHING or (verb, action) in LAUNCHING_ACTIONS


def parse(words: Sequence[str]) -> Parsed:
    """Parse a command line (without the program's name); exits as argparse does on bad usage."""
    own, command, separated = _split(words)
    return Parsed(_arguments(own), command, separated)


def _arguments(own: list[str]) -> argparse.Namespace:
    """Parse the words of assay; those of a verb and its options may be in any order."""
    if not own or own[0] not in VERBS:
        parser = build()
        later = next((word for word in own if word in VERBS), None)
        if own and own[0].startswith("-") and own[0] not in parser._option_string_actions and later:
            parser.error(f"write {own[0]} after the verb: assay {later} {own[0]}")
        return parser.parse_args(own)  # help, version, or an error on an unknown verb
    verb_parser = verb_parsers(build(own[0]))[own[0]]
    arguments, rest = verb_parser.parse_known_intermixed_args(_joined(own[1:], verb_parser))
    arguments.verb = own[0]
    if rest:
        _refuse(verb_parser, arguments, rest)
    _demand_values(verb_parser, arguments)
    if hasattr(arguments, "assignments"):
        _merge_assignments(verb_parser, arguments)
    return arguments


def _merge_assignments(verb_parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Add the words ``SETTING=VALUE`` to those of ``--with``; refuse other words."""
    stray = next((word for word in arguments.settings if "=" not in word), None)
    if stray is not None:
        _refuse(verb_parser, arguments, [stray])
    arguments.assignments = [*arguments.settings, *arguments.assignments]


def verb_parsers(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Return the parser of each verb.

    argparse keeps them among the choices of the action of the subparsers.
    """
    verbs = next(a for a in parser._actions if isinstance(a, Verbs))
    found: Mapping[str, argparse.ArgumentParser] = verbs.choices
    return found


def _joined(own: list[str], verb_parser: argparse.ArgumentParser) -> list[str]:
    """Join ``--budget -5s`` to ``--budget=-5s``, so that the value is checked as any other.

    argparse takes a word that begins with a minus sign for an option, unless it is a plain number.
    """
    joined: list[str] = []
    for word in own:
        action = verb_parser._option_string_actions.get(joined[-1]) if joined else None
        takes_one = action is not None and action.nargs is None
        if takes_one and joined[-1].startswith("--") and MINUS.match(word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _demand_values(verb_parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Refuse options with an empty value, mostly from an unset variable of the shell."""
    for action in verb_parser._actions:
        option = action.option_strings[-1] if action.option_strings else ""
        given = getattr(arguments, action.dest, None)
        texts = given if isinstance(given, list) else [given]
        if option not in ("", "--arm") and "" in texts:
            verb_parser.error(f"argument {option}: expected one argument")


_ALIKE = {"--dry-run": "--explain", "--explain": "--dry-run"}
"""Options with one purpose: of verbs that change the machine, and of verbs that launch."""


def _refuse(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, rest: list[str]
) -> NoReturn:
    """Exit with an error on words that a verb does not take; suggest a similar option."""
    launches = takes_command(arguments.verb, getattr(arguments, "action", ""))
    options = [word.split("=")[0] for word in rest if word.startswith("-")]
    if not options:
        hint = "; write the command after --" if launches else ""
        parser.error(f"unexpected argument {rest[0]!r}{hint}")
    known = parser._option_string_actions
    meant = _ALIKE.get(options[0])
    near = meant if meant in known else nearest(options[0], tuple(known))
    if options[0] in EXAMPLES:
        near = None  # an option of other verbs, not a misspelt one
    verb = VERBS_OF_OPTIONS.get(options[0])
    parser.error(
        f"unknown option {options[0]}"
        + (f"; it is an option of `assay {verb}`" if verb else "")
        + (f"; did you mean {near}?" if near else "")
        + (" (write options of your own command after --)" if launches else "")
    )


def _split(words: Sequence[str]) -> tuple[list[str], tuple[str, ...], bool]:
    """Split a line into the words of assay and those after the first ``--``."""
    if "--" not in words:
        return list(words), (), False
    at = list(words).index("--")
    return list(words[:at]), tuple(words[at + 1 :]), True
