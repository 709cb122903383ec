"""Store in a relational database, with SQLAlchemy Core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import msgspec
from sqlalchemy import Connection, Engine, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from assay.errors import InvalidInputError, NotPossibleError
from assay.records import (
    Conclusion,
    Plan,
    Sample,
    Status,
    Stratum,
    StudySpec,
    encode,
)
from assay.records.overhead import Overhead
from assay.store.reading import SqlReader
from assay.store.rows import (
    Insertion,
    Row,
    decode_stored,
    encode_checked,
    escape_undecodable,
    insert_plan,
    insert_stratum,
    inserted_number,
    strata_of,
    study_row,
    unused_id,
)
from assay.store.schema import OUTPUT, OVERHEAD, PLAN, SAMPLE, STUDY, VERDICT
from assay.store.study_locks import StudyLocks

_SAMPLE_COLUMNS = tuple(column.name for column in SAMPLE.columns if column.name != "number")
_OUTPUT_COLUMNS = ("sample", "document")


@dataclass(frozen=True)
class _HeldStudy:
    """Cached properties of a held study, for writing samples."""

    number: int
    objective: str
    machines: dict[int, str]
    plans: set[tuple[int, str]] = field(default_factory=set)


@dataclass(frozen=True)
class Engines:
    """Engines of a database.

    Attributes:
        reader: engine for reading.
        writer: engine for write transactions.
        patient: engine for write transactions of samples, with a longer wait for the lock.
    """

    reader: Engine
    writer: Engine
    patient: Engine


class SqlStore(SqlReader):
    """``Store`` in a relational database.

    Args:
        engines: engines of the database.
        locks: locks of the studies.
        translating_errors: returns a context manager that translates errors of the database into
            errors of assay.
        waited_s: returns the time that writers have waited for the lock, in seconds.
    """

    def __init__(
        self,
        engines: Engines,
        locks: StudyLocks,
        translating_errors: Callable[[], AbstractContextManager[None]],
        waited_s: Callable[[], float],
    ) -> None:
        super().__init__(engines.reader, locks, translating_errors)
        self._writer = engines.writer
        self._patient = engines.patient
        self._waited_s = waited_s
        self._patient_connection: Connection | None = None
        self._held: dict[str, _HeldStudy] = {}
        dialect = engines.patient.dialect
        self._add_sample = Insertion(SAMPLE, _SAMPLE_COLUMNS, dialect)
        self._add_output = Insertion(OUTPUT, _OUTPUT_COLUMNS, dialect)

    @property
    def waited_s(self) -> float:
        """See ``Store.waited_s``."""
        return self._waited_s()

    def create_study(self, spec: StudySpec, stratum: Stratum, created_at: float) -> str:
        """See ``Store.create_study``."""
        row = {
            "kind": spec.kind.value,
            "command": escape_undecodable(spec.command_line),
            "status": Status.RUNNING.value,
            "created_at": created_at,
            "elapsed_s": 0.0,
            "owner_pid": os.getpid(),
            "spec": encode_checked(spec, StudySpec),
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
        self._held[study_id] = _HeldStudy(
            number, spec.workload.objective.name, {stratum.number: stratum.machine}
        )
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
        self._held[study_id] = _HeldStudy(
            row.number,
            spec.workload.objective.name,
            {s.number: s.machine for s in strata},
            {(stratum, configuration) for stratum, configuration in plans},
        )

    def release(self, study_id: str) -> None:
        """See ``Store.release``."""
        held = self._held.pop(study_id, None)
        if held is not None:
            self._locks.unlock(held.number)

    def add_stratum(self, study_id: str, stratum: Stratum) -> None:
        """See ``Store.add_stratum``."""
        held = self._demand_hold(study_id)
        if stratum.number in held.machines:
            raise InvalidInputError(f"Study {study_id} already has a stratum {stratum.number}.")
        with self._translating_errors(), self._writer.begin() as connection:
            insert_stratum(connection, study_id, stratum)
        held.machines[stratum.number] = stratum.machine

    def add_sample(
        self, study_id: str, stratum_number: int, sample: Sample, plan: Plan | None = None
    ) -> int:
        """See ``Store.add_sample``."""
        held = self._demand_hold(study_id)
        machine = held.machines.get(stratum_number)
        if machine is None:
            raise InvalidInputError(f"Study {study_id} has no stratum {stratum_number}.")
        launch = sample.launch
        row = {
            "study": study_id,
            "stratum": stratum_number,
            "machine": machine,
            "node": sample.node,
            "stage": launch.stage.value,
            "block": launch.block,
            "position": launch.position,
            "attempt": launch.attempt,
            "launcher_version": sample.launcher_version,
            "outcome": sample.outcome.value,
            "objective": sample.metrics.get(held.objective),
            "document": encode_checked(msgspec.structs.replace(sample, outputs=()), Sample),
        }
        planned = None if plan is None else (stratum_number, plan.configuration.digest)
        try:
            with self._translating_errors(), self._patient_transaction() as connection:
                number = self._add_sample.execute(connection, row)
                if sample.outputs:
                    kept = {"sample": number, "document": encode(sample.outputs).decode()}
                    self._add_output.execute(connection, kept)
                if plan is not None and planned not in held.plans:
                    insert_plan(connection, study_id, stratum_number, plan)
        except IntegrityError as error:
            raise InvalidInputError(
                f"Study {study_id} already has a sample of block {launch.block}, position "
                f"{launch.position}, attempt {launch.attempt} in stratum {stratum_number}."
            ) from error
        if planned is not None:
            held.plans.add(planned)
        return number

    def set_status(self, study_id: str, status: Status) -> None:
        """See ``Store.set_status``."""
        self._update(study_id, status=status.value)

    def add_elapsed(self, study_id: str, seconds: float) -> None:
        """See ``Store.add_elapsed``."""
        self._update(study_id, elapsed_s=STUDY.c.elapsed_s + seconds)

    def set_conclusion(self, study_id: str, conclusion: Conclusion) -> None:
        """See ``Store.set_conclusion``."""
        held = self._demand_hold(study_id)
        document = encode_checked(conclusion, Conclusion)
        place = {"study": study_id, "stratum": max(held.machines)}
        with self._translating_errors(), self._writer.begin() as connection:
            connection.execute(
                update(STUDY).where(STUDY.c.id == study_id).values(conclusion=document)
            )
            connection.execute(delete(VERDICT).filter_by(**place))
            connection.execute(insert(VERDICT), {**place, "document": document})

    def add_overhead(self, overhead: Overhead) -> None:
        """See ``Store.add_overhead``."""
        row = {"machine": overhead.machine, "started_at": overhead.started_at}
        document = encode_checked(overhead, Overhead)
        with self._translating_errors(), self._writer.begin() as connection:
            connection.execute(insert(OVERHEAD), {**row, "document": document})

    def delete(self, study_id: str) -> None:
        """See ``Store.delete``."""
        with self._translating_errors(), self._engine.connect() as connection:
            row = study_row(connection, study_id)
        self._lock(row)
        try:
            with self._translating_errors(), self._writer.begin() as connection:
                connection.execute(delete(STUDY).where(STUDY.c.id == study_id))
        finally:
            self._held.pop(study_id, None)
            self._locks.unlock(row.number)

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
        """Open a transaction on a cached connection: a new one takes as long as the write."""
        if self._patient_connection is None:
            self._patient_connection = self._patient.connect()
        try:
            with self._patient_connection.begin():
                yield self._patient_connection
        except BaseException:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        connection, self._patient_connection = self._patient_connection, None
        if connection is not None:
            connection.close()

    def _lock(self, row: Row) -> None:
        if not self._locks.lock(row.number):
            raise NotPossibleError(
                f"Study {row.id} is in use by another assay process ({row.owner_pid}).",
                "Wait for its end, or stop it with Ctrl-C or `kill`; stored samples are kept.",
            )

    def _demand_hold(self, study_id: str) -> _HeldStudy:
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
        with self._translating_errors(), self._writer.begin() as connection:
            connection.execute(change)
