"""Before: what was there before any partition changed it."""

from __future__ import annotations

from collections.abc import Iterable

from assay.host.actions import read_file
from assay.host.host import Host
from assay.host.journal import Entry
from assay.machine.boot import BOOT_ID


class InitialState:
    """What files and threads held before partitions.

    Args:
        host: that is asked about all that was not changed.
        entries: of partitions, in the undo journal.
    """

    def __init__(self, host: Host, entries: Iterable[Entry]) -> None:
        self._host = host
        boot_id = host.read(BOOT_ID)
        here = (entry.note for entry in entries if boot_id in (None, entry.note.boot_id))
        # On top of each other: the newest tells what was there but for partitions.
        self._old = {note.action.path: note.old for note in here}

    def read(self, path: str) -> str | None:
        """In one spelling; ``None`` where it is not there, or cannot be read."""
        old = self._old.get(path)
        return read_file(self._host, path) if old is None else old
