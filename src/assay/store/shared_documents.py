"""Strata: their documents are stored once for equal content, for all studies of the store."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, insert, select

from assay.records import Kind, Stratum, StudySpec, encode
from assay.store.base import StoredStratum
from assay.store.packing import deflated, inflated
from assay.store.rows import LAUNCHES, Row, decode_stored, encode_checked, inserted_number
from assay.store.schema import SHARED_DOCUMENT, STRATUM, STUDY
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
    return list(map(StratumReader(connection).stratum, rows))


def strata_of_machines(
    connection: Connection, machines: Collection[str], kind: Kind
) -> list[StoredStratum]:
    """Return the strata of some machines, and those of all studies of a kind, oldest first."""
    study = (STUDY.c.spec, STUDY.c.created_at, STUDY.c.elapsed_s, LAUNCHES)
    query = select(*STRATUM.columns, *study).join(STUDY, STUDY.c.id == STRATUM.c.study)
    query = query.where(STRATUM.c.machine.in_(machines) | (STUDY.c.kind == kind.value))
    query = query.order_by(STUDY.c.created_at, STUDY.c.number, STRATUM.c.number)
    reader = StratumReader(connection)
    specs: dict[str, StudySpec] = {}
    found = []
    for row in connection.execute(query):
        spec = specs.get(row.spec)
        if spec is None:
            spec = specs[row.spec] = decode_stored(row.spec, StudySpec, row.study)
        found.append(
            StoredStratum(
                study=row.study,
                spec=spec,
                stratum=reader.stratum(row),
                created_at=row.created_at,
                elapsed_s=row.elapsed_s,
                launches=row.launches,
            )
        )
    return found


class StratumReader:
    """Reader of strata that decodes each shared document once.

    Args:
        connection: connection to the database.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._conditions: dict[int, Stratum] = {}
        self._hosts: dict[int, dict[str, Any]] = {}

    def stratum(self, row: Row) -> Stratum:
        """Return the stratum of a row of ``STRATUM``; equal hosts are one object."""
        if row.conditions is None:
            return decode_stored(row.document, Stratum, row.study)
        conditions = self._conditions.get(row.conditions)
        if conditions is None:
            document = _document(self._connection, row.conditions, row.study)
            conditions = decode_stored(document, Stratum, row.study)
            self._conditions[row.conditions] = conditions
        host = self._hosts.get(row.host)
        if host is None:
            document = _document(self._connection, row.host, row.study)
            host = decode_stored(document, dict[str, Any], row.study)
            self._hosts[row.host] = host
        return msgspec.structs.replace(conditions, number=row.number, host=host)


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
