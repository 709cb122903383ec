"""Error on a command of a verb that launches nothing."""

from __future__ import annotations

from assay.cli.parsing.parser import Parsed, takes_command
from assay.errors import InvalidInputError


def demand_no_command(parsed: Parsed) -> None:
    """Raise on a command after ``--`` if the verb launches nothing.

    Raises:
        InvalidInputError: there are words after ``--``.
    """
    if parsed.separated and not takes_command(parsed.verb, parsed.action):
        name = " ".join(filter(None, (parsed.verb, parsed.action)))
        raise InvalidInputError(
            f"`assay {name}` launches nothing, and takes no words after --.",
            "Leave out -- and the words after it, or write them before --.",
        )
