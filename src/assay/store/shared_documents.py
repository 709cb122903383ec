"""Strata: their documents are stored once for equal content, for all studies of the store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, insert, select

from assay.records import Stratum, encode
from assay.store.packing import deflated, inflated
from assay.store.rows import Row, decode_stored, encode_checked, inserted_number
from assay.store.schema import SHARED_DOCUMENT, STRATUM
from assay.store.unreadable import reading_packed


def insert_stratum(connection: Connection, study_id: str, stratum: Stratum) -> None:
    """Insert a stratum."""
    row = {"study": study_id, "number": stratum.number, "machine": stratum.machine}
    row |= {"assay_version": stratum.assay_version, **shared_columns(connection, stratum)}
    connection.execute(insert(STRATUM), row)


def shared_columns(connection: Connection, stratum: Stratum) -> dict[str, Any]:
    """Return the columns of a stratum for its documents; insert these if they are new.

    The host is a document of its own: it is the largest part, and differs less often.
    """
    encode_checked(stratum, Stratum)
    conditions = msgspec.structs.replace(stratum, number=0, host={})
    return {
        "document": "",
        "model": stratum.model,
        "conditions": _number_of(connection, encode(conditions)),
        "host": _number_of(connection, encode(stratum.host)),
    }


def strata_of(connection: Connection, study_id: str) -> list[Stratum]:
    """Return the strata of a study in order of their numbers."""
    rows = connection.execute(
        select(STRATUM).where(STRATUM.c.study == study_id).order_by(STRATUM.c.number)
    ).all()
    return [stratum_of(connection, row) for row in rows]


def stratum_of(connection: Connection, row: Row) -> Stratum:
    """Return the stratum of a row."""
    if row.conditions is None:
        return decode_stored(row.document, Stratum, row.study)
    stratum = decode_stored(_document(connection, row.conditions, row.study), Stratum, row.study)
    host = decode_stored(_document(connection, row.host, row.study), dict[str, Any], row.study)
    return msgspec.structs.replace(stratum, number=row.number, host=host)


def document_numbers(connection: Connection, study_id: str) -> set[int]:
    """Return the numbers of the shared documents of a study."""
    rows = connection.execute(
        select(STRATUM.c.conditions, STRATUM.c.host).where(STRATUM.c.study == study_id)
    ).all()
    return {number for row in rows for number in row if number is not None}


def delete_unused(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete those of some shared documents that no stratum refers to."""
    used = select(STRATUM.c.study).where(
        (STRATUM.c.conditions == SHARED_DOCUMENT.c.number)
        | (STRATUM.c.host == SHARED_DOCUMENT.c.number)
    )
    these = SHARED_DOCUMENT.c.number.in_(numbers)
    connection.execute(delete(SHARED_DOCUMENT).where(these, ~used.exists()))


def _number_of(connection: Connection, document: bytes) -> int:
    digest = hashlib.sha256(document).digest()
    query = select(SHARED_DOCUMENT.c.number).where(SHARED_DOCUMENT.c.digest == digest)
    number = connection.execute(query).scalar()
    if number is None:
        row = {"digest": digest, "content": deflated(document)}
        added = connection.execute(insert(SHARED_DOCUMENT), row)
        number = inserted_number(added.inserted_primary_key)
    return number


def _document(connection: Connection, number: int, study_id: str) -> bytes:
    query = select(SHARED_DOCUMENT.c.content).where(SHARED_DOCUMENT.c.number == number)
    content = connection.execute(query).scalar()
    with reading_packed(study_id):
        if content is None:
            raise LookupError(f"document {number} of a stratum is missing")
        return inflated(content)
