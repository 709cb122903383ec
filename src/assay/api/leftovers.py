"""Leftovers: system files that a killed assay has changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assay.host.journal import has_entries

if TYPE_CHECKING:
    from assay.host.undo import UndoOutcome
    from assay.root_helper.helper import RootHelper


def restore_leftovers(helper: RootHelper | None = None) -> list[str]:
    """Undo the changes of an assay that was killed together with its guard.

    Args:
        helper: process that does it, if this process has no privileges.

    Returns:
        Lines on the restored files and on those that could not be restored, without full stops.

    Raises:
        NotPossibleError: the undo journal is not accessible.
    """
    if not (has_entries() if helper is None else helper.leftovers):
        return []
    from assay.host import system_hold
    from assay.root_helper import client

    found = system_hold.restore_leftovers() if helper is None else client.recover(helper)
    undone = [outcome for outcome in found if outcome.fate == "undone"]
    lines = []
    if undone:
        paths = ", ".join(dict.fromkeys(outcome.note.action.path for outcome in undone))
        lines.append(f"restored files that a killed assay had changed: {paths}")
    return [*lines, *leftover_lines(found)]


def leftover_lines(found: Iterable[UndoOutcome]) -> Iterator[str]:
    """Yield a line for each file that was not restored; one for all that wait for the same CPUs."""
    from assay.host.system_hold import explain_not_restored
    from assay.units import show_count

    waiting: dict[str, list[str]] = {}
    for outcome in found:
        if (
            outcome.fate == "failed"
            and outcome.reason is not None
            and outcome.reason.endswith(" offline")
        ):
            cpus = outcome.reason.rpartition(": ")[2]
            waiting.setdefault(cpus, []).append(outcome.note.action.path)
        elif outcome.fate in ("drifted", "failed"):
            yield explain_not_restored(outcome)
    for reason, paths in waiting.items():
        masks = paths[0] if len(paths) == 1 else show_count(len(paths), "mask")
        yield (
            f"{masks} cannot be restored now: {reason}. Once it is online, the next change of "
            "partitions or `assay machine restore` restores it"
        )
