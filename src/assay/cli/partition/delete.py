"""``assay partition delete``: everything put back that was changed for a partition."""

from __future__ import annotations

import argparse

from assay.cli.documents import print_json
from assay.cli.ending import end_in_order
from assay.cli.partition.asked import name_of, place_of
from assay.cli.system import tell_left
from assay.launch.partition.make import delete
from assay.launch.system.undo import Undone


def run(arguments: argparse.Namespace) -> int:
    """Delete it; 1 where something could not be put back.

    Raises:
        BadInput: there is no such partition.
        NotPossible: it is in use, or this user may not.
    """
    end_in_order()
    name = name_of(arguments)
    settled = delete(name, place_of(arguments), force=arguments.force)
    left = [word for word in settled.undone if word.fate in ("drifted", "failed")]
    if arguments.json:
        print_json({"deleted": name, "left": [_document(word) for word in left]})
    else:
        tell_left(left)
        if not arguments.quiet:
            print(f"The partition {name} is deleted.")
    return 1 if any(word.fate == "failed" for word in left) else 0


def _document(word: Undone) -> dict[str, str]:
    document = {"path": word.note.action.path, "old": word.note.old, "word": str(word.fate)}
    return document | ({"reason": word.reason} if word.reason else {})
