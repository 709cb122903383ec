"""Command lines of the verbs that print information: settings, schema and completion."""

from __future__ import annotations

from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError


def setting_name(parsed: Parsed) -> str | None:
    """Return the setting of ``assay settings show``; ``None`` for the list of all settings.

    Raises:
        InvalidInputError: the name is missing, or not expected.
    """
    name: str | None = parsed.arguments.name
    if parsed.action == "list":
        if name:
            raise InvalidInputError(
                "`assay settings list` takes no name.", f"Write: assay settings show {name}"
            )
        return None
    if not name:
        raise InvalidInputError(
            "`assay settings show` needs a name.", "`assay settings list` lists them."
        )
    return name


def document_name(parsed: Parsed) -> str | None:
    """Return the document of ``assay schema``; ``None`` for the list of all documents."""
    name: str | None = parsed.arguments.name
    return name


def shell_name(parsed: Parsed) -> str:
    """Return the shell of ``assay completion``."""
    shell: str = parsed.arguments.shell
    return shell
