"""Root that reads each file once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from assay.machine.root import Root


class _Reading(msgspec.Struct, frozen=True, gc=False):
    """Content of a file, and the number of bytes that were requested; -1: all."""

    content: bytes | None
    limit: int

    def covers(self, limit: int) -> bool:
        """Return whether a further reading up to a limit would return the same begin."""
        whole = self.limit < 0 or self.content is None or len(self.content) < self.limit
        return whole or 0 <= limit <= self.limit

    def within(self, limit: int) -> bytes | None:
        """Return the content up to a limit."""
        return self.content if limit < 0 or self.content is None else self.content[:limit]


class RememberedRoot(Root, frozen=True, eq=False):
    """A root that keeps file contents, for the description of a machine at one point in time.

    Several readers of a description need the same files, of which large machines have thousands.

    Attributes:
        base_fd: descriptor of the directory of a recorded tree.
        readings: contents by path.
        folders: names by directory.
    """

    base_fd: int | None = None
    readings: dict[str, _Reading] = {}
    folders: dict[str, tuple[str, ...]] = {}

    def read_bytes(self, path: str, limit: int = -1) -> bytes | None:
        """Return the content of a file, at most ``limit`` bytes."""
        known = self.readings.get(path)
        if known is None or not known.covers(limit):
            content = super().read_bytes(path, limit)
            known = self.readings[path] = _Reading(content, limit)
        return known.within(limit)

    def read_folder(self, folder: str, names: Iterable[str], limit: int = -1) -> dict[str, bytes]:
        """Return the contents of files of one directory by name; missing ones are left out."""
        known = {name: self.readings.get(f"{folder}/{name}") for name in names}
        missing = [name for name, one in known.items() if one is None or not one.covers(limit)]
        read = super().read_folder(folder, missing, limit) if missing else {}
        for name in missing:
            known[name] = self.readings[f"{folder}/{name}"] = _Reading(read.get(name), limit)
        return {
            name: content
            for name, one in known.items()
            if one is not None and (content := one.within(limit)) is not None
        }

    def listdir(self, path: str) -> tuple[str, ...]:
        """Return the names in a directory, sorted; an empty tuple if it is missing."""
        names = self.folders.get(path)
        if names is None:
            names = self.folders[path] = super().listdir(path)
        return names

    def open(self, path: str, flags: int) -> int:
        """Open a file for reading; see ``Root.open``."""
        if self.base_fd is None:
            return super().open(path, flags)
        from assay.machine.open_below import open_below

        return open_below(str(self.path), path, flags, self.base_fd)


@contextmanager
def remembered(root: Root) -> Iterator[RememberedRoot]:
    """Yield a root with the same files that reads each of them once; the root itself if it does."""
    if isinstance(root, RememberedRoot):
        yield root
        return
    base_fd = _base_of(root)
    try:
        yield RememberedRoot(root.path, base_fd)
    finally:
        if base_fd is not None:
            os.close(base_fd)


def _base_of(root: Root) -> int | None:
    """Open the directory of a recorded tree; ``None`` for the running host or a missing tree."""
    if root.live:
        return None
    from assay.machine.open_below import open_base

    try:
        return open_base(str(root.path))
    except OSError:
        return None
