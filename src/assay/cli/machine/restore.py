"""``assay machine restore``: restores previous values from the undo journal."""

from __future__ import annotations

import sys

from assay.cli.arguments.common import common_options
from assay.cli.arguments.machine import restore_request
from assay.cli.documents.machine import MachineRestoreAnswer, RestoredChange
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.host.actions import target_value
from assay.host.undo import UndoOutcome
from assay.records import to_builtins
from assay.root_helper.restoration import RestoreResult, restore
from assay.units import show_count
from assay.untrusted import clean

HANG = 4
_WORDS = {
    "undone": "restored",
    "drifted": "left unchanged",
    "gone": "reset by the boot",
    "failed": "not restored",
}


def run(parsed: Parsed) -> int:
    """Restore all values of the journal; return 1 if a value differs from the previous one.

    Raises:
        NotPossibleError: the journal is not accessible, or another assay changes the machine.
    """
    request, options = restore_request(parsed), common_options(parsed)
    if options.helper is None:
        found = restore(force=request.force, dry_run=request.dry_run)
    else:
        from assay.root_helper import client

        found = client.restore(options.helper, force=request.force, dry_run=request.dry_run)
    if options.json:
        answer = MachineRestoreAnswer(
            changes=tuple(map(_change, found.words)), partitions=tuple(found.partitions)
        )
        print_json(to_builtins(answer))
    else:
        _print_result(found, dry_run=request.dry_run)
    return 1 if any(outcome.fate in ("drifted", "failed") for outcome in found.words) else 0


def _change(outcome: UndoOutcome) -> RestoredChange:
    return RestoredChange(
        path=outcome.note.action.path,
        owner=outcome.note.owner,
        original_value=outcome.note.old,
        status=outcome.fate,
        current_value=outcome.found,
        reason=outcome.reason,
    )


def _print_result(found: RestoreResult, *, dry_run: bool) -> None:
    if not (found.words or found.partitions):
        print("Nothing to restore.")
    for name in found.partitions:
        fate = "would be deleted, even while it is in use" if dry_run else "is deleted"
        print(f"The partition {clean(name)} {fate}.")
    for outcome in found.words:
        fate = "would be restored" if dry_run and outcome.fate == "undone" else _WORDS[outcome.fate]
        at = f"{left} -> " if (left := _value_to_replace(outcome)) is not None else ""
        reason = "" if outcome.fate in ("undone", "gone") else f": {_reason(outcome)}"
        line = clean(f"{outcome.note.action.path}  {at}{outcome.note.old}  {fate}{reason}")
        print("\n".join(wrapped([line], width_of(sys.stdout), HANG)))
    if any(outcome.fate == "drifted" for outcome in found.words):
        print("\n`assay machine restore --force` also restores files that other programs changed.")
    if found.unreadable:
        lines = show_count(found.unreadable, "line")
        print(f"\n{lines} of the undo journal cannot be read.")


def _value_to_replace(outcome: UndoOutcome) -> str | None:
    """Return the value to replace: the current one; for a drifted file, the one that assay set."""
    if outcome.fate == "drifted":
        return target_value(outcome.note.action)
    return outcome.found if outcome.fate == "undone" else None


def _reason(outcome: UndoOutcome) -> str:
    if outcome.fate == "drifted":
        return f"it is {outcome.found} now"
    return outcome.reason or f"it reads {outcome.found}"
