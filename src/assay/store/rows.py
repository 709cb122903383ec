"""Rows: the tables of a store as records, and records as rows."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Dialect, Table, func, insert, select

from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Conclusion, Plan, Stratum, decode, encode
from assay.store.ids import new_id
from assay.store.schema import PLAN, SAMPLE, STRATUM, STUDY

T = TypeVar("T")
E = TypeVar("E", bound=enum.Enum)
Row = Any
"""A row of ``STUDY``; SQLAlchemy 2.0 and 2.1 differ in how they type one."""

LAUNCHES = (
    select(func.count())
    .select_from(SAMPLE)
    .where(SAMPLE.c.study == STUDY.c.id)
    .scalar_subquery()
    .label("launches")
)


def encode_checked(record: T, kind: type[T]) -> str:
    """The JSON text of a record, which is sure to be read again."""
    document = encode(record).decode()
    decode(document, kind)
    return document


def escape_undecodable(text: str) -> str:
    """Return a text with bytes that are not UTF-8 as escapes: a column takes no other."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def decode_stored(document: str, kind: type[T], study_id: str) -> T:
    """The record that a document holds.

    Raises:
        NotPossibleError: it cannot be read.
    """
    try:
        return decode(document, kind)
    except InvalidInputError as error:
        raise _unreadable(study_id, error.cause) from error


def enum_member(kind: type[E], text: str, study_id: str) -> E:
    """The member of an enumeration that a column names.

    Raises:
        NotPossibleError: there is none.
    """
    try:
        return kind(text)
    except ValueError as error:
        raise _unreadable(study_id, f"{text!r} is no {kind.__name__.lower()}.") from error


def _unreadable(study_id: str, how: str) -> NotPossibleError:
    return NotPossibleError(
        f"Study {study_id} cannot be read: {how}",
        "The store is damaged, or a newer assay wrote this; nothing was changed.",
    )


def unused_id(connection: Connection) -> str:
    """An id that no study has yet."""
    while True:
        study_id = new_id()
        query = select(STUDY.c.number).where(STUDY.c.id == study_id)
        if connection.execute(query).first() is None:
            return study_id


def insert_stratum(connection: Connection, study_id: str, stratum: Stratum) -> None:
    """A row for a stratum."""
    row = {
        "study": study_id,
        "number": stratum.number,
        "machine": stratum.machine,
        "engine": stratum.engine,
        "document": encode_checked(stratum, Stratum),
    }
    connection.execute(insert(STRATUM), row)


def insert_plan(connection: Connection, study_id: str, stratum_number: int, plan: Plan) -> None:
    """A row for a plan."""
    row = {
        "study": study_id,
        "stratum": stratum_number,
        "configuration": plan.configuration.digest,
        "document": encode_checked(plan, Plan),
    }
    connection.execute(insert(PLAN), row)


def study_row(connection: Connection, study_id: str) -> Row:
    """The row of a study, with the number of its launches.

    Raises:
        InvalidInputError: there is no such study.
    """
    row = connection.execute(select(STUDY, LAUNCHES).where(STUDY.c.id == study_id)).first()
    if row is None:
        raise InvalidInputError(f"There is no study {study_id!r}.", "`assay study list` shows all.")
    return row


def strata_of(connection: Connection, study_id: str) -> list[Stratum]:
    """The strata of a study by number."""
    query = select(STRATUM.c.document).where(STRATUM.c.study == study_id)
    documents = connection.execute(query.order_by(STRATUM.c.number)).scalars()
    return [decode_stored(document, Stratum, study_id) for document in documents]


def conclusion_of(row: Row) -> Conclusion | None:
    """The verdict document in the row of a study, if there is one."""
    if row.conclusion is None:
        return None
    return decode_stored(row.conclusion, Conclusion, row.id)


class Insertion:
    """An INSERT whose text is made once, for rows that are written between launches.

    To work it out anew takes SQLAlchemy longer than SQLite takes to carry it out.

    Args:
        table: where to.
        columns: of it, which every row gives.
        dialect: of the database.
    """

    def __init__(self, table: Table, columns: Sequence[str], dialect: Dialect) -> None:
        compiled = insert(table).compile(dialect=dialect, column_keys=list(columns))
        self._text = str(compiled)
        self._order = tuple(compiled.positiontup or columns)

    def carry_out(self, connection: Connection, row: Mapping[str, Any]) -> int:
        """Insert a row, and tell its number."""
        values = tuple(row[name] for name in self._order)
        return connection.exec_driver_sql(self._text, values).lastrowid


def inserted_number(primary_key: Any) -> int:
    """The number of a row that was inserted."""
    number: int = primary_key[0]
    return number
