"""System settings of a running assay, from the first to the last, under a guard."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from assay.errors import AssayError
from assay.host.changes import ActionOutcome, HostChanges
from assay.host.guard import Guard
from assay.host.host import Host, LiveHost
from assay.host.journal import (
    APPLY_OWNER,
    PARTITIONS_OWNER,
    Journal,
    MachineBusyError,
    has_entries,
    open_journal,
)
from assay.host.undo import UndoOutcome, undo
from assay.machine.boot import BOOT_ID
from assay.records.action import SystemAction


class NotRestoredError(AssayError):
    """Failure to restore a part of the machine.

    Args:
        words: outcome of each such change.
    """

    exit_status = 3

    def __init__(self, words: Iterable[UndoOutcome]) -> None:
        self.words = tuple(words)
        reasons = "; ".join(map(explain_not_restored, self.words))
        super().__init__(f"{reasons}.", "Run `assay machine restore` to try again.")


def explain_not_restored(outcome: UndoOutcome) -> str:
    """Return why a target does not have its previous value."""
    note = outcome.note
    if outcome.fate == "drifted":
        return (
            f"another process set {note.action.path} to {outcome.found}; it was {note.old} before"
        )
    return f"{note.action.path} could not be restored to {note.old}: {outcome.reason}"


class SystemHold:
    """Applies system actions for the following launches.

    No file is opened, locked or started before the first action.

    Args:
        host: host to change; the running one if absent.
    """

    def __init__(self, host: Host | None = None) -> None:
        self._host = host or LiveHost()
        self._journal: Journal | None = None
        self._guard: Guard | None = None
        self._changes: HostChanges | None = None
        self._holds: tuple[SystemAction, ...] = ()

    def hold(self, actions: Iterable[SystemAction]) -> tuple[ActionOutcome, ...]:
        """Apply exactly these actions; if they are in force already, undo and repeat them.

        Raises:
            NotPossibleError: another assay changes the machine, the journal cannot be opened or
                written, or an action is not allowed.
        """
        wanted = tuple(actions)
        if self._changes is None:
            if not wanted:
                return ()
            self._changes = self._begin()
        if wanted == self._holds:
            self._changes.restore()
        self._holds = wanted
        return self._changes.hold(wanted)

    def read_targets(self, actions: Iterable[SystemAction]) -> dict[str, str]:
        """Return the target values of actions, by path."""
        changes = self._changes
        return changes.read_targets(actions) if changes is not None else {}

    def close(self) -> None:
        """Restore all changes.

        Raises:
            NotRestoredError: a change could not be restored.
            NotPossibleError: the journal cannot be written; all possible restorations are done by
                then.
        """
        try:
            found = self._changes.restore() if self._changes is not None else ()
        finally:
            self._changes, self._holds = None, ()
            if self._guard is not None:
                self._guard.close()
                self._guard = None
            if self._journal is not None:
                self._journal.close()
                self._journal = None
        left = [outcome for outcome in found if outcome.fate in ("drifted", "failed")]
        if left:
            raise NotRestoredError(left)

    def _begin(self) -> HostChanges:
        owner = f"process {os.getpid()} since {time.time_ns()}"
        self._journal = open_journal()
        try:
            restore_ended_owners(self._host, self._journal)
            self._guard = Guard(self._journal, owner)
        except BaseException:
            self._journal.close()
            self._journal = None
            raise
        return HostChanges(self._host, self._journal, owner)


def keep_applied(
    actions: Iterable[SystemAction], host: Host | None = None
) -> tuple[ActionOutcome, ...]:
    """Apply actions until they are undone explicitly, beyond the end of this process.

    Raises:
        NotPossibleError: see ``SystemHold.hold``.
    """
    with open_journal() as journal:
        return HostChanges(host or LiveHost(), journal, APPLY_OWNER).hold(actions)


def restore_leftovers(host: Host | None = None) -> tuple[UndoOutcome, ...]:
    """Restore the changes of an assay that was killed together with its guard.

    The call has no effect without root rights, or while another assay changes the machine.

    Raises:
        NotPossibleError: the journal cannot be opened or written.
    """
    if os.geteuid() != 0 or not has_entries():
        return ()
    journal = try_open_journal()
    if journal is None:
        return ()
    with journal:
        return restore_ended_owners(host or LiveHost(), journal)


def try_open_journal() -> Journal | None:
    """Open the journal; return ``None`` while another assay changes the machine.

    Raises:
        NotPossibleError: its folder cannot be opened, or other users may write there.
    """
    try:
        return open_journal()
    except MachineBusyError:
        return None


def restore_ended_owners(host: Host, journal: Journal) -> tuple[UndoOutcome, ...]:
    """Restore the changes of ended processes, while the journal is locked.

    Raises:
        NotPossibleError: the journal cannot be written.
    """
    boot_id = host.read(BOOT_ID)
    # Partitions of an earlier boot are gone; entries of this boot belong to active ones.
    left = [
        entry
        for entry in journal.entries
        if entry.note.owner not in (APPLY_OWNER, PARTITIONS_OWNER)
        or (entry.note.owner == PARTITIONS_OWNER and entry.note.boot_id != boot_id)
    ]
    return undo(host, journal, left) if left else ()
