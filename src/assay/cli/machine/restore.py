"""``assay machine restore``: what was there before, from the undo journal."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from assay.cli.show.documents import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.host.actions import target_value
from assay.host.undo import UndoOutcome
from assay.root_helper.restoration import RestoreResult, restore
from assay.units import show_count
from assay.untrusted import clean

HANG = 4
_WORDS = {
    "undone": "put back",
    "drifted": "left alone",
    "gone": "gone with the boot",
    "failed": "not put back",
}


def run(arguments: argparse.Namespace) -> int:
    """Put back all that is written down; 1 where something is not as it was.

    Raises:
        NotPossibleError: the journal cannot be had, or another assay changes the machine now.
    """
    target_value = {"force": arguments.force, "dry_run": arguments.dry_run}
    if arguments.helper is None:
        found = restore(**target_value)
    else:
        from assay.root_helper import client

        found = client.restore(arguments.helper, **target_value)
    if arguments.json:
        changes = [_document(word) for word in found.words]
        print_json({"changes": changes, "partitions": list(found.partitions)})
    else:
        _show(found, dry_run=arguments.dry_run)
    return 1 if any(word.fate in ("drifted", "failed") for word in found.words) else 0


def _document(word: UndoOutcome) -> dict[str, Any]:
    note = word.note
    document: dict[str, Any] = {
        "path": note.action.path,
        "owner": note.owner,
        "old": note.old,
        "word": word.fate,
    }
    more = (("found", word.found), ("reason", word.reason))
    return document | {key: text for key, text in more if text is not None}


def _show(found: RestoreResult, *, dry_run: bool) -> None:
    if not (found.words or found.partitions):
        print("Nothing to put back.")
    for name in found.partitions:
        told = "would be deleted, whoever uses it" if dry_run else "is deleted"
        print(f"The partition {clean(name)} {told}.")
    for word in found.words:
        told = "would be put back" if dry_run and word.fate == "undone" else _WORDS[word.fate]
        at = f"{left} -> " if (left := _left(word)) is not None else ""
        reason = "" if word.fate in ("undone", "gone") else f": {_why(word)}"
        line = clean(f"{word.note.action.path}  {at}{word.note.old}  {told}{reason}")
        print("\n".join(wrapped([line], width_of(sys.stdout), HANG)))
    if any(word.fate == "drifted" for word in found.words):
        print("\n`assay machine restore --force` puts back also what others changed.")
    if found.unreadable:
        lines = show_count(found.unreadable, "line")
        print(f"\n{lines} of the undo journal could not be read.")


def _left(word: UndoOutcome) -> str | None:
    """What the way back begins at: what is there, or of what drifted, what was put there."""
    if word.fate == "drifted":
        return target_value(word.note.action)
    return word.found if word.fate == "undone" else None


def _why(word: UndoOutcome) -> str:
    if word.fate == "drifted":
        return f"it is {word.found} now"
    return word.reason or f"it reads {word.found}"
