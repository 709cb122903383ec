"""Compaction: documents in text, as assay wrote them up to schema 0004, are packed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from assay.records import Stratum
from assay.store.dictionaries import DocumentKind, PackedDocuments
from assay.store.packing import deflated
from assay.store.rows import COUNTED_SAMPLES, Row, decode_stored
from assay.store.schema import OUTPUT, SAMPLE, STRATUM, STUDY, VERDICT
from assay.store.shared_documents import shared_columns

_BATCH = 256
"""Samples of a transaction: it takes some 10 ms, for which a running study waits."""
UNUSED_COLUMNS = {"machine": "", "node": "", "launcher_version": ""}
"""Columns of a sample that no query reads, since schema 0005: its stratum and its document have
these values."""


def pack_study(writer: Engine, study_id: str) -> Iterator[int]:
    """Pack the documents of a study; yield the number of packed samples of each transaction.

    Each transaction leaves a complete study, so that an interrupted compaction continues later.

    Args:
        writer: engine for write transactions.
        study_id: id of a study that no other process writes to.

    Raises:
        NotPossibleError: an unreadable document.
    """
    with writer.begin() as connection:
        _pack_strata(connection, study_id)
        _pack_verdicts(connection, study_id)
        this_study = update(STUDY).where(STUDY.c.id == study_id)
        connection.execute(this_study.values(launches=COUNTED_SAMPLES))
        query = select(STRATUM.c.number).where(STRATUM.c.study == study_id)
        strata = connection.execute(query).scalars().all()
    for stratum_number in strata:
        while count := _pack_batch(writer, study_id, stratum_number):
            yield count


def _pack_batch(writer: Engine, study_id: str, stratum_number: int) -> int:
    """Pack some samples in text and their outputs; return their number."""
    of_stratum = (SAMPLE.c.study == study_id, SAMPLE.c.stratum == stratum_number)
    query = select(SAMPLE).where(*of_stratum, SAMPLE.c.content.is_(None))
    with writer.begin() as connection:
        rows = connection.execute(query.order_by(SAMPLE.c.number).limit(_BATCH)).all()
        if not rows:
            return 0
        query = select(OUTPUT).where(OUTPUT.c.sample.in_([row.number for row in rows]))
        outputs = connection.execute(query.order_by(OUTPUT.c.sample)).all()
        samples = PackedDocuments(connection, study_id, stratum_number, DocumentKind.SAMPLE)
        packed = [{**_packed(connection, samples, row), **UNUSED_COLUMNS} for row in rows]
        streams = PackedDocuments(connection, study_id, stratum_number, DocumentKind.OUTPUT)
        rewrite_samples(
            connection, packed, [_packed(connection, streams, output) for output in outputs]
        )
    return len(rows)


def _packed(connection: Connection, packer: PackedDocuments, row: Row) -> dict[str, Any]:
    """Return the columns of a row with its document packed."""
    columns = dict(row._mapping)
    if row.content is not None:
        return columns
    return columns | packer.columns(connection, row.document.encode())


def rewrite_samples(
    connection: Connection,
    samples: Sequence[dict[str, Any]],
    outputs: Sequence[dict[str, Any]] = (),
) -> None:
    """Replace rows of samples and of their outputs by smaller ones.

    They are deleted and inserted, not updated: SQLite merges pages only where rows are deleted
    (``sqlite3BtreeDelete``), and uses no space within a page for samples that are added later.

    Args:
        connection: connection to the database.
        samples: all columns of the samples, in order of their numbers.
        outputs: all columns of their outputs; the others are deleted.
    """
    numbers = [row["number"] for row in samples]
    connection.execute(delete(OUTPUT).where(OUTPUT.c.sample.in_(numbers)))
    connection.execute(delete(SAMPLE).where(SAMPLE.c.number.in_(numbers)))
    connection.execute(insert(SAMPLE), samples)
    if outputs:
        connection.execute(insert(OUTPUT), outputs)


def _pack_strata(connection: Connection, study_id: str) -> None:
    plain = select(STRATUM).where(STRATUM.c.study == study_id, STRATUM.c.conditions.is_(None))
    for row in connection.execute(plain).all():
        stratum = decode_stored(row.document, Stratum, study_id)
        this_stratum = (STRATUM.c.study == study_id) & (STRATUM.c.number == row.number)
        columns = shared_columns(connection, stratum)
        connection.execute(update(STRATUM).where(this_stratum).values(**columns))


def _pack_verdicts(connection: Connection, study_id: str) -> None:
    """Pack the conclusions, and drop the copy of the newest one in the row of the study."""
    of_study = VERDICT.c.study == study_id
    newest = select(func.max(VERDICT.c.stratum)).where(of_study).scalar_subquery()
    document = select(VERDICT.c.document).where(of_study, VERDICT.c.stratum == newest)
    is_copy = (STUDY.c.id == study_id) & (STUDY.c.conclusion == document.scalar_subquery())
    connection.execute(update(STUDY).where(is_copy).values(conclusion=None))
    plain = select(VERDICT).where(of_study, VERDICT.c.content.is_(None))
    for row in connection.execute(plain).all():
        this_verdict = update(VERDICT).where(of_study, VERDICT.c.stratum == row.stratum)
        packed = {"document": "", "content": deflated(row.document.encode())}
        connection.execute(this_verdict.values(**packed))
