"""Study locks: kernel locks that end with the process that holds them.

A process id in a table could be stale, reused, or from another namespace. The kernel releases a
lock when its holder exits, even after SIGKILL or a power failure.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import weakref
from pathlib import Path

from assay.errors import NotPossibleError

# struct flock of Linux on 64-bit machines: type, whence, start, length, pid (fcntl_locking(2)).
_FLOCK = struct.Struct("hhqqi4x")


class StudyLocks:
    """Locks of the studies of a database: open file description locks on bytes of one file.

    The byte at offset N represents study N. These locks also exclude each other within a process,
    and the file stays empty. They require Linux 3.15 or later.

    Args:
        path: lock file; created if missing, by users who may write the database.
        store_path: database file, whose owner and mode the lock file inherits.

    Raises:
        NotPossibleError: the lock file cannot be created.
    """

    def __init__(self, path: Path, store_path: Path) -> None:
        self._path = path
        self._held: set[int] = set()
        self._fd: int | None = _open(path, store_path)
        # A forked child shares the locks and would keep them after its parent's exit.
        locks = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _close(locks()))

    def lock(self, number: int) -> bool:
        """Lock a study; return ``False`` if another store has the lock."""
        if number in self._held:
            return True
        try:
            self._fcntl(fcntl.F_OFD_SETLK, fcntl.F_WRLCK, number)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise NotPossibleError(
                f"Cannot lock {self._path}: {error.strerror}.",
                "Specify a store on a local disk with --db PATH or ASSAY_DB.",
            ) from error
        self._held.add(number)
        return True

    def unlock(self, number: int) -> None:
        """Unlock a study if this store has the lock."""
        if number in self._held:
            self._held.remove(number)
            self._fcntl(fcntl.F_OFD_SETLK, fcntl.F_UNLCK, number)

    def holds(self, number: int) -> bool:
        """Return whether this store has the lock of a study."""
        return number in self._held

    def is_locked(self, number: int) -> bool:
        """Return whether any store has the lock of a study."""
        if number in self._held:
            return True
        answer = self._fcntl(fcntl.F_OFD_GETLK, fcntl.F_WRLCK, number)
        kind: int = _FLOCK.unpack(answer)[0]
        return kind != fcntl.F_UNLCK

    def close(self) -> None:
        """Release all locks."""
        self._held.clear()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _fcntl(self, command: int, kind: int, number: int) -> bytes:
        if self._fd is None:
            raise ValueError("the store is closed")
        request = _FLOCK.pack(kind, os.SEEK_SET, number, 1, 0)
        return fcntl.fcntl(self._fd, command, request)


def lock_file(store_path: Path) -> Path:
    """Return the lock file of a database."""
    return store_path.with_name(f"{store_path.name}.lock")


def _open(path: Path, store_path: Path) -> int:
    try:
        return _open_or_create(path, store_path)
    except OSError as error:
        raise NotPossibleError(
            f"Cannot open the lock file {path}: {error.strerror}.",
            "Its owner can delete it while assay is not running. Or use another store with --db.",
        ) from error


def _open_or_create(path: Path, store_path: Path) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    database = store_path.stat()
    try:
        fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, database.st_mode & 0o666)
    except FileExistsError:
        return os.open(path, flags)
    if os.geteuid() == 0:
        # Like SQLite's journal, a file created by root is usable for the owner of the database. An
        # existing file of another user must not change its owner.
        os.fchown(fd, database.st_uid, database.st_gid)
    return fd


def _close(locks: StudyLocks | None) -> None:
    if locks is not None:
        locks.close()
