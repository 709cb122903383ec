"""Who holds which study: kernel locks, which end with the process that holds them.

A process id in a table would have to be judged (is that process still the same one? in which
namespace?). A lock needs no judging: the kernel drops it when its holder ends, by SIGKILL and
power loss too.
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
    """Holds on studies of one database, as open file description locks on bytes of one file.

    The byte at offset N stands for study N. Such locks also exclude each other within a process,
    and the file stays empty and in place. Linux 3.15 and later.

    Args:
        path: the lock file; made where it is missing, for those who may write ``beside``.
        beside: the database file, whose owner and mode the lock file takes over.

    Raises:
        NotPossibleError: the lock file cannot be made.
    """

    def __init__(self, path: Path, beside: Path) -> None:
        self._path = path
        self._held: set[int] = set()
        self._fd: int | None = _open(path, beside)
        # A forked child shares the locks and would keep them after its parent's end.
        owners = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _let_go(owners()))

    def take(self, number: int) -> bool:
        """Hold study ``number``; ``False`` where another store holds it."""
        if number in self._held:
            return True
        try:
            self._lock(fcntl.F_OFD_SETLK, fcntl.F_WRLCK, number)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise NotPossibleError(
                f"{self._path} cannot be locked: {error.strerror}.",
                "Name a store on a local disk with --db PATH, or set ASSAY_DB.",
            ) from error
        self._held.add(number)
        return True

    def drop(self, number: int) -> None:
        """Let go of study ``number``, if it is held here."""
        if number in self._held:
            self._held.remove(number)
            self._lock(fcntl.F_OFD_SETLK, fcntl.F_UNLCK, number)

    def holds(self, number: int) -> bool:
        """Whether study ``number`` is held here."""
        return number in self._held

    def taken(self, number: int) -> bool:
        """Whether study ``number`` is held, here or elsewhere."""
        if number in self._held:
            return True
        answer = self._lock(fcntl.F_OFD_GETLK, fcntl.F_WRLCK, number)
        kind: int = _FLOCK.unpack(answer)[0]
        return kind != fcntl.F_UNLCK

    def close(self) -> None:
        """Let go of everything."""
        self._held.clear()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _lock(self, command: int, kind: int, number: int) -> bytes:
        if self._fd is None:
            raise ValueError("the store is closed")
        request = _FLOCK.pack(kind, os.SEEK_SET, number, 1, 0)
        return fcntl.fcntl(self._fd, command, request)


def _open(path: Path, beside: Path) -> int:
    try:
        return _open_or_make(path, beside)
    except OSError as error:
        raise NotPossibleError(
            f"The lock file {path} cannot be opened: {error.strerror}.",
            "Its owner can delete it while assay does not run; --db names another store.",
        ) from error


def _open_or_make(path: Path, beside: Path) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    database = beside.stat()
    try:
        fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, database.st_mode & 0o666)
    except FileExistsError:
        return os.open(path, flags)
    if os.geteuid() == 0:
        # As SQLite does for its journal: what root makes, the database's owner can use. Only what
        # was made here: another's file of this name must not change hands.
        os.fchown(fd, database.st_uid, database.st_gid)
    return fd


def _let_go(owners: StudyLocks | None) -> None:
    if owners is not None:
        owners.close()
