"""Reading a store in a relational database, through SQLAlchemy Core."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import repeat
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, bindparam, select, text

from assay.records import (
    Conclusion,
    Kind,
    Output,
    Plan,
    Sample,
    SampleDecoder,
    Stratum,
    StudySpec,
    encode,
)
from assay.records.overhead import Overhead
from assay.store.base import EVERY_STUDY, StoredStratum, StudyHead, StudyRecord, StudySelection
from assay.store.dictionaries import DocumentKind, DocumentReader, unpacker_of
from assay.store.heads import STATUS_QUERY, head_query, heads_of, status_of
from assay.store.listing import find_id, labels_of
from assay.store.packing import Unpacker, deflated
from assay.store.reduction import packed_bytes, sample_bytes, study_bytes
from assay.store.rows import (
    Row,
    conclusion_of,
    decode_stored,
    deleted_samples_error,
    newest_conclusion,
    sample_reader,
    study_row,
)
from assay.store.sample_page import PackedRow, SamplePage
from assay.store.schema import OUTPUT, OVERHEAD, PLAN, SAMPLE, VERDICT
from assay.store.shared_documents import strata_of, strata_of_machines
from assay.store.study_locks import StudyLocks

T = TypeVar("T")

_PAGE, _OUTPUT_PAGE = 512, 256
"""Numbers of samples and of outputs that are read at a time: some megabytes. SQLite before 3.32
admits 999 parameters."""
_PACKED_PAGES = 8
"""Number of pages that are read at a time if they stay packed."""
_PACKED_ROWS = """
SELECT document, content, dictionary FROM sample
WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number
"""
"""Query of a page, by the list of its numbers: in half the time of a statement of SQLAlchemy."""


class SqlReader:
    """Read operations of a ``Store``.

    Args:
        engine: engine for reading.
        locks: locks of the studies.
        translating_errors: returns a context manager that translates errors of the database into
            errors of assay.
    """

    def __init__(
        self,
        engine: Engine,
        locks: StudyLocks,
        translating_errors: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._engine = engine
        self._locks = locks
        self._translating_errors = translating_errors

    def find(self, text: str) -> str:
        """See ``Store.find``."""
        with self._translating_errors(), self._engine.connect() as connection:
            return find_id(connection, text)

    def studies(self, selection: StudySelection = EVERY_STUDY) -> list[StudyHead]:
        """See ``Store.studies``."""
        query, parameters = head_query(selection)
        with self._translating_errors(), self._engine.connect() as connection:
            rows = connection.execute(text(query), parameters).all()
        return heads_of(rows, self._locks, self._status)

    def study(self, study_id: str) -> StudyRecord:
        """See ``Store.study``."""
        with self._translating_errors(), self._engine.connect() as connection:
            row = study_row(connection, study_id)
            strata = strata_of(connection, study_id)
            conclusion = newest_conclusion(connection, row)
            labels = labels_of(connection, study_id)
        return StudyRecord(
            id=row.id,
            spec=decode_stored(row.spec, StudySpec, study_id),
            status=status_of(row, self._locks, self._status),
            strata=tuple(strata),
            conclusion=conclusion,
            elapsed_s=row.elapsed_s,
            launches=row.launches,
            created_at=row.created_at,
            labels=labels,
        )

    def strata(self, study_id: str) -> list[Stratum]:
        """See ``Store.strata``."""
        with self._translating_errors(), self._engine.connect() as connection:
            study_row(connection, study_id)
            return strata_of(connection, study_id)

    def strata_of_machines(self, machines: Collection[str], kind: Kind) -> list[StoredStratum]:
        """See ``Store.strata_of_machines``."""
        with self._translating_errors(), self._engine.connect() as connection:
            return strata_of_machines(connection, machines, kind)

    def samples(self, study_id: str, stratum_number: int | None = None) -> list[Sample]:
        """See ``Store.samples``."""
        return list(self.iterate_samples(study_id, stratum_number))

    def iterate_samples(self, study_id: str, stratum_number: int | None = None) -> Iterator[Sample]:
        """See ``Store.iterate_samples``."""
        return self.decoded_samples(study_id, stratum_number, SampleDecoder().decode)

    def decoded_samples(
        self, study_id: str, stratum_number: int | None, decode: Callable[[bytes | str], T]
    ) -> Iterator[T]:
        """See ``Store.decoded_samples``."""
        decoded = sample_reader(study_id, decode)
        columns = (SAMPLE.c.stratum, SAMPLE.c.document, SAMPLE.c.content, SAMPLE.c.dictionary)
        query = select(*columns).where(_is_in_page(SAMPLE.c.number)).order_by(SAMPLE.c.number)
        for page in _pages(self._sample_numbers(study_id, stratum_number), _PAGE):
            with self._translating_errors(), self._engine.connect() as connection:
                rows = connection.execute(query, {"page": page}).all()
                _demand_all(connection, study_id, rows, len(page))
                reader = DocumentReader(connection, study_id, DocumentKind.SAMPLE)
                documents = reader.documents(rows, [row.stratum for row in rows])
            yield from map(decoded, documents)

    def sample_pages(self, study_id: str, stratum_number: int, size: int) -> Iterator[SamplePage]:
        """See ``Store.sample_pages``."""
        numbers = self._sample_numbers(study_id, stratum_number)
        following, unpacker = len(numbers), Unpacker(())
        for read in _pages(numbers, _PACKED_PAGES * size):
            listed = encode(read.tolist()).decode()
            with self._translating_errors(), self._engine.connect() as connection:
                rows = connection.exec_driver_sql(_PACKED_ROWS, (listed,)).all()
                _demand_all(connection, study_id, rows, len(read))
                unpacker = unpacker_of(
                    connection, study_id, stratum_number, DocumentKind.SAMPLE, unpacker
                )
            for begin in range(0, len(rows), size):
                page = [_packed(*row) for row in rows[begin : begin + size]]
                following -= len(page)
                yield SamplePage(study_id, page, unpacker, following)

    def count_samples(self, study_id: str, stratum_number: int) -> int:
        """See ``Store.count_samples``."""
        return len(self._sample_numbers(study_id, stratum_number))

    def outputs(self, study_id: str, stratum_number: int) -> Iterator[tuple[Output, ...]]:
        """See ``Store.outputs``."""
        query = select(OUTPUT).where(_is_in_page(OUTPUT.c.sample))
        for page in _pages(self._sample_numbers(study_id, stratum_number), _OUTPUT_PAGE):
            with self._translating_errors(), self._engine.connect() as connection:
                reader = DocumentReader(connection, study_id, DocumentKind.OUTPUT)
                rows = connection.execute(query, {"page": page}).all()
                found = reader.documents(rows, repeat(stratum_number))
            documents = dict(zip((row.sample for row in rows), found, strict=True))
            for number in page:
                document = documents.get(number)
                yield decode_stored(document, tuple[Output, ...], study_id) if document else ()

    def _status(self, number: int) -> str | None:
        """Return the present status of a study, by the number of its lock."""
        with self._translating_errors(), self._engine.connect() as connection:
            status: str | None = connection.execute(text(STATUS_QUERY), {"number": number}).scalar()
        return status

    def _sample_numbers(self, study_id: str, stratum_number: int | None) -> array[int]:
        """Return the numbers of the samples of a study or stratum, from an index."""
        query = select(SAMPLE.c.number).where(SAMPLE.c.study == study_id)
        if stratum_number is not None:
            query = query.where(SAMPLE.c.stratum == stratum_number)
        with self._translating_errors(), self._engine.connect() as connection:
            study_row(connection, study_id)
            found = connection.execute(query.order_by(SAMPLE.c.number)).scalars().all()
            return array("q", found)

    def study_bytes(self, study_id: str) -> int:
        """See ``Store.study_bytes``."""
        with self._translating_errors(), self._engine.connect() as connection:
            study_row(connection, study_id)
            return study_bytes(connection, study_id)

    def freed_bytes(self, study_id: str, stratum_number: int, samples: Sequence[Sample]) -> int:
        """See ``Store.freed_bytes``."""
        with self._translating_errors(), self._engine.connect() as connection:
            study_row(connection, study_id)
            stored = sample_bytes(connection, study_id, stratum_number)
        return stored - packed_bytes(samples)

    def plans(self, study_id: str, stratum_number: int) -> list[Plan]:
        """See ``Store.plans``."""
        query = select(PLAN.c.document).where(
            PLAN.c.study == study_id, PLAN.c.stratum == stratum_number
        )
        with self._translating_errors(), self._engine.connect() as connection:
            study_row(connection, study_id)
            documents = connection.execute(query.order_by(PLAN.c.configuration)).scalars().all()
        return [decode_stored(document, Plan, study_id) for document in documents]

    def conclusion(self, study_id: str) -> Conclusion | None:
        """See ``Store.conclusion``."""
        with self._translating_errors(), self._engine.connect() as connection:
            return newest_conclusion(connection, study_row(connection, study_id))

    def conclusions(self, study_id: str) -> dict[int, Conclusion]:
        """See ``Store.conclusions``."""
        query = select(VERDICT).where(VERDICT.c.study == study_id)
        with self._translating_errors(), self._engine.connect() as connection:
            study_row(connection, study_id)
            rows = connection.execute(query.order_by(VERDICT.c.stratum)).all()
        return {row.stratum: conclusion_of(row, study_id) for row in rows}

    def overheads(self, machine: str) -> tuple[Overhead, ...]:
        """See ``Store.overheads``."""
        query = select(OVERHEAD.c.document).where(OVERHEAD.c.machine == machine)
        query = query.order_by(OVERHEAD.c.started_at.desc(), OVERHEAD.c.number.desc())
        with self._translating_errors(), self._engine.connect() as connection:
            documents = connection.execute(query).scalars().all()
        newest: dict[str | None, Overhead] = {}
        for document in documents:
            found = decode_stored(document, Overhead, "of this machine")
            newest.setdefault(found.command, found)
        return tuple(newest.values())


def _demand_all(connection: Connection, study_id: str, rows: Sequence[Row], count: int) -> None:
    """Raise an error if samples were deleted since their numbers were read."""
    if len(rows) < count:
        study_row(connection, study_id)  # it may have been deleted meanwhile
        raise deleted_samples_error(study_id)


def _packed(document: str, content: bytes | None, dictionary: int | None) -> PackedRow:
    if content is None:  # of schema 0004 and older
        return PackedRow(deflated(document.encode()), None)
    return PackedRow(content, dictionary)


def _is_in_page(number: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition of a query that is built once: its numbers are a parameter."""
    return number.in_(bindparam("page", expanding=True))


def _pages(numbers: array[int], size: int) -> Iterator[array[int]]:
    for begin in range(0, len(numbers), size):
        yield numbers[begin : begin + size]
