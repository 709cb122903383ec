"""Packed documents of a stratum in the database."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select

from assay.store.packing import Packed, Packer, Unpacker
from assay.store.rows import Row
from assay.store.schema import DICTIONARY
from assay.store.unreadable import reading_packed


class DocumentKind(enum.StrEnum):
    """Kind of packed documents, which share references within a stratum."""

    SAMPLE = "sample"
    OUTPUT = "output"


class PackedDocuments:
    """Writer of packed documents of one kind and stratum.

    After a failed transaction it must not be used again: references that it considers stored may
    not be.

    Args:
        connection: connection to the database.
        study_id: id of the study.
        stratum_number: number of the stratum.
        kind: kind of the documents.
    """

    def __init__(
        self, connection: Connection, study_id: str, stratum_number: int, kind: DocumentKind
    ) -> None:
        self._place = {"study": study_id, "stratum": stratum_number, "kind": kind.value}
        with reading_packed(study_id):
            unpacker = Unpacker(_references(connection, study_id, stratum_number, kind))
        self._packer = Packer(unpacker.references)

    def columns(self, connection: Connection, document: bytes) -> dict[str, Any]:
        """Return the columns of a row for its document; insert a new reference."""
        packed = self._packer.pack(document)
        if packed.reference is not None:
            row = {"number": packed.dictionary, "content": packed.reference}
            connection.execute(insert(DICTIONARY), {**self._place, **row})
        return document_columns(packed)


def document_columns(packed: Packed) -> dict[str, Any]:
    """Return the columns of a row for its packed document."""
    return {"document": "", "content": packed.content, "dictionary": packed.dictionary}


class DocumentReader:
    """Reader of documents of one study and kind, packed or in text.

    It belongs to one transaction: another process may replace the references between two.

    Args:
        connection: connection in the transaction that reads the rows.
        study_id: id of the study.
        kind: kind of the documents.
    """

    def __init__(self, connection: Connection, study_id: str, kind: DocumentKind) -> None:
        self._connection = connection
        self._study_id = study_id
        self._kind = kind
        self._unpackers: dict[int, Unpacker] = {}

    def documents(self, rows: Sequence[Row], strata: Iterable[int]) -> list[str | bytes]:
        """Return the documents of rows.

        Args:
            rows: rows with the columns of documents.
            strata: number of the stratum of each row.

        Raises:
            NotPossibleError: a document is damaged.
        """
        with reading_packed(self._study_id):
            return list(map(self._document, rows, strata))

    def _document(self, row: Row, stratum_number: int) -> str | bytes:
        if row.content is None:
            text: str = row.document
            return text
        unpacker = self._unpackers.get(stratum_number)
        if unpacker is None:
            unpacker = self._unpackers[stratum_number] = unpacker_of(
                self._connection, self._study_id, stratum_number, self._kind
            )
        return unpacker.unpack(row.content, row.dictionary)


def unpacker_of(
    connection: Connection,
    study_id: str,
    stratum_number: int,
    kind: DocumentKind,
    known: Unpacker | None = None,
) -> Unpacker:
    """Return the unpacker of the documents of a stratum.

    It belongs to the transaction that reads the documents, as ``DocumentReader``.

    Args:
        connection: connection in the transaction.
        study_id, stratum_number, kind: study, stratum and kind of the documents.
        known: unpacker of an earlier transaction, which is returned if it has the same references.

    Raises:
        NotPossibleError: a reference is damaged.
    """
    references = tuple(_references(connection, study_id, stratum_number, kind))
    if known is not None and known.packed == references:
        return known
    with reading_packed(study_id):
        return Unpacker(references)


def _references(
    connection: Connection, study_id: str, stratum_number: int, kind: DocumentKind
) -> Sequence[bytes]:
    query = select(DICTIONARY.c.content).where(
        DICTIONARY.c.study == study_id,
        DICTIONARY.c.stratum == stratum_number,
        DICTIONARY.c.kind == kind.value,
    )
    return connection.execute(query.order_by(DICTIONARY.c.number)).scalars().all()
