"""Reduction of stored studies: their size, and the replacement of samples by smaller ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    delete,
    func,
    insert,
    select,
    update,
)

from assay.errors import InvalidInputError
from assay.records import Sample
from assay.store.compaction import UNUSED_COLUMNS, rewrite_samples
from assay.store.dictionaries import DocumentKind, document_columns
from assay.store.packing import Packed, Packer
from assay.store.rows import COUNTED_SAMPLES, encode_checked
from assay.store.schema import DICTIONARY, OUTPUT, PLAN, SAMPLE, STUDY, VERDICT

_ROW_BYTES = 60
"""Approximate size of a sample in the database besides its document: columns and index."""
_BATCH = 256
"""Number of samples that are read and written at a time."""


def study_bytes(connection: Connection, study_id: str) -> int:
    """Return the approximate size of a study without the documents that studies share, in bytes."""
    return _sum(
        connection,
        *_of_samples(SAMPLE.c.study == study_id),
        select(_total(DICTIONARY.c.content)).where(DICTIONARY.c.study == study_id),
        select(_total(PLAN.c.document)).where(PLAN.c.study == study_id),
        select(_total(VERDICT.c.document, VERDICT.c.content)).where(VERDICT.c.study == study_id),
        select(_total(STUDY.c.spec, STUDY.c.conclusion)).where(STUDY.c.id == study_id),
    )


def sample_bytes(connection: Connection, study_id: str, stratum_number: int) -> int:
    """Return the approximate size of the samples of a stratum with their outputs, in bytes."""
    of_stratum = (DICTIONARY.c.study == study_id) & (DICTIONARY.c.stratum == stratum_number)
    return _sum(
        connection,
        *_of_samples((SAMPLE.c.study == study_id) & (SAMPLE.c.stratum == stratum_number)),
        select(_total(DICTIONARY.c.content)).where(of_stratum),
    )


def packed_samples(samples: Sequence[Sample]) -> Iterator[Packed]:
    """Yield the documents of all samples of a stratum, packed with new references."""
    packer = Packer()
    for sample in samples:
        yield packer.pack(encode_checked(sample, Sample))


def packed_bytes(samples: Sequence[Sample]) -> int:
    """Return the approximate size of samples without outputs in the database, in bytes."""
    packed = packed_samples(samples)
    return sum(len(one.content) + len(one.reference or b"") + _ROW_BYTES for one in packed)


def replace_samples(
    connection: Connection, study_id: str, stratum_number: int, samples: Sequence[Packed]
) -> None:
    """Replace the samples of a stratum, in order, and delete all outputs.

    Args:
        connection: connection in a write transaction, for which other processes wait.
        study_id: id of the study.
        stratum_number: number of the stratum.
        samples: samples from ``packed_samples``.

    Raises:
        InvalidInputError: more samples than are stored.
    """
    of_stratum = (SAMPLE.c.study == study_id, SAMPLE.c.stratum == stratum_number)
    query = select(SAMPLE.c.number).where(*of_stratum).order_by(SAMPLE.c.number)
    numbers = connection.execute(query).scalars().all()
    if len(samples) > len(numbers):
        raise InvalidInputError(
            f"Stratum {stratum_number} of study {study_id} has {len(numbers)} samples."
        )
    of_samples = OUTPUT.c.sample.in_(select(SAMPLE.c.number).where(*of_stratum))
    connection.execute(delete(OUTPUT).where(of_samples))
    connection.execute(
        delete(DICTIONARY).where(
            DICTIONARY.c.study == study_id, DICTIONARY.c.stratum == stratum_number
        )
    )
    # The other samples go first: no row may need a deleted reference.
    kept = numbers[: len(samples)]
    last = kept[-1] if kept else -1
    connection.execute(delete(SAMPLE).where(*of_stratum, SAMPLE.c.number > last))
    place = {"study": study_id, "stratum": stratum_number, "kind": DocumentKind.SAMPLE.value}
    references = [
        {**place, "number": sample.dictionary, "content": sample.reference}
        for sample in samples
        if sample.reference is not None
    ]
    if references:
        connection.execute(insert(DICTIONARY), references)
    rest = iter(samples)
    for begin in range(0, len(kept), _BATCH):
        page = kept[begin : begin + _BATCH]
        query = select(SAMPLE).where(SAMPLE.c.number.in_(page)).order_by(SAMPLE.c.number)
        rows = connection.execute(query).all()
        changed = [
            {**row._mapping, **document_columns(sample), **UNUSED_COLUMNS}
            for row, sample in zip(rows, islice(rest, len(page)), strict=True)
        ]
        rewrite_samples(connection, changed)
    this_study = update(STUDY).where(STUDY.c.id == study_id)
    connection.execute(this_study.values(launches=COUNTED_SAMPLES))


def _of_samples(condition: ColumnElement[bool]) -> tuple[Select[Any], Select[Any]]:
    """Return queries of the sizes of samples and of their outputs."""
    rows = func.count() * _ROW_BYTES
    numbers = select(SAMPLE.c.number).where(condition)
    return (
        select(_total(SAMPLE.c.document, SAMPLE.c.content) + rows).where(condition),
        select(_total(OUTPUT.c.document, OUTPUT.c.content)).where(OUTPUT.c.sample.in_(numbers)),
    )


def _sum(connection: Connection, *queries: Select[Any]) -> int:
    return sum(connection.execute(query).scalar() or 0 for query in queries)


def _total(*columns: Column[Any]) -> Any:
    """Return the sum of the lengths of columns; 0 without rows."""
    lengths = (func.coalesce(func.length(column), 0) for column in columns)
    return func.coalesce(func.sum(sum(lengths)), 0)
