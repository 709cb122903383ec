"""Root: where a machine's files are read from, the live host or a recorded tree."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

_HOST = Path("/")
_MAX_LINKS = 40
"""The kernel's own limit on symbolic links in one path (``MAXSYMLINKS``)."""


class Root(msgspec.Struct, frozen=True):
    """A folder that stands for ``/``.

    Paths are written as the machine itself knows them. Below a recorded tree they are resolved as
    ``openat2(2)`` does with ``RESOLVE_IN_ROOT``: absolute links and ``..`` cannot leave the tree.
    What is absent, or cannot be read, is ``None``: kernels and permissions differ too much for
    that to be an error.
    """

    path: Path = _HOST

    @property
    def live(self) -> bool:
        """Whether this is the running host."""
        return self.path == _HOST

    def read_bytes(self, path: str, limit: int = -1) -> bytes | None:
        """Content of a file, at most ``limit`` bytes of it."""
        live = self.live
        place = path if live else self.on_host(path)
        try:
            # In a recorded tree a pipe would block, and a device may never end.
            if place is None or not (live or os.path.isfile(place)):  # noqa: PTH113
                return None
            # A Path of each of hundreds of files would take longer than to read them.
            with open(place, "rb") as file:  # noqa: PTH123
                return file.read(limit)
        except (OSError, ValueError):
            return None

    def read_text(self, path: str, limit: int = -1) -> str | None:
        """Content of a text file, without white space and NUL bytes at either end."""
        content = self.read_bytes(path, limit)
        return None if content is None else content.decode(errors="replace").strip(" \t\r\n\0")

    def read_int(self, path: str) -> int | None:
        """The decimal number that a file holds; ``None`` also where it holds something else."""
        text = self.read_text(path, 64)
        try:
            return None if text is None else int(text)
        except ValueError:
            return None

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        place = self.on_host(path)
        return place is not None and _exists(place)

    def listdir(self, path: str) -> tuple[str, ...]:
        """Names in a folder, sorted; none where it is absent."""
        place = path if self.live else self.on_host(path)
        try:
            return () if place is None else tuple(sorted(os.listdir(place)))  # noqa: PTH208
        except (OSError, ValueError):
            return ()

    def real(self, path: str) -> str | None:
        """The path with every link resolved, as the machine knows it; ``None`` where it is absent.

        It is the name that ``/proc/PID/maps`` shows for a file.
        """
        place = self.on_host(path)
        if place is None or not _exists(place):
            return None
        real = place.resolve()
        return str(real) if self.live else f"/{real.relative_to(self.path.resolve())}"

    def on_host(self, path: str) -> Path | None:
        """Where the file lies on the host; ``None`` where links go round in circles."""
        if self.live:
            return Path("/" + path.lstrip("/"))
        base = str(self.path.resolve())
        real = resolved(path, lambda place: link_target(base + place))
        return None if real is None else Path(base + real)


def resolved(path: str, target_of: Callable[[str], str | None]) -> str | None:
    """A path with every link resolved; ``None`` where they go round in circles.

    Args:
        path: as the machine knows it; need not exist.
        target_of: where a path, whose folders are no links, leads; ``None`` where it is no link.
    """
    done: list[str] = []
    pending = path.split("/")[::-1]
    links = 0
    while pending:
        word = pending.pop()
        if word in ("", "."):
            continue
        if word == "..":
            del done[-1:]
            continue
        target = target_of("/".join(("", *done, word)))
        if target is None:
            done.append(word)
            continue
        links += 1
        if links > _MAX_LINKS:
            return None
        if target.startswith("/"):
            done.clear()
        pending.extend(target.split("/")[::-1])
    return "/".join(("", *done))


def link_target(place: str) -> str | None:
    """Where a link on the host leads, as it is written; ``None`` where it is none."""
    try:
        return os.readlink(place)  # noqa: PTH115
    except (OSError, ValueError):
        return None


LIVE = Root()
"""The running host."""


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):
        return False
