"""Schema of a database: detection, creation and upgrade.

Alembic is only imported for an upgrade (it takes 300 ms).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, insert, inspect, select

from assay import __version__
from assay.errors import NotPossibleError
from assay.store.revisions import HEAD, REVISIONS, VERSION_TABLE
from assay.store.schema import METADATA, STUDY, VERSION
from assay.store.study_locks import StudyLocks

MIGRATIONS = Path(__file__).parent / "migrations"
PROGRESS_PERIOD_S = 10.0
"""Time between two lines on the progress of an upgrade, in seconds."""


def revision_of(connection: Connection, name: str) -> str | None:
    """Return the schema of a database; ``None`` for an empty one.

    Args:
        connection: connection to the database.
        name: name of the store, for messages.

    Raises:
        NotPossibleError: a database of another program, or an unknown schema.
    """
    inspector = inspect(connection)
    if not inspector.has_table(VERSION_TABLE):
        if inspector.get_table_names():
            raise NotPossibleError(
                f"{name} is a database of another program.",
                "Specify another file with --db PATH or ASSAY_DB.",
            )
        return None
    revision: str | None = connection.execute(select(VERSION.c.version_num)).scalar()
    if revision not in REVISIONS:
        raise NotPossibleError(
            f"The store {name} has schema {revision}; assay {__version__} supports schemas up to "
            f"{HEAD}.",
            "Use the newer assay that wrote it, or another store with --db PATH or ASSAY_DB.",
        )
    return revision


def create(connection: Connection) -> None:
    """Create all tables at the newest schema; the caller commits."""
    METADATA.create_all(connection)
    connection.execute(insert(VERSION), {"version_num": HEAD})


def demand_idle(connection: Connection, locks: StudyLocks, name: str) -> None:
    """Raise an error if a study runs, which an older assay could not continue after an upgrade.

    Args:
        connection: connection in the transaction of the upgrade, so that no study can begin.
        locks: locks of the studies.
        name: name of the store, for messages.

    Raises:
        NotPossibleError: a study runs.
    """
    studies = connection.execute(select(STUDY.c.number, STUDY.c.id, STUDY.c.owner_pid)).all()
    for row in studies:
        if locks.is_locked(row.number):
            raise NotPossibleError(
                f"The store {name} must be upgraded, but study {row.id} runs in an older assay "
                f"({row.owner_pid}), which could store no further sample. Nothing was changed.",
                "Wait for its end, or stop it with Ctrl-C or `kill`; stored samples are kept. Or "
                "specify another store with --db PATH or ASSAY_DB.",
            )


def upgrade(connection: Connection) -> None:
    """Run the missing revisions; the caller commits or rolls back.

    Revisions before 0005 rewrite all documents, 0.3 ms for each launch. The log then shows the
    progress, which Python prints on standard error unless the log is configured.
    """
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["progress"] = _logged_progress()
    command.upgrade(config, "head")


def _logged_progress() -> Callable[[str, int, int], None]:
    """Return a function that logs a table, and its number of changed rows of all, now and then."""
    shown_s = time.monotonic()

    def log(table: str, done: int, total: int) -> None:
        nonlocal shown_s
        now_s = time.monotonic()
        if now_s - shown_s >= PROGRESS_PERIOD_S:
            shown_s = now_s
            text = "assay: upgrade of the store: %s of %s rows of the table %s"
            logging.getLogger(__name__).warning(text, f"{done:,}", f"{total:,}", table)

    return log
