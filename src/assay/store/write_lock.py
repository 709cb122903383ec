"""Turn: waiting until this process may write a SQLite file.

SQLite's own waiting sleeps in C, where Python handles no signal: Ctrl-C would come through when it
is over. So the lock is asked for again and again from here.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from assay.errors import NotPossibleError

_RETRY_S = 0.01


class WriteLock:
    """Takes the write lock of one database, and adds up how long that took.

    Args:
        path: of the database.
        wait_s: the longest to wait.
    """

    def __init__(self, path: Path, wait_s: float) -> None:
        self._path = path
        self._wait_s = wait_s
        self.waited_s = 0.0

    def take(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction that holds the write lock.

        Args:
            connection: not within a transaction, and without a busy time-out of its own.

        Raises:
            NotPossibleError: another process still held it when the time was over.
            sqlite3.Error: as the database gives it.
        """
        began_s = time.monotonic()
        try:
            while not _begun(connection):
                if time.monotonic() - began_s >= self._wait_s:
                    raise locked_error(self._path, self._wait_s)
                time.sleep(_RETRY_S)
        finally:
            self.waited_s += time.monotonic() - began_s


def locked_error(path: Path, waited_s: float) -> NotPossibleError:
    """The error of a database that another process keeps to itself."""
    return NotPossibleError(
        f"The store {path} is locked by another process, also after {waited_s:g} s.",
        f"`fuser {path}` names it. When it is done, try again; `assay study resume` goes on with a "
        "study. Or name another store with --db PATH or ASSAY_DB.",
    )


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process holds a lock."""
    # The lower byte is the primary code (https://www.sqlite.org/rescode.html).
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _begun(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if is_busy(error):
            return False
        raise
    return True
