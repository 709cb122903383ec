"""Write lock of a SQLite file.

SQLite waits in C, where Python handles no signals, so Ctrl-C would be delayed until the end of the
wait. This module polls the lock instead.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from assay.store.errors import StoreUnusableError

_RETRY_S = 0.01


class WriteLock:
    """Acquires the write lock of a database and accumulates the waiting time.

    Args:
        path: path of the database.
        wait_s: maximum wait, in seconds.
    """

    def __init__(self, path: Path, wait_s: float) -> None:
        self._path = path
        self._wait_s = wait_s
        self.waited_s = 0.0

    def acquire(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction that holds the write lock.

        Args:
            connection: connection without a transaction and without a busy time-out.

        Raises:
            StoreUnusableError: another process held the lock until the end of the wait.
            sqlite3.Error: database error.
        """
        began_s = time.monotonic()
        try:
            while not _begin(connection):
                if time.monotonic() - began_s >= self._wait_s:
                    raise locked_error(self._path, self._wait_s)
                time.sleep(_RETRY_S)
        finally:
            self.waited_s += time.monotonic() - began_s


def locked_error(path: Path, waited_s: float) -> StoreUnusableError:
    """Return the error for a database that another process has locked."""
    return StoreUnusableError(
        f"The store {path} is locked by another process, also after {waited_s:g} s.",
        f"`fuser {path}` names it. Retry after its end; `assay study resume` continues a study. "
        "Or specify another store with --db PATH or ASSAY_DB.",
    )


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether an error means that another process holds a lock."""
    # The lower byte is the primary code (https://www.sqlite.org/rescode.html).
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _begin(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if is_busy(error):
            return False
        raise
    return True
