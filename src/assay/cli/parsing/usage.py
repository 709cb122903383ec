"""Usage: what is said of a wrong word, in the words of the other messages."""

from __future__ import annotations

import argparse
import os
import re
from functools import partial
from typing import Any, NoReturn

from assay.errors import nearest

WITHOUT_VALUE = re.compile(r"argument (\S+): expected (?:one|at least one) argument")
"""What argparse says of an option without a value."""

OF_VALUE = re.compile(r"argument (\S+): (takes .*)")
"""What is said by what reads a value (assay.cli.parsing.options)."""

NO_ACTION = re.compile(r"the following arguments are required: action\b.*")
"""What it says where the action of a verb is missing; it also names words that may be left out."""

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
    "--with": "threads=2",
    "--cores": "4",
    "--mem": "8G",
    "--pages": "2M",
    "--gpus": "0-1",
    "--idle": "shallow",
}
"""Of values that never begin with a minus sign and that a metavar does not explain."""


STDOUT = 1
DEFAULT_COLUMNS = 80
MARGIN = 2
"""What argparse leaves free of a line."""


class Parser(argparse.ArgumentParser):
    """Says of a wrong word what it may be, in the words of the other messages.

    It is told the width of help: argparse asks shutil for it with the first option that is added,
    which takes 3 ms to load.
    """

    def __init__(
        self,
        formatter_class: type[argparse.HelpFormatter] = argparse.HelpFormatter,
        **options: Any,
    ) -> None:
        width = columns() - MARGIN
        super().__init__(formatter_class=partial(formatter_class, width=width), **options)

    def error(self, message: str) -> NoReturn:
        """See ``argparse.ArgumentParser.error``."""
        if match := WITHOUT_VALUE.fullmatch(message):
            option = match[1].split("/")[-1]
            example = EXAMPLES.get(option)
            metavar = self._option_string_actions[option].metavar
            message = f"{option} needs a value, as in {option} {example or metavar}" + (
                "" if example else f"; {option}=-X where it begins with a minus sign"
            )
        elif match := OF_VALUE.fullmatch(message):
            message = f"{match[1]} {match[2]}"
        elif NO_ACTION.fullmatch(message):
            action = next(one for one in self._actions if one.dest == "action")
            message = f"it takes one of {', '.join(action.choices or ())}"
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


def columns() -> int:
    """Of the terminal, as ``shutil.get_terminal_size`` finds them."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    try:
        return os.get_terminal_size(STDOUT).columns or DEFAULT_COLUMNS
    except OSError:
        return DEFAULT_COLUMNS
