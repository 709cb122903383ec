"""Pages that are generated when the site is built; they have no file in ``docs``."""

from __future__ import annotations

from pathlib import Path

from tools.docs import commands, exit_status, schemas, settings

DOCUMENTS = "reference/documents"
"""Folder of the pages of JSON documents."""
COMMANDS = "reference/commands"
"""Folder of the pages of verbs."""


def pages(docs: Path) -> dict[str, str]:
    """Return the Markdown of each generated page by its path below ``docs``."""
    found = {
        "reference/all-settings.md": settings.page(docs),
        "reference/json-documents.md": schemas.index(),
    }
    for name in schemas.DOCUMENTS:
        found[f"{DOCUMENTS}/{name}.md"] = schemas.page(name)
    for command in commands.commands():
        table = exit_status.table(command.name)
        found[f"{COMMANDS}/{command.name}.md"] = commands.page(
            command, table, schemas.keys(command.name)
        )
    return found
