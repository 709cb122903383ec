"""Usage: what is said of a wrong word, in the words of the other messages."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from assay.errors import nearest

WITHOUT_VALUE = re.compile(r"argument (\S+): expected (?:one|at least one) argument")
"""What argparse says of an option without a value."""

OF_VALUE = re.compile(r"argument (\S+): (takes .*)")
"""What is said by what reads a value (assay.cli.options)."""

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


class Parser(argparse.ArgumentParser):
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
        elif match := OF_VALUE.fullmatch(message):
            message = f"{match[1]} {match[2]}"
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
