"""Restoration of all recorded changes of this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass

from assay.host.host import Host, LiveHost
from assay.host.journal import open_journal
from assay.host.undo import UndoOutcome, preview_undo, undo
from assay.partition.lifecycle import deactivate_partitions, remove_partitions
from assay.partition.registry import active_partitions


@dataclass(frozen=True)
class RestoreResult:
    """Outcomes of a restoration.

    Attributes:
        words: outcomes, newest change first.
        unreadable: number of unreadable journal lines.
        partitions: names of the active partitions, which are deleted.
    """

    words: tuple[UndoOutcome, ...]
    unreadable: int = 0
    partitions: tuple[str, ...] = ()


def restore(*, force: bool, dry_run: bool, host: Host | None = None) -> RestoreResult:
    """Restore all recorded changes, partitions included, or preview that.

    Args:
        force: whether to restore also values that other processes have changed.
        dry_run: whether to make no change.
        host: host to change; the running one if absent.

    Raises:
        NotPossibleError: the journal cannot be opened, or another assay is changing the machine.
    """
    host = host or LiveHost()
    with open_journal() as journal:
        partitions = tuple(made.name for made in active_partitions(os.environ))
        if dry_run:
            words = tuple(preview_undo(host, journal.entries, force=force))
        else:
            deactivate_partitions(os.environ)
            words = undo(host, journal, journal.entries, force=force, keep_drifted=True)
            remove_partitions(os.environ)
        return RestoreResult(words, journal.unreadable, partitions)
