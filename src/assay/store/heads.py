"""Heads of studies: one query for a list, with the driver of SQLite alone.

To import SQLAlchemy takes longer than to list 10,000 studies. The tables are those of
``assay.store.schema``. No query reads samples or all studies.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from assay.records import Kind, Status
from assay.store.base import StudyHead, StudySelection
from assay.store.column_text import escape_undecodable
from assay.store.revisions import HEAD, VERSION_TABLE
from assay.store.study_locks import StudyLocks, lock_file
from assay.store.unreadable import enum_member

_SELECT = """
SELECT study.number, study.id, study.command, study.kind, study.status, study.created_at,
    coalesce(
        study.launches, (SELECT count(*) FROM sample WHERE sample.study = study.id)
    ) AS launches,
    (SELECT group_concat(label.label, char(10)) FROM label WHERE label.study = study.id) AS labels
FROM study
"""
_CONDITIONS = {
    "labels": """study.id IN (
        SELECT label.study FROM label WHERE label.label IN (SELECT value FROM json_each(:labels))
        GROUP BY label.study
        HAVING count(*) = (SELECT count(DISTINCT value) FROM json_each(:labels))
    )""",
    "command": "instr(study.command, :command) > 0",
    "kinds": "study.kind IN (SELECT value FROM json_each(:kinds))",
    "since": "study.created_at >= :since",
    "before": "study.created_at < :before",
    # Strata of schema 0004 and older state the processor in their document only.
    "machine": """study.id IN (
        SELECT stratum.study FROM stratum
        WHERE substr(stratum.machine, 1, length(:machine)) = :machine OR instr(
            lower(coalesce(stratum.model, json_extract(stratum.document, '$.model'))), :model
        ) > 0
    )""",
}
"""Condition of each field of a selection."""
STATUS_QUERY = "SELECT status FROM study WHERE number = :number"

StatusReader = Callable[[int], str | None]
"""Function that reads the status of a study by its number; ``None`` if it was deleted."""


class HeadRow(NamedTuple):
    """Row of the query of ``head_query``.

    Attributes:
        number: number of the study, which is that of its lock.
        id, command, kind, status, created_at, launches: see ``StudyHead``.
        labels: labels, one in a line; ``None`` without any.
    """

    number: int
    id: str
    command: str
    kind: str
    status: str
    created_at: float
    launches: int
    labels: str | None


def head_query(selection: StudySelection) -> tuple[str, dict[str, Any]]:
    """Return the query of the selected studies, the newest first, and its parameters."""
    given = {name: value for name in _CONDITIONS if (value := getattr(selection, name)) is not None}
    where = " AND ".join(_CONDITIONS[name] for name in given)
    if selection.command is not None:
        given["command"] = escape_undecodable(selection.command)
    given |= {name: json.dumps(given[name]) for name in ("kinds", "labels") if name in given}
    if selection.machine is not None:
        given["model"] = selection.machine.lower()
    query = f"{_SELECT}{f'WHERE {where} ' if where else ''}"
    query += "ORDER BY study.created_at DESC, study.number DESC"
    if selection.limit is not None:
        given["limit"] = selection.limit
        query += " LIMIT :limit"
    return query, given


def heads_of(
    rows: Iterable[Iterable[Any]], locks: StudyLocks, read_status: StatusReader
) -> list[StudyHead]:
    """Return the studies of the rows of ``head_query``, the oldest first.

    Args:
        rows: rows of the query.
        locks: locks of the studies.
        read_status: reads the present status of a study.
    """
    found = [_head(HeadRow(*row), locks, read_status) for row in rows]
    return found[::-1]


def read_heads(path: Path, selection: StudySelection) -> list[StudyHead] | None:
    """Return the selected studies of a database, the oldest first.

    Args:
        path: database file.
        selection: conditions on the studies.

    Returns:
        ``None`` if ``open_sqlite`` has to create or upgrade the database, to wait for it, or to
        explain why it cannot be read.

    Raises:
        NotPossibleError: a column has an unknown value, or the lock file cannot be opened.
    """
    try:
        with closing(_connected(path)) as connection:
            revision = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
            if revision != (HEAD,):
                return None
            rows = connection.execute(*head_query(selection)).fetchall()

            def read_status(number: int) -> str | None:
                found = connection.execute(STATUS_QUERY, {"number": number}).fetchone()
                return None if found is None else found[0]

            with closing(StudyLocks(lock_file(path), path)) as locks:
                return heads_of(rows, locks, read_status)
    except sqlite3.Error:
        return None


def status_of(row: Any, locks: StudyLocks, read_status: StatusReader) -> Status:
    """Return the status of a study; one whose process has exited is interrupted.

    Args:
        row: row with the columns ``number``, ``id`` and ``status``.
        locks: locks of the studies.
        read_status: reads the present status of a study.
    """
    status = enum_member(Status, row.status, row.id)
    if status is not Status.RUNNING or locks.is_locked(row.number):
        return status
    # A study that ended since the row was read stored its status before it released its lock.
    status = enum_member(Status, read_status(row.number) or row.status, row.id)
    return Status.INTERRUPTED if status is Status.RUNNING else status


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=0.0, isolation_level=None)


def _head(row: HeadRow, locks: StudyLocks, read_status: StatusReader) -> StudyHead:
    return StudyHead(
        id=row.id,
        command=row.command,
        kind=enum_member(Kind, row.kind, row.id),
        status=status_of(row, locks, read_status),
        launches=row.launches,
        created_at=row.created_at,
        labels=tuple(sorted(row.labels.split("\n"))) if row.labels else (),
    )
