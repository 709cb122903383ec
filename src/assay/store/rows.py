"""Rows: conversion between table rows and records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Dialect, Table, func, insert, select

from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Conclusion, Plan, decode, encode
from assay.store.ids import new_id
from assay.store.packing import inflated
from assay.store.schema import PLAN, SAMPLE, STUDY, VERDICT
from assay.store.unreadable import reading_packed, unreadable_error

T = TypeVar("T")
Row = Any
"""Row of a table; SQLAlchemy 2.0 and 2.1 type it differently."""

COUNTED_SAMPLES = (
    select(func.count()).select_from(SAMPLE).where(SAMPLE.c.study == STUDY.c.id).scalar_subquery()
)
LAUNCHES = func.coalesce(STUDY.c.launches, COUNTED_SAMPLES).label("launches")
"""Number of samples; counted, in an index, only where the row of the study does not state it."""


def encode_checked(record: T, kind: type[T]) -> bytes:
    """Return the JSON document of a record after verifying that it can be decoded."""
    document = encode(record)
    decode(document, kind)
    return document


def decode_stored(document: str | bytes, kind: type[T], study_id: str) -> T:
    """Return the record of a stored document.

    Raises:
        NotPossibleError: the document is unreadable.
    """
    try:
        return decode(document, kind)
    except InvalidInputError as error:
        raise unreadable_error(study_id, error.cause) from error


def sample_reader(study_id: str, decode: Callable[[bytes | str], T]) -> Callable[[bytes | str], T]:
    """Return a decoder of stored samples of a study.

    Args:
        study_id: id of the study.
        decode: decoder that raises ``InvalidInputError`` for an invalid document. The returned one
            raises ``NotPossibleError``.
    """

    def read(document: bytes | str) -> T:
        try:
            return decode(document)
        except InvalidInputError as error:
            raise unreadable_error(study_id, error.cause) from error

    return read


def deleted_samples_error(study_id: str) -> NotPossibleError:
    """Return the error for samples that were deleted while a study was read."""
    return NotPossibleError(
        f"Samples of study {study_id} were deleted while it was read.", "Start the command again."
    )


def unused_id(connection: Connection) -> str:
    """Return a new id."""
    while True:
        study_id = new_id()
        query = select(STUDY.c.number).where(STUDY.c.id == study_id)
        if connection.execute(query).first() is None:
            return study_id


def insert_plan(connection: Connection, study_id: str, stratum_number: int, plan: Plan) -> None:
    """Insert a plan."""
    row = {
        "study": study_id,
        "stratum": stratum_number,
        "configuration": plan.configuration.digest,
        "document": encode_checked(plan, Plan).decode(),
    }
    connection.execute(insert(PLAN), row)


def study_row(connection: Connection, study_id: str) -> Row:
    """Return the row of a study with the number of its launches.

    Raises:
        InvalidInputError: unknown study.
    """
    columns = [column for column in STUDY.columns if column is not STUDY.c.launches]
    row = connection.execute(select(*columns, LAUNCHES).where(STUDY.c.id == study_id)).first()
    if row is None:
        raise InvalidInputError(
            f"Unknown study {study_id!r}.", "`assay study list` lists all studies."
        )
    return row


def newest_conclusion(connection: Connection, row: Row) -> Conclusion | None:
    """Return the newest conclusion of a study, or ``None``.

    Args:
        connection: connection to the database.
        row: row of the study; before schema 0005 it duplicated the conclusion.
    """
    if row.conclusion is not None:
        return decode_stored(row.conclusion, Conclusion, row.id)
    query = select(VERDICT).where(VERDICT.c.study == row.id)
    newest = connection.execute(query.order_by(VERDICT.c.stratum.desc()).limit(1)).first()
    return None if newest is None else conclusion_of(newest, row.id)


def conclusion_of(row: Row, study_id: str) -> Conclusion:
    """Return the conclusion in a row of ``VERDICT``."""
    if row.content is None:
        return decode_stored(row.document, Conclusion, study_id)
    with reading_packed(study_id):
        document = inflated(row.content)
    return decode_stored(document, Conclusion, study_id)


class Insertion:
    """Precompiled INSERT statement for rows that are written between launches.

    SQLAlchemy compiles and runs it more slowly than SQLite executes it. The driver runs it, and
    raises the errors.

    Args:
        table: target table.
        columns: columns that every row specifies.
        dialect: dialect of the database.
    """

    def __init__(self, table: Table, columns: Sequence[str], dialect: Dialect) -> None:
        compiled = insert(table).compile(dialect=dialect, column_keys=list(columns))
        self._text = str(compiled)
        self._order = tuple(compiled.positiontup or columns)

    def execute(self, connection: Connection, row: Mapping[str, Any]) -> int:
        """Insert a row and return its number."""
        cursor = connection.connection.cursor()
        cursor.execute(self._text, tuple(row[name] for name in self._order))
        number: int = cursor.lastrowid
        return number


def inserted_number(primary_key: Any) -> int:
    """Return the number of an inserted row."""
    number: int = primary_key[0]
    return number
