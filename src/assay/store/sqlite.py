"""SQLite backend of the store: opening a database and translating its errors."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.pool import NullPool

from assay.errors import NotPossibleError
from assay.store.errors import StoreUnusableError
from assay.store.file_identity import FileIdentity
from assay.store.revisions import HEAD, RENAMING
from assay.store.sql import Engines, SqlStore
from assay.store.study_locks import StudyLocks, lock_file
from assay.store.upgrade import create, demand_idle, revision_of, upgrade
from assay.store.write_lock import WriteLock, is_busy, locked_error

_OTHER_STORE_REMEDY = "Or specify another store with --db PATH or ASSAY_DB."
_WRITES = "assay_writes"
_RETRY_S = 0.01


def open_sqlite(path: Path, busy_timeout_s: float, patience_s: float) -> SqlStore:
    """Open the store of a SQLite file; create or upgrade it if needed.

    Raises:
        NotPossibleError: locked, damaged, of another program, of a newer schema, or not writable.
    """
    translating_errors = ErrorTranslator(path, busy_timeout_s)
    engine = sqlite_engine(path, busy_timeout_s)
    try:
        with translating_errors():
            _bring_to_head(engine, path, busy_timeout_s)
            translating_errors.check_identity_with(FileIdentity(path))
        locks = StudyLocks(lock_file(path), path)
    except BaseException:
        engine.dispose()
        raise
    write_lock = WriteLock(path, patience_s)
    engines = Engines(
        engine, writing_engine(engine), patient_engine(path, busy_timeout_s, write_lock)
    )
    store = SqlStore(path, engines, locks, translating_errors, write_lock)
    translating_errors.check_holds_with(lambda: store.holds_study)
    return store


def sqlite_engine(path: Path, busy_timeout_s: float, *, migrating: bool = False) -> Engine:
    """Return an engine for a SQLite file in WAL mode.

    Args:
        path: database file.
        busy_timeout_s: maximum wait of a statement for a lock, in seconds.
        migrating: disable foreign keys, for a single connection: copying a table to alter it would
            otherwise delete the rows that refer to it
            (https://www.sqlite.org/lang_altertable.html).
    """
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": busy_timeout_s},
        **({"poolclass": NullPool} if migrating else {}),
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        _prepare(connection, busy_timeout_s, "OFF" if migrating else "ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer acquires its lock at once: upgrading a read lock fails without waiting.
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def writing_engine(engine: Engine) -> Engine:
    """Return the engine with options for write transactions."""
    return engine.execution_options(**{_WRITES: True})


def patient_engine(path: Path, busy_timeout_s: float, write_lock: WriteLock) -> Engine:
    """Return an engine whose transactions acquire a write lock that can be interrupted.

    Args:
        path: database file.
        busy_timeout_s: maximum wait of a new connection, in seconds.
        write_lock: acquires the write lock.
    """
    engine = create_engine(
        URL.create("sqlite", database=str(path)), connect_args={"timeout": busy_timeout_s}
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        _prepare(connection, busy_timeout_s)
        connection.execute("PRAGMA busy_timeout=0")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        if not driver.in_transaction:
            write_lock.acquire(driver)

    return engine


def _prepare(connection: Any, busy_timeout_s: float, foreign_keys: str = "ON") -> None:
    # Transactions begin in the event of the engine, not where the driver starts one implicitly.
    connection.isolation_level = None
    _set_wal(connection, busy_timeout_s)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA foreign_keys={foreign_keys}")


class ErrorTranslator:
    """Translates errors of the database into errors that name the cause and the next step.

    Args:
        path: path of the database.
        busy_timeout_s: wait of a statement before it reports a locked database, in seconds.
    """

    def __init__(self, path: Path, busy_timeout_s: float) -> None:
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._identity: FileIdentity | None = None
        self._holds_study: Callable[[], bool] = lambda: False

    def check_identity_with(self, identity: FileIdentity) -> None:
        """Check the identity of the file in every later operation."""
        self._identity = identity

    def check_holds_with(self, holds_study: Callable[[], bool]) -> None:
        """Name the way to continue a study only while this process holds one."""
        self._holds_study = holds_study

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Translate errors of the block, except violated constraints, which the caller handles.

        Raises:
            StoreUnusableError: database error; or the file was deleted or replaced, in which case a
                new connection would create another file and all writes would be lost.
        """
        self._check_identity()
        try:
            yield
            self._check_identity()
        except (IntegrityError, sqlite3.IntegrityError):
            raise
        except DBAPIError as error:
            self._check_identity()  # SQLite's error for a deleted file varies
            raise self._translated(error.orig) from error
        except sqlite3.Error as error:
            self._check_identity()
            raise self._translated(error) from error
        except UnicodeDecodeError as error:
            # The driver cannot decode SQLite's message, which quotes the damaged part.
            raise self._damaged("it contains text that is not UTF-8") from error

    def _check_identity(self) -> None:
        if self._identity is not None:
            self._identity.demand()

    def _translated(self, error: BaseException | None) -> StoreUnusableError:
        # The lower byte is the primary code (https://www.sqlite.org/rescode.html).
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        store = f"The store {self._path}"
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return locked_error(self._path, self._busy_timeout_s)
        if code == sqlite3.SQLITE_NOTADB:
            return StoreUnusableError(
                f"{store} is not a SQLite database, or its first bytes are damaged.",
                "Move it away, and assay creates a new one. " + _OTHER_STORE_REMEDY,
            )
        if code == sqlite3.SQLITE_CORRUPT:
            return self._damaged(str(error))
        if code == sqlite3.SQLITE_FULL:
            return StoreUnusableError(
                f"The disk of the store {self._path} is full; samples stored before are kept.",
                f"Free space on that disk, or move the store's files (`{self._path}*`) to another "
                "disk while no assay runs, and specify it with --db PATH or ASSAY_DB."
                + (" Then continue with `assay study resume`." if self._holds_study() else ""),
            )
        if code == sqlite3.SQLITE_IOERR:
            name = getattr(error, "sqlite_errorname", "SQLITE_IOERR")
            return StoreUnusableError(
                f"{store} could not be read or written ({name}); samples stored before are kept.",
                "Check free space, quotas, the file size limit (`ulimit -f`) and disk errors "
                "(`dmesg`). " + _OTHER_STORE_REMEDY,
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
            return StoreUnusableError(
                f"No permission to write {self._path} or its directory ({error}).",
                f"Check `ls -ld {self._path.parent} {self._path}*`. " + _OTHER_STORE_REMEDY,
            )
        if code == sqlite3.SQLITE_CANTOPEN:
            return StoreUnusableError(
                f"{store} cannot be opened.",
                f"Check `ls -ld {self._path.parent} {self._path}*`. " + _OTHER_STORE_REMEDY,
            )
        return StoreUnusableError(f"{store} cannot be used: {error}.", _OTHER_STORE_REMEDY)

    def _damaged(self, how: str) -> StoreUnusableError:
        return StoreUnusableError(
            f"The store {self._path} is damaged: {how}.",
            "Make a copy, then recover the readable part: "
            f"`sqlite3 {self._path} .recover | sqlite3 NEW.db`, and use --db NEW.db.",
        )


def _bring_to_head(engine: Engine, path: Path, busy_timeout_s: float) -> None:
    with engine.connect() as connection:
        revision = revision_of(connection, str(path))
    if revision == HEAD:
        return
    if revision is None:
        with writing_engine(engine).begin() as connection:
            # Another process may have created it meanwhile.
            if revision_of(connection, str(path)) is None:
                create(connection)
        return
    migrating = sqlite_engine(path, busy_timeout_s, migrating=True)
    with writing_engine(migrating).begin() as connection:
        if revision in RENAMING:
            with closing(StudyLocks(lock_file(path), path)) as locks:
                demand_idle(connection, locks, str(path))
        upgrade(connection)
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise NotPossibleError(
                f"The upgrade of the store {path} failed: rows of {broken[0]!r} would lose their "
                "parent rows. The store is unchanged.",
                "Use the version of assay that wrote it. " + _OTHER_STORE_REMEDY,
            )


def _set_wal(connection: Any, busy_timeout_s: float) -> None:
    # The change to WAL mode does not wait for locks by itself.
    end = time.monotonic() + busy_timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= end:
                raise
            time.sleep(_RETRY_S)
