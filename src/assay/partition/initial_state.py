"""Initial state: values before any partition changed them."""

from __future__ import annotations

from collections.abc import Iterable

from assay.host.actions import read_file
from assay.host.host import Host
from assay.host.journal import Entry
from assay.machine.boot import BOOT_ID


class InitialState:
    """Values of files and threads before the changes of partitions.

    Args:
        host: source of all unchanged values.
        entries: entries of partitions in the undo journal.
    """

    def __init__(self, host: Host, entries: Iterable[Entry]) -> None:
        self._host = host
        boot_id = host.read(BOOT_ID)
        here = (entry.note for entry in entries if boot_id in (None, entry.note.boot_id))
        # Later entries override earlier ones: the newest has the value without partitions.
        self._old = {note.action.path: note.old for note in here}

    def read(self, path: str) -> str | None:
        """Return the normalised initial value; ``None`` if the target is missing or unreadable."""
        old = self._old.get(path)
        return read_file(self._host, path) if old is None else old
