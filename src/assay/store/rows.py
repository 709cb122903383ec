"""Rows: conversion between table rows and records."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Dialect, Table, func, insert, select

from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Conclusion, Plan, Sample, SampleDecoder, Stratum, decode, encode
from assay.store.ids import new_id
from assay.store.schema import PLAN, SAMPLE, STRATUM, STUDY

T = TypeVar("T")
E = TypeVar("E", bound=enum.Enum)
Row = Any
"""Row of ``STUDY``; SQLAlchemy 2.0 and 2.1 type it differently."""

LAUNCHES = (
    select(func.count())
    .select_from(SAMPLE)
    .where(SAMPLE.c.study == STUDY.c.id)
    .scalar_subquery()
    .label("launches")
)


def encode_checked(record: T, kind: type[T]) -> str:
    """Return the JSON text of a record after verifying that it can be decoded."""
    document = encode(record).decode()
    decode(document, kind)
    return document


def escape_undecodable(text: str) -> str:
    """Escape bytes that are not UTF-8, which columns reject."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def decode_stored(document: str, kind: type[T], study_id: str) -> T:
    """Return the record of a stored document.

    Raises:
        NotPossibleError: the document is unreadable.
    """
    try:
        return decode(document, kind)
    except InvalidInputError as error:
        raise _unreadable(study_id, error.cause) from error


def sample_reader(study_id: str) -> Callable[[str], Sample]:
    """Return a function that decodes stored samples of a study, with shared equal parts.

    The function raises ``NotPossibleError`` for an unreadable document.
    """
    decoder = SampleDecoder()

    def read(document: str) -> Sample:
        try:
            return decoder.decode(document)
        except InvalidInputError as error:
            raise _unreadable(study_id, error.cause) from error

    return read


def enum_member(kind: type[E], text: str, study_id: str) -> E:
    """Return the member of an enumeration for the value of a column.

    Raises:
        NotPossibleError: unknown value.
    """
    try:
        return kind(text)
    except ValueError as error:
        raise _unreadable(study_id, f"unknown {kind.__name__.lower()} {text!r}.") from error


def _unreadable(study_id: str, how: str) -> NotPossibleError:
    return NotPossibleError(
        f"Cannot read study {study_id}: {how}",
        "The store is damaged, or a newer assay wrote the study. Nothing was changed.",
    )


def unused_id(connection: Connection) -> str:
    """Return a new id."""
    while True:
        study_id = new_id()
        query = select(STUDY.c.number).where(STUDY.c.id == study_id)
        if connection.execute(query).first() is None:
            return study_id


def insert_stratum(connection: Connection, study_id: str, stratum: Stratum) -> None:
    """Insert a stratum."""
    row = {
        "study": study_id,
        "number": stratum.number,
        "machine": stratum.machine,
        "assay_version": stratum.assay_version,
        "document": encode_checked(stratum, Stratum),
    }
    connection.execute(insert(STRATUM), row)


def insert_plan(connection: Connection, study_id: str, stratum_number: int, plan: Plan) -> None:
    """Insert a plan."""
    row = {
        "study": study_id,
        "stratum": stratum_number,
        "configuration": plan.configuration.digest,
        "document": encode_checked(plan, Plan),
    }
    connection.execute(insert(PLAN), row)


def study_row(connection: Connection, study_id: str) -> Row:
    """Return the row of a study with the number of its launches.

    Raises:
        InvalidInputError: unknown study.
    """
    row = connection.execute(select(STUDY, LAUNCHES).where(STUDY.c.id == study_id)).first()
    if row is None:
        raise InvalidInputError(
            f"Unknown study {study_id!r}.", "`assay study list` lists all studies."
        )
    return row


def strata_of(connection: Connection, study_id: str) -> list[Stratum]:
    """Return the strata of a study in order of their numbers."""
    query = select(STRATUM.c.document).where(STRATUM.c.study == study_id)
    documents = connection.execute(query.order_by(STRATUM.c.number)).scalars()
    return [decode_stored(document, Stratum, study_id) for document in documents]


def conclusion_of(row: Row) -> Conclusion | None:
    """Return the conclusion in the row of a study, or ``None``."""
    if row.conclusion is None:
        return None
    return decode_stored(row.conclusion, Conclusion, row.id)


class Insertion:
    """Precompiled INSERT statement for rows that are written between launches.

    SQLAlchemy compiles it more slowly than SQLite executes it.

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
        values = tuple(row[name] for name in self._order)
        return connection.exec_driver_sql(self._text, values).lastrowid


def inserted_number(primary_key: Any) -> int:
    """Return the number of an inserted row."""
    number: int = primary_key[0]
    return number
