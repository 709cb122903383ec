"""Parts of the site that are generated when it is built: whole pages, and tables within pages."""

from __future__ import annotations

import re
from pathlib import Path

from tools.docs import commands, exit_status, schemas, settings

DOCUMENTS = "reference/documents"
"""Folder of the pages of JSON documents."""
VERBS = "reference/verbs"
"""Folder of the pages of verbs."""
MARKER = re.compile(r"^<!-- generated: ([a-z]+) (\S+) -->\n(?:.+\n)*", re.MULTILINE)
"""Place of a generated part, with the paragraph that readers of the repository see instead."""
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
    return found


def expand(markdown: str) -> str:
    """Return a page with its generated parts in place of their markers.

    A marker is a comment such as ``<!-- generated: options tune -->``.
    """
    return MARKER.sub(lambda match: f"{_part(match[1], match[2])}\n", markdown)


def _part(kind: str, name: str) -> str:
    """Return a generated part in Markdown.

    Raises:
        ValueError: the kind is unknown.
    """
    match kind:
        case "usage":
            return commands.usage(commands.command(name))
        case "actions":
            return commands.actions(commands.command(name))
        case "options":
            return commands.options(commands.command(name))
        case "statuses":
            return exit_status.table(name)
        case "document":
            return schemas.keys(name)
        case "type":
            return schemas.type_keys(name)
    raise ValueError(f"unknown part {kind!r}")


def _moved(text: str) -> str:
    """Return the text of a top-level file with its links as they are from ``explanation``."""
    for path, name in FILES.items():
        text = text.replace(f"]({name})", f"]({path})")
    text = re.sub(r"\]\((?:docs/)?explanation/", "](", text)
    return text.replace("](docs/", "](../")
