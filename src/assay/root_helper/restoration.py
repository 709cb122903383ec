"""Restoring: all that assay changed on this machine and wrote down, put back."""

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
    """What became of all that is written down.

    Attributes:
        words: newest change first.
        unreadable: how many lines of the journal could not be read.
        partitions: names of those that stood, and are deleted with it.
    """

    words: tuple[UndoOutcome, ...]
    unreadable: int = 0
    partitions: tuple[str, ...] = ()


def restore(*, force: bool, dry_run: bool, host: Host | None = None) -> RestoreResult:
    """Put back all that is written down, partitions with it, or say what would be.

    Args:
        force: also what somebody changed meanwhile.
        dry_run: touch nothing.
        host: that is changed; the running one if absent.

    Raises:
        NotPossibleError: the journal cannot be had, or another assay changes the machine now.
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
