"""Options that all verbs have, and the command of verbs that launch nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.cli.parsing.parser import takes_command
from assay.errors import InvalidInputError

if TYPE_CHECKING:
    from assay.cli.parsing.parser import Parsed
    from assay.root_helper.helper import RootHelper


class CommonOptions(NamedTuple):
    """Options that all verbs have, and the helper process of the command.

    Attributes:
        db: path or URL of the store; ``None`` for the default one.
        json: print one JSON document.
        verbose: print more details.
        quiet: print the result only.
        color: ``auto``, ``always`` or ``never``.
        as_root: run the program as root under sudo.
        helper: process with root privileges, if this process has given them up.
    """

    db: str | None
    json: bool
    verbose: bool
    quiet: bool
    color: str
    as_root: bool
    helper: RootHelper | None


def common_options(parsed: Parsed) -> CommonOptions:
    """Return the options that all verbs have."""
    arguments = parsed.arguments
    return CommonOptions(
        db=arguments.db,
        json=getattr(arguments, "json", False),
        verbose=arguments.verbose,
        quiet=arguments.quiet,
        color=arguments.color,
        as_root=arguments.as_root,
        helper=parsed.helper,
    )


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
