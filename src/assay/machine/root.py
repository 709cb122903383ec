"""Root of a machine's files: the live host or a recorded tree."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

_HOST = Path("/")
_MAX_LINKS = 40
"""The kernel's limit on symbolic links in one path (``MAXSYMLINKS``)."""


class Root(msgspec.Struct, frozen=True):
    """A directory that stands for ``/``.

    Paths are those of the machine itself. Below a recorded tree they are resolved as by
    ``openat2(2)`` with ``RESOLVE_IN_ROOT``: absolute links and ``..`` cannot leave the tree. A
    missing or unreadable file is ``None`` and not an error, since kernels and permissions differ.
    """

    path: Path = _HOST

    @property
    def live(self) -> bool:
        """True for the running host."""
        return self.path == _HOST

    def read_bytes(self, path: str, limit: int = -1) -> bytes | None:
        """Return the content of a file, at most ``limit`` bytes."""
        live = self.live
        place = path if live else self.on_host(path)
        try:
            # In a recorded tree a pipe would block, and a device may never end.
            if place is None or not (live or os.path.isfile(place)):  # noqa: PTH113
                return None
            # Creating a Path for hundreds of files takes longer than reading them.
            with open(place, "rb") as file:  # noqa: PTH123
                return file.read(limit)
        except (OSError, ValueError):
            return None

    def read_text(self, path: str, limit: int = -1) -> str | None:
        """Return the content of a text file, without white space and NUL bytes at both ends."""
        content = self.read_bytes(path, limit)
        return None if content is None else content.decode(errors="replace").strip(" \t\r\n\0")

    def read_int(self, path: str) -> int | None:
        """Return the decimal number in a file; ``None`` also for other content."""
        text = self.read_text(path, 64)
        try:
            return None if text is None else int(text)
        except ValueError:
            return None

    def exists(self, path: str) -> bool:
        """Return whether a file or directory exists."""
        place = self.on_host(path)
        return place is not None and _exists(place)

    def listdir(self, path: str) -> tuple[str, ...]:
        """Return the names in a directory, sorted; an empty tuple if it is missing."""
        place = path if self.live else self.on_host(path)
        try:
            return () if place is None else tuple(sorted(os.listdir(place)))  # noqa: PTH208
        except (OSError, ValueError):
            return ()

    def real(self, path: str) -> str | None:
        """Return the path with all links resolved, on the machine; ``None`` if it is missing.

        ``/proc/PID/maps`` shows the same name.
        """
        place = self.on_host(path)
        if place is None or not _exists(place):
            return None
        real = place.resolve()
        return str(real) if self.live else f"/{real.relative_to(self.path.resolve())}"

    def on_host(self, path: str) -> Path | None:
        """Return the path of a file on the host; ``None`` for cyclic links."""
        if self.live:
            return Path("/" + path.lstrip("/"))
        base = str(self.path.resolve())
        real = resolved(path, lambda place: link_target(base + place))
        return None if real is None else Path(base + real)


def resolved(path: str, target_of: Callable[[str], str | None]) -> str | None:
    """Return a path with all links resolved; ``None`` for cyclic links.

    Args:
        path: path on the machine, which need not exist.
        target_of: returns the target of a link, given a path with resolved directories; ``None``
            for other files.
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
    """Return the target of a link on the host, as written; ``None`` for other files."""
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
