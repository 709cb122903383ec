"""Root of a machine's files: the live host or a recorded tree."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from assay.machine.links import link_target, resolved

_HOST = Path("/")
_CHUNK_BYTES = 2**16
_PLAIN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
"""Flags for a file that may be a pipe or a terminal."""


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
        try:
            if self.live:
                return _content(os.open(path, os.O_RDONLY | os.O_CLOEXEC), limit)
            return _regular_content(self.open(path, _PLAIN), limit)
        except (OSError, ValueError):
            return None

    def read_folder(self, folder: str, names: Iterable[str], limit: int = -1) -> dict[str, bytes]:
        """Return the contents of files of one directory by name; missing ones are left out.

        The directory is looked up once, which takes longer than to read a small file.

        Args:
            folder: path of the directory.
            names: names without a slash.
            limit: maximum number of bytes of a file; -1: all.
        """
        wanted = tuple(names)
        if len(wanted) == 1:
            content = Root.read_bytes(self, f"{folder}/{wanted[0]}", limit)
            return {} if content is None else {wanted[0]: content}
        found: dict[str, bytes] = {}
        try:
            opened = self.open(folder, os.O_PATH | os.O_DIRECTORY)
        except (OSError, ValueError):
            return found
        try:
            for name in wanted:
                content = self._member(opened, folder, name, limit)
                if content is not None:
                    found[name] = content
        finally:
            os.close(opened)
        return found

    def read_texts(self, folder: str, names: Iterable[str], limit: int = -1) -> dict[str, str]:
        """Return the same as ``read_folder`` as texts, without white space at both ends."""
        contents = self.read_folder(folder, names, limit)
        return {name: _text(content) for name, content in contents.items()}

    def read_text(self, path: str, limit: int = -1) -> str | None:
        """Return the content of a text file, without white space and NUL bytes at both ends."""
        content = self.read_bytes(path, limit)
        return None if content is None else _text(content)

    def read_int(self, path: str) -> int | None:
        """Return the decimal number in a file; ``None`` also for other content."""
        text = self.read_text(path, 64)
        try:
            return None if text is None else int(text)
        except ValueError:
            return None

    def exists(self, path: str) -> bool:
        """Return whether a file or directory exists."""
        try:
            if self.live:
                return os.path.exists(path)  # noqa: PTH110
            os.close(self.open(path, os.O_PATH))
        except (OSError, ValueError):
            return False
        return True

    def listdir(self, path: str) -> tuple[str, ...]:
        """Return the names in a directory, sorted; an empty tuple if it is missing."""
        try:
            if self.live:
                return tuple(sorted(os.listdir(path)))  # noqa: PTH208
            folder = self.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except (OSError, ValueError):
            return ()
        try:
            return tuple(sorted(os.listdir(folder)))  # noqa: PTH208
        except OSError:
            return ()
        finally:
            os.close(folder)

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

    def open(self, path: str, flags: int) -> int:
        """Open a file for reading, and return its descriptor.

        Args:
            path: path on the machine.
            flags: flags of ``open(2)``; ``O_CLOEXEC`` is added.

        Raises:
            OSError: the file is missing or cannot be read.
            ValueError: the path contains a NUL character.
        """
        if self.live:
            return os.open(path, flags | os.O_CLOEXEC)
        # Imported late: the running host needs no ctypes.
        from assay.machine.open_below import open_below

        return open_below(str(self.path), path, flags)

    def _member(self, opened: int, folder: str, name: str, limit: int) -> bytes | None:
        """Return the content of a file in an open directory; the file may be a link."""
        try:
            file = os.open(name, _PLAIN | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=opened)
        except OSError as error:
            is_link = error.errno == errno.ELOOP
            return Root.read_bytes(self, f"{folder}/{name}", limit) if is_link else None
        except ValueError:
            return None
        try:
            return _regular_content(file, limit)
        except OSError:
            return None


def _text(content: bytes) -> str:
    return content.decode(errors="replace").strip(" \t\r\n\0")


def _regular_content(file: int, limit: int) -> bytes:
    """Return the content of an open file of a recorded tree, and close it.

    Raises:
        OSError: the file cannot be read, or it is a directory, a pipe or a device, which may never
            end.
    """
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "not a regular file")
    # Saves the call that finds the end. The size is 0 or an upper bound for files of the kernel.
    return _content(file, status.st_size if limit < 0 < status.st_size else limit)


def _content(file: int, limit: int) -> bytes:
    """Return the content of an open file up to a number of bytes, all of it for -1; close it."""
    left = limit if limit >= 0 else sys.maxsize
    parts: list[bytes] = []
    try:
        # A file of /proc may return a part of its content for each call.
        while left and (part := os.read(file, min(left, _CHUNK_BYTES))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(file)
    return b"".join(parts)


LIVE = Root()
"""The running host."""


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):
        return False
