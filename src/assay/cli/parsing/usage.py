"""Usage: the argument parser of a verb, with its help screens and usage errors."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NoReturn

from assay.errors import nearest

WITHOUT_VALUE = re.compile(r"argument (\S+): expected (?:one|at least one) argument")
"""Message of argparse on an option without a value."""

INVALID_VALUE = re.compile(r"argument (\S+): (takes .*)")
"""Message of a converter of values (assay.cli.parsing.options)."""

MISSING = re.compile(r"the following arguments are required: (\w+)\b.*")
"""Message of argparse on a missing word; after it, argparse also lists optional words."""

EXAMPLES = {
    "--budget": "10m",
    "--runs": "100",
    "--seed": "7",
    "--margin": "1%",
    "--precision": "1%",
    "--timeout": "30s",
    "--grace": "30s",
    "--build-timeout": "5m",
    "--limit": "mem=2G",
    "--fidelity": "arg.steps=50..2000:log",
    "--with": "threads=2",
    "--cores": "4",
    "--mem": "8G",
    "--pages": "2M",
    "--gpus": "0-1",
    "--idle": "shallow",
}
"""Example values of options whose placeholder explains little; none begins with a minus sign."""

VERBS_OF_OPTIONS = {"--fidelity": "tune"}
"""Verbs of options that users also expect of other verbs."""

ALL = "all"
"""Value of ``--help`` that shows every option."""

STDOUT = 1
DEFAULT_COLUMNS = 80
MARGIN = 2
"""Columns at the end of a line that argparse leaves free."""


class HelpAction(argparse.Action):
    """Action of ``--help``, which prints the most used options, or all with ``--help all``."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(
            option_strings,
            argparse.SUPPRESS,
            nargs="?",
            default=argparse.SUPPRESS,
            choices=(ALL,),
            metavar=ALL,
            help="show the most used options; with 'all', every option",
        )

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> NoReturn:
        """See ``argparse.Action``."""
        brief = isinstance(parser, Parser) and values != ALL
        text = parser.format_brief() if brief else parser.format_help()  # type: ignore[attr-defined]
        parser._print_message(text, sys.stdout)
        parser.exit()


class GivenOnce(argparse.Action):
    """Action of an option whose repetition would silently replace the first value."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """See ``argparse.Action``.

        Raises:
            argparse.ArgumentError: the option was given before.
        """
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(
                self, f"takes one value and is given twice; {self.remedy()}"
            )
        setattr(namespace, self.dest, values)

    def remedy(self) -> str:
        """Return the next step after a repetition."""
        return "leave one of them out"


class ListGivenOnce(GivenOnce):
    """The same of an option that takes a list of values."""

    def remedy(self) -> str:
        """See ``GivenOnce``."""
        option = self.option_strings[-1]
        example = EXAMPLES.get(option, self.metavar)
        return f"{super().remedy()}, and write its values together, as in {option} {example}"


class HelpFormatter(argparse.HelpFormatter):
    """Formatter that wraps paragraphs, and keeps the lines of texts that have several."""

    def _metavar_formatter(
        self, action: argparse.Action, default_metavar: str
    ) -> Callable[[int], tuple[str, ...]]:
        if action.metavar is None and action.choices is not None:
            choices = "|".join(map(str, action.choices))
            return lambda size: (choices,) * size
        return super()._metavar_formatter(action, default_metavar)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """Parser of a verb: has two help screens, and names alternatives in usage errors.

    argparse would ask shutil for the width of help with the first option that is added. Loading
    shutil takes 3 ms, so the width is determined here.

    Attributes:
        sections: texts below the options by title, such as the actions of a verb or examples.
        most_used: option strings of the first help screen; all options if empty.
    """

    def __init__(self, **options: Any) -> None:
        formatter = partial(HelpFormatter, width=columns() - MARGIN)
        super().__init__(formatter_class=formatter, add_help=False, **options)
        self._positionals.title = "arguments"
        self.sections: dict[str, str] = {}
        self.most_used: tuple[str, ...] = ()

    def format_help(self) -> str:
        """Return the screen with every option, by group."""
        groups = [(g.title, g.description, g._group_actions) for g in self._action_groups]
        return self._screen(groups, self.sections)

    def format_brief(self) -> str:
        """Return the first screen: purpose, most used options and examples."""
        if not self.most_used:
            return self.format_help()
        words = [action for action in self._actions if not action.option_strings]
        chosen = [self._option_string_actions[option] for option in self.most_used]
        groups = [("arguments", None, words), ("most used options", None, chosen)]
        rest = f"`{self.prog} --help {ALL}` shows all options."
        return self._screen(groups, {**self.sections, "": rest})

    def _screen(
        self,
        groups: Iterable[tuple[str | None, str | None, list[argparse.Action]]],
        sections: dict[str, str],
    ) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for title, description, actions in groups:
            shown = [a for a in actions if not isinstance(a, argparse._SubParsersAction)]
            formatter.start_section(title)
            formatter.add_text(description)
            formatter.add_arguments(shown)
            formatter.end_section()
        for title, text in sections.items():
            formatter.add_text(f"{title}:\n{text.rstrip()}" if title else text)
        return formatter.format_help()

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or an error; argparse would ignore that standard output is full."""
        if file is sys.stdout:
            print(message, end="", flush=True)
        else:
            super()._print_message(message, file)

    def error(self, message: str) -> NoReturn:
        """See ``argparse.ArgumentParser.error``."""
        if match := WITHOUT_VALUE.fullmatch(message):
            option = match[1].split("/")[-1]
            example = EXAMPLES.get(option)
            metavar = self._option_string_actions[option].metavar
            message = f"{option} needs a value, as in {option} {example or metavar}" + (
                "" if example else f"; write {option}=-X if the value begins with a minus sign"
            )
        elif match := INVALID_VALUE.fullmatch(message):
            message = f"{match[1]} {match[2]}"
        elif match := MISSING.fullmatch(message):
            message = self._missing(match[1])
        super().error(message)

    def _missing(self, name: str) -> str:
        """Return the message for a missing word, by its placeholder or name."""
        action = next(one for one in self._actions if name in (one.metavar, one.dest))
        if isinstance(action, argparse._SubParsersAction):
            remedy = f"`{self.prog} --help` lists them"
        elif action.choices:
            remedy = f"write one of {', '.join(action.choices)}"
        else:
            remedy = f"write the {action.help}"
        return f"missing {action.dest}: {remedy}"

    def _check_value(self, action: argparse.Action, value: str) -> None:
        if action.choices is None or value in action.choices or isinstance(action, HelpAction):
            return
        near = nearest(value, tuple(action.choices))
        raise argparse.ArgumentError(
            action if action.option_strings else None,
            f"{value!r} is not one of {', '.join(action.choices)}"
            + (f"; did you mean {near}?" if near else ""),
        )


def columns() -> int:
    """Return the width of the terminal, as ``shutil.get_terminal_size`` determines it."""
    text = os.environ.get("COLUMNS", "")
    if text.isdecimal() and int(text) > 0:
        return int(text)
    try:
        return os.get_terminal_size(STDOUT).columns or DEFAULT_COLUMNS
    except OSError:
        return DEFAULT_COLUMNS
