"""Pages that are generated when the site is built; they have no file in ``docs``."""

from __future__ import annotations

import re
from pathlib import Path

from tools.docs import commands, exit_status, schemas, settings

DOCUMENTS = "reference/documents"
"""Folder of the pages of JSON documents."""
COMMANDS = "reference/commands"
"""Folder of the pages of verbs."""
FILES = {
    "explanation/contributing.md": "CONTRIBUTING.md",
    "explanation/security.md": "SECURITY.md",
}
"""Files at the top of the repository that are pages of the site as well."""


def pages(docs: Path) -> dict[str, str]:
    """Return the Markdown of each generated page by its path below ``docs``."""
    found = {
        "reference/all-settings.md": settings.page(docs),
        "reference/json-documents.md": schemas.index(),
    }
    for path, name in FILES.items():
        found[path] = _moved((docs.parent / name).read_text())
    for name in schemas.DOCUMENTS:
        found[f"{DOCUMENTS}/{name}.md"] = schemas.page(name)
    for command in commands.commands():
        table = exit_status.table(command.name)
        found[f"{COMMANDS}/{command.name}.md"] = commands.page(
            command, table, schemas.keys(command.name)
        )
    return found


def _moved(text: str) -> str:
    """Return the text of a top-level file with its links as they are from ``explanation``."""
    for path, name in FILES.items():
        text = text.replace(f"]({name})", f"]({path})")
    text = re.sub(r"\]\((?:docs/)?explanation/", "](", text)
    return text.replace("](docs/", "](../")
