"""Scratch folder for the output of launches, and removal of stale scratch folders.

A lock on the folder marks it as used. The kernel drops the lock when the holder ends, also by
SIGKILL. It works across containers with a common folder for temporary files, where process ids
would be ambiguous.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from assay.executors.progress.channel import CHANNEL_NAME

PREFIX = "assay-scratch-"
FILES = ("stdout", "stderr")
_OUTPUT_NAME = re.compile(rf"(?:{'|'.join(FILES)})(?:\.\d+)?|{CHANNEL_NAME}", re.ASCII)
"""Names of all files that assay creates there, and the only ones that it removes; a folder with
other files remains. The files of instances end in their numbers."""
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ScratchFolder:
    """Folder for the output of one launch at a time; close it after use.

    Args:
        parent: parent folder; the system's folder for temporary files if absent.

    Raises:
        OSError: the folder cannot be created.
    """

    def __init__(self, parent: Path | None = None) -> None:
        folder = Path(tempfile.gettempdir()) if parent is None else parent
        remove_stale(folder)
        self._folder, self._fd = _create(folder)
        self._stdout, self._stderr = (self._folder / name for name in FILES)

    @property
    def stdout(self) -> Path:
        """File for standard output."""
        return self._stdout

    @property
    def stderr(self) -> Path:
        """File for standard error."""
        return self._stderr

    @property
    def progress(self) -> Path:
        """Place of the FIFO for the progress of the program; the reader creates it."""
        return self._folder / CHANNEL_NAME

    def renew(self) -> None:
        """Prepare the folder for the next launch, even if the previous one removed or changed it.

        The files are new: surviving processes of a launch may still write to the old ones.
        """
        with contextlib.suppress(OSError):  # the launch reports the error
            if not _is_folder_at(self._folder, self._fd):
                folder, fd = _create(self._folder.parent)
                os.close(self._fd)
                self._folder, self._fd = folder, fd
                self._stdout, self._stderr = (folder / name for name in FILES)
            _empty(self._fd)

    def close(self) -> None:
        """Remove the folder; remaining files are left to the next start."""
        if self._fd < 0:
            return
        with contextlib.suppress(OSError):
            _remove(self._folder, self._fd)
        os.close(self._fd)
        self._fd = -1


def remove_stale(parent: Path) -> None:
    """Remove the scratch folders of this user whose holders have ended.

    Args:
        parent: folder to search; folders that cannot be opened or removed remain.
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
    """Restore permissions of a scratch folder that a program removed."""
    fd = os.open(folder, os.O_PATH | _FOLDER)
    try:
        Path(f"/proc/self/fd/{fd}").chmod(0o700)  # the kernel refuses fchmod on such a descriptor
    finally:
        os.close(fd)


def _create(parent: Path) -> tuple[Path, int]:
    """Create a folder; return it with the descriptor that holds its lock.

    Before it is locked, another assay may take the folder for stale and remove it.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        try:
            fd = _open(folder)
        except FileNotFoundError:
            continue
        # On a file system without locks no process gets one, so that no process removes the folder.
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        if _is_folder_at(folder, fd):
            return folder, fd
        os.close(fd)


def _is_folder_at(folder: Path, fd: int) -> bool:
    try:
        return os.path.samestat(folder.lstat(), os.fstat(fd))
    except FileNotFoundError:
        return False


def _remove(folder: Path, fd: int) -> None:
    """Remove a folder that this process has locked."""
    _empty(fd)
    folder.rmdir()


def _empty(fd: int) -> None:
    os.fchmod(fd, 0o700)
    for name in filter(_OUTPUT_NAME.fullmatch, os.listdir(fd)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=fd)
