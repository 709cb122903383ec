"""Store in a relational database, with SQLAlchemy Core."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from sqlalchemy import Connection, Engine, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Conclusion, Plan, Sample, Status, Stratum, StudySpec, encode
from assay.records.overhead import Overhead
from assay.store.base import FileUse
from assay.store.column_text import escape_undecodable
from assay.store.compaction import UNUSED_COLUMNS, pack_study
from assay.store.dictionaries import DocumentKind
from assay.store.held_study import HeldStudy
from assay.store.listing import checked_label, labels_of
from assay.store.packing import deflated
from assay.store.reading import SqlReader
from assay.store.reduction import packed_samples, replace_samples
from assay.store.rows import (
    COUNTED_SAMPLES,
    Insertion,
    Row,
    decode_stored,
    encode_checked,
    insert_plan,
    inserted_number,
    study_row,
    unused_id,
)
from assay.store.schema import LABEL, OUTPUT, OVERHEAD, PLAN, SAMPLE, STUDY, VERDICT
from assay.store.shared_documents import (
    delete_unused,
    document_numbers,
    insert_stratum,
    strata_of,
)
from assay.store.study_locks import StudyLocks
from assay.store.vacuum import NOTHING_LOST, demand_space, file_use, vacuum
from assay.store.write_lock import WriteLock

_SAMPLE_COLUMNS = tuple(column.name for column in SAMPLE.columns if column.name != "number")
_OUTPUT_COLUMNS = ("sample", "document", "content", "dictionary")


@dataclass(frozen=True)
class Engines:
    """Engines of a database.

    Attributes:
        reader: engine for reading.
        writer: engine for write transactions.
        patient: engine for write transactions of held studies, with a longer wait for the lock.
    """

    reader: Engine
    writer: Engine
    patient: Engine


class SqlStore(SqlReader):
    """``Store`` in a relational database.

    Args:
        path: database file.
        engines: engines of the database.
        locks: locks of the studies.
        translating_errors: returns a context manager that translates errors of the database into
            errors of assay.
        write_lock: acquires the lock of transactions of held studies.
    """

    def __init__(
        self,
        path: Path,
        engines: Engines,
        locks: StudyLocks,
        translating_errors: Callable[[], AbstractContextManager[None]],
        write_lock: WriteLock,
    ) -> None:
        super().__init__(engines.reader, locks, translating_errors)
        self._path = path
        self._writer = engines.writer
        self._patient = engines.patient
        self._write_lock = write_lock
        self._patient_connection: Connection | None = None
        self._held: dict[str, HeldStudy] = {}
        dialect = engines.patient.dialect
        self._add_sample = Insertion(SAMPLE, _SAMPLE_COLUMNS, dialect)
        self._add_output = Insertion(OUTPUT, _OUTPUT_COLUMNS, dialect)

    @property
    def holds_study(self) -> bool:
        """Return whether this process holds a study, whose samples it stores."""
        return bool(self._held)

    @property
    def waited_s(self) -> float:
        """See ``Store.waited_s``."""
        return self._write_lock.waited_s

    def create_study(self, spec: StudySpec, stratum: Stratum, created_at: float) -> str:
        """See ``Store.create_study``."""
        row = {
            "kind": spec.kind.value,
            "command": escape_undecodable(spec.command_line),
            "status": Status.RUNNING.value,
            "created_at": created_at,
            "elapsed_s": 0.0,
            "owner_pid": os.getpid(),
            "spec": encode_checked(spec, StudySpec).decode(),
        }
        number: int | None = None
        try:
            with self._translating_errors(), self._writer.begin() as connection:
                study_id = unused_id(connection)
                added = connection.execute(insert(STUDY), {"id": study_id, **row})
                number = inserted_number(added.inserted_primary_key)
                insert_stratum(connection, study_id, stratum)
                # Before the commit, so that no process sees the study without its owner.
                if not self._locks.lock(number):
                    raise NotPossibleError(
                        f"Another process has the lock of study {study_id}.", "Retry."
                    )
        except BaseException:
            if number is not None:
                self._locks.unlock(number)
            raise
        self._held[study_id] = HeldStudy(number, spec.workload.objective.name, {stratum.number})
        return study_id

    def acquire(self, study_id: str) -> None:
        """See ``Store.acquire``."""
        if study_id in self._held:
            return
        with self._translating_errors(), self._engine.connect() as connection:
            row = study_row(connection, study_id)
        self._lock(row)
        try:
            with self._translating_errors(), self._writer.begin() as connection:
                row = study_row(connection, study_id)  # it may have been deleted meanwhile
                strata = strata_of(connection, study_id)
                plans = connection.execute(
                    select(PLAN.c.stratum, PLAN.c.configuration).where(PLAN.c.study == study_id)
                ).all()
                this_study = update(STUDY).where(STUDY.c.id == study_id)
                connection.execute(this_study.values(owner_pid=os.getpid()))
        except BaseException:
            self._locks.unlock(row.number)
            raise
        spec = decode_stored(row.spec, StudySpec, study_id)
        self._held[study_id] = HeldStudy(
            row.number,
            spec.workload.objective.name,
            {stratum.number for stratum in strata},
            {(number, configuration) for number, configuration in plans},
            counted=True,
        )

    def release(self, study_id: str) -> None:
        """See ``Store.release``."""
        held = self._held.pop(study_id, None)
        if held is not None:
            self._locks.unlock(held.number)

    def add_stratum(self, study_id: str, stratum: Stratum) -> None:
        """See ``Store.add_stratum``."""
        held = self._demand_hold(study_id)
        if stratum.number in held.strata:
            raise InvalidInputError(f"Study {study_id} already has a stratum {stratum.number}.")
        with self._translating_errors(), self._patient_transaction() as connection:
            insert_stratum(connection, study_id, stratum)
        held.strata.add(stratum.number)

    def add_sample(
        self, study_id: str, stratum_number: int, sample: Sample, plan: Plan | None = None
    ) -> int:
        """See ``Store.add_sample``."""
        held = self._demand_hold(study_id)
        if stratum_number not in held.strata:
            raise InvalidInputError(f"Study {study_id} has no stratum {stratum_number}.")
        launch = sample.launch
        row = {
            "study": study_id,
            "stratum": stratum_number,
            **UNUSED_COLUMNS,
            "stage": launch.stage.value,
            "block": launch.block,
            "position": launch.position,
            "attempt": launch.attempt,
            "outcome": sample.outcome.value,
            "objective": sample.metrics.get(held.objective),
        }
        document = encode_checked(msgspec.structs.replace(sample, outputs=()), Sample)
        planned = None if plan is None else (stratum_number, plan.configuration.digest)
        try:
            with self._translating_errors(), self._patient_transaction() as connection:
                packer = held.packer(connection, study_id, stratum_number, DocumentKind.SAMPLE)
                row |= packer.columns(connection, document)
                number = self._add_sample.execute(connection, row)
                if sample.outputs:
                    packer = held.packer(connection, study_id, stratum_number, DocumentKind.OUTPUT)
                    kept = packer.columns(connection, encode(sample.outputs))
                    self._add_output.execute(connection, {"sample": number, **kept})
                if plan is not None and planned not in held.plans:
                    insert_plan(connection, study_id, stratum_number, plan)
                if held.counted:
                    this_study = update(STUDY).where(STUDY.c.id == study_id)
                    connection.execute(this_study.values(launches=None))
        except BaseException as error:
            held.packers.clear()
            if not isinstance(error, IntegrityError | sqlite3.IntegrityError):
                raise
            raise InvalidInputError(
                f"Study {study_id} already has a sample of block {launch.block}, position "
                f"{launch.position}, attempt {launch.attempt} in stratum {stratum_number}."
            ) from error
        held.counted = False
        if planned is not None:
            held.plans.add(planned)
        return number

    def set_status(self, study_id: str, status: Status) -> None:
        """See ``Store.set_status``."""
        if status is Status.RUNNING:
            self._update(study_id, status=status.value)
            return
        self._update(study_id, status=status.value, launches=COUNTED_SAMPLES)
        self._held[study_id].counted = True

    def add_label(self, study_id: str, label: str) -> None:
        """See ``Store.add_label``."""
        row = {"study": study_id, "label": checked_label(label)}
        with self._translating_errors(), self._writer.begin() as connection:
            if label not in labels_of(connection, study_row(connection, study_id).id):
                connection.execute(insert(LABEL), row)

    def remove_label(self, study_id: str, label: str) -> None:
        """See ``Store.remove_label``."""
        this_label = (LABEL.c.study == study_id) & (LABEL.c.label == label)
        with self._translating_errors(), self._writer.begin() as connection:
            study_row(connection, study_id)
            connection.execute(delete(LABEL).where(this_label))

    def add_elapsed(self, study_id: str, seconds: float) -> None:
        """See ``Store.add_elapsed``."""
        self._update(study_id, elapsed_s=STUDY.c.elapsed_s + seconds)

    def set_conclusion(self, study_id: str, conclusion: Conclusion) -> None:
        """See ``Store.set_conclusion``."""
        held = self._demand_hold(study_id)
        content = deflated(encode_checked(conclusion, Conclusion))
        place = {"study": study_id, "stratum": max(held.strata)}
        with self._translating_errors(), self._patient_transaction() as connection:
            # An older assay stored the newest conclusion here as well.
            this_study = update(STUDY).where(STUDY.c.id == study_id)
            connection.execute(this_study.values(conclusion=None))
            connection.execute(delete(VERDICT).filter_by(**place))
            connection.execute(insert(VERDICT), {**place, "document": "", "content": content})

    def add_overhead(self, overhead: Overhead) -> None:
        """See ``Store.add_overhead``."""
        row = {"machine": overhead.machine, "started_at": overhead.started_at}
        document = encode_checked(overhead, Overhead).decode()
        with self._translating_errors(), self._writer.begin() as connection:
            connection.execute(insert(OVERHEAD), {**row, "document": document})

    def delete(self, study_id: str) -> None:
        """See ``Store.delete``."""
        with (
            self._locked(study_id),
            self._translating_errors(),
            self._writer.begin() as connection,
        ):
            documents = document_numbers(connection, study_id)
            connection.execute(delete(STUDY).where(STUDY.c.id == study_id))
            delete_unused(connection, sorted(documents))

    def replace_samples(
        self, study_id: str, stratum_number: int, samples: Sequence[Sample]
    ) -> None:
        """See ``Store.replace_samples``."""
        held = self._demand_hold(study_id)
        held.packers.clear()
        held.counted = True
        packed = list(packed_samples(samples))
        with self._translating_errors(), self._patient_transaction() as connection:
            replace_samples(connection, study_id, stratum_number, packed)

    def compact(self, study_id: str) -> Iterator[int]:
        """See ``Store.compact``."""
        with self._locked(study_id), self._translating_errors():
            yield from pack_study(self._writer, study_id)

    def file_use(self) -> FileUse:
        """See ``Store.file_use``."""
        with self._translating_errors(), self._engine.connect() as connection:
            return file_use(connection.connection.driver_connection)

    def demand_space_for_vacuum(self) -> None:
        """See ``Store.demand_space_for_vacuum``."""
        demand_space(self._path, self.file_use())

    def vacuum(self) -> None:
        """See ``Store.vacuum``."""
        demand_space(self._path, self.file_use(), NOTHING_LOST)  # a compaction takes space itself
        self._disconnect()
        with self._translating_errors(), self._engine.connect() as connection:
            vacuum(connection.connection.driver_connection)

    def close(self) -> None:
        """See ``Store.close``."""
        self._held.clear()
        self._locks.close()
        self._disconnect()
        self._patient.dispose()
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _patient_transaction(self) -> Iterator[Connection]:
        """Open a transaction of a held study, whose writes must not be lost to a short lock.

        The connection is cached: a new one takes as long as the write.

        The driver begins and commits it, which takes half the time of SQLAlchemy's transaction;
        statements of SQLAlchemy within it join it.
        """
        if self._patient_connection is None:
            self._patient_connection = self._patient.connect()
        connection = self._patient_connection
        driver: Any = connection.connection.driver_connection
        try:
            self._write_lock.acquire(driver)
            yield connection
            if connection.in_transaction():
                connection.commit()
            else:
                driver.commit()
        except BaseException:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        connection, self._patient_connection = self._patient_connection, None
        if connection is not None:
            connection.close()

    @contextmanager
    def _locked(self, study_id: str) -> Iterator[None]:
        """Lock a study, and unlock it afterwards, also if this store held it."""
        with self._translating_errors(), self._engine.connect() as connection:
            row = study_row(connection, study_id)
        self._lock(row)
        try:
            yield
        finally:
            self._held.pop(study_id, None)
            self._locks.unlock(row.number)

    def _lock(self, row: Row) -> None:
        if not self._locks.lock(row.number):
            raise NotPossibleError(
                f"Study {row.id} is in use by another assay process ({row.owner_pid}).",
                "Wait for its end, or stop it with Ctrl-C or `kill`; stored samples are kept.",
            )

    def _demand_hold(self, study_id: str) -> HeldStudy:
        held = self._held.get(study_id)
        if held is None or not self._locks.holds(held.number):
            raise NotPossibleError(
                f"This process does not hold study {study_id} and must not write to it.",
                "Acquire it with `assay study resume`.",
            )
        return held

    def _update(self, study_id: str, **values: Any) -> None:
        self._demand_hold(study_id)
        change = update(STUDY).where(STUDY.c.id == study_id).values(**values)
        with self._translating_errors(), self._patient_transaction() as connection:
            connection.execute(change)
