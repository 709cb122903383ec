"""Scratch: the folder that holds a launch's output, and those that killed processes left.

Each folder is held by a lock on itself. The kernel drops it when the holder ends, by SIGKILL too,
and it holds between containers that share the folder of temporary files, where a process id would
mean something else.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "assay-scratch-"
FILES = ("stdout", "stderr")
_OURS = re.compile(rf"(?:{'|'.join(FILES)})(?:\.\d+)?", re.ASCII)
"""All that assay ever puts there, so all that it ever removes; a folder with more stays. Those of
several instances end in their numbers."""
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ScratchFolder:
    """A folder for the output of one launch at a time; close it when done.

    Args:
        parent: where it is made; the system's folder of temporary files if absent.

    Raises:
        OSError: no folder can be made there.
    """

    def __init__(self, parent: Path | None = None) -> None:
        where = Path(tempfile.gettempdir()) if parent is None else parent
        remove_stale(where)
        self._folder, self._fd = _made(where)
        self._stdout, self._stderr = (self._folder / name for name in FILES)

    @property
    def stdout(self) -> Path:
        """The file for the standard output."""
        return self._stdout

    @property
    def stderr(self) -> Path:
        """The file for the error output."""
        return self._stderr

    def renew(self) -> None:
        """Make it ready for the next launch, whatever the one before did to it.

        The files are new ones: what has survived a launch may still write to its own.
        """
        with contextlib.suppress(OSError):  # the launch will say what is wrong
            if not _lies_at(self._folder, self._fd):
                folder, fd = _made(self._folder.parent)
                os.close(self._fd)
                self._folder, self._fd = folder, fd
                self._stdout, self._stderr = (folder / name for name in FILES)
            _empty(self._fd)

    def close(self) -> None:
        """Remove it; what cannot be removed is left to the next start."""
        if self._fd < 0:
            return
        with contextlib.suppress(OSError):
            _remove(self._folder, self._fd)
        os.close(self._fd)
        self._fd = -1


def remove_stale(parent: Path) -> None:
    """Remove the scratch folders of this user whose holders have ended.

    Args:
        parent: where to look; what cannot be looked at or removed is left alone.
    """
    for folder in _candidates(parent):
        with contextlib.suppress(OSError), _opened(folder) as fd:
            if os.fstat(fd).st_uid == os.geteuid():
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder, fd)


def _candidates(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return [Path(entry.path) for entry in entries if entry.name.startswith(PREFIX)]
    except OSError:
        return []


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    fd = _open(folder)
    try:
        yield fd
    finally:
        os.close(fd)


def _open(folder: Path) -> int:
    try:
        return os.open(folder, os.O_RDONLY | _FOLDER)
    except PermissionError:
        _permit(folder)
        return os.open(folder, os.O_RDONLY | _FOLDER)


def _permit(folder: Path) -> None:
    """Give a folder of ours the permissions back that a program took from it."""
    fd = os.open(folder, os.O_PATH | _FOLDER)
    try:
        Path(f"/proc/self/fd/{fd}").chmod(0o700)  # the kernel takes no fchmod on such a descriptor
    finally:
        os.close(fd)


def _made(parent: Path) -> tuple[Path, int]:
    """A new folder and the descriptor whose lock holds it.

    Between the making and the lock it looks stale to another start, which may remove it.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        try:
            fd = _open(folder)
        except FileNotFoundError:
            continue
        # A file system without locks grants them to nobody, so nobody removes the folder either.
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        if _lies_at(folder, fd):
            return folder, fd
        os.close(fd)


def _lies_at(folder: Path, fd: int) -> bool:
    try:
        return os.path.samestat(folder.lstat(), os.fstat(fd))
    except FileNotFoundError:
        return False


def _remove(folder: Path, fd: int) -> None:
    """Remove a folder that this process holds."""
    _empty(fd)
    folder.rmdir()


def _empty(fd: int) -> None:
    os.fchmod(fd, 0o700)
    for name in filter(_OURS.fullmatch, os.listdir(fd)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=fd)
