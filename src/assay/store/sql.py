"""The store in a relational database, through SQLAlchemy Core."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from assay.errors import BadInput, NotPossible
from assay.records import (
    Conclusion,
    Kind,
    Output,
    Plan,
    Sample,
    Status,
    Stratum,
    StudySpec,
    decode,
    encode,
)
from assay.store.base import StudyHead, StudyRecord
from assay.store.ids import match, new_id
from assay.store.owners import Owners
from assay.store.schema import OUTPUT, PLAN, SAMPLE, STRATUM, STUDY, VERDICT

T = TypeVar("T")
E = TypeVar("E", bound=enum.Enum)
_Row = Any
"""A row of ``STUDY``; SQLAlchemy 2.0 and 2.1 differ in how they type one."""

_LAUNCHES = (
    select(func.count())
    .select_from(SAMPLE)
    .where(SAMPLE.c.study == STUDY.c.id)
    .scalar_subquery()
    .label("launches")
)
_ADD_SAMPLE, _ADD_OUTPUT = insert(SAMPLE), insert(OUTPUT)
_ORDER = (STUDY.c.created_at, STUDY.c.number)
_PAGE = 256
"""Samples whose outputs are read at a time: some megabytes at most."""


@dataclass(frozen=True)
class _Held:
    """What writing samples of a held study needs, read once."""

    number: int
    objective: str
    machines: dict[int, str]
    plans: set[tuple[int, str]] = field(default_factory=set)


@dataclass(frozen=True)
class Engines:
    """One database, as it is used.

    Attributes:
        reader: for reading.
        writer: for transactions that write.
        patient: the same for what took a launch to make: it waits longer until it may write.
    """

    reader: Engine
    writer: Engine
    patient: Engine


class SqlStore:
    """A ``Store`` in a relational database.

    Args:
        engines: for reading and writing it.
        owners: the holds on studies.
        explained: a context that turns errors of this database into assay's own.
        waited_s: tells how long writers have waited for their turn so far.
    """

    def __init__(
        self,
        engines: Engines,
        owners: Owners,
        explained: Callable[[], AbstractContextManager[None]],
        waited_s: Callable[[], float],
    ) -> None:
        self._engine = engines.reader
        self._writer = engines.writer
        self._patient = engines.patient
        self._owners = owners
        self._explained = explained
        self._waited_s = waited_s
        self._line: Connection | None = None
        self._held: dict[str, _Held] = {}

    @property
    def waited_s(self) -> float:
        """See ``Store.waited_s``."""
        return self._waited_s()

    def create_study(self, spec: StudySpec, stratum: Stratum, created_at: float) -> str:
        """See ``Store.create_study``."""
        row = {
            "kind": spec.kind.value,
            "command": spec.command_line,
            "status": Status.RUNNING.value,
            "created_at": created_at,
            "elapsed_s": 0.0,
            "owner_pid": os.getpid(),
            "spec": _document(spec, StudySpec),
        }
        number: int | None = None
        try:
            with self._explained(), self._writer.begin() as connection:
                study_id = _unused_id(connection)
                added = connection.execute(insert(STUDY), {"id": study_id, **row})
                number = _key(added.inserted_primary_key)
                _insert_stratum(connection, study_id, stratum)
                # Before the commit, so that nobody sees the study without its owner.
                if not self._owners.take(number):
                    raise NotPossible(f"The lock of study {study_id} is taken.", "Try again.")
        except BaseException:
            if number is not None:
                self._owners.drop(number)
            raise
        self._held[study_id] = _Held(
            number, spec.workload.objective.name, {stratum.number: stratum.machine}
        )
        return study_id

    def find(self, text: str) -> str:
        """See ``Store.find``."""
        with self._explained(), self._engine.connect() as connection:
            known = connection.execute(select(STUDY.c.id).order_by(*_ORDER)).scalars().all()
        return match(text, known)

    def studies(self) -> list[StudyHead]:
        """See ``Store.studies``."""
        columns = (STUDY.c.number, STUDY.c.id, STUDY.c.command, STUDY.c.kind, STUDY.c.status)
        query = select(*columns, STUDY.c.created_at, _LAUNCHES).order_by(*_ORDER)
        with self._explained(), self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return [
            StudyHead(
                id=row.id,
                command=row.command,
                kind=_member(Kind, row.kind, row.id),
                status=self._status(row),
                launches=row.launches,
                created_at=row.created_at,
            )
            for row in rows
        ]

    def study(self, study_id: str) -> StudyRecord:
        """See ``Store.study``."""
        with self._explained(), self._engine.connect() as connection:
            row = _study_row(connection, study_id)
            strata = _strata(connection, study_id)
        return StudyRecord(
            id=row.id,
            spec=_record(row.spec, StudySpec, study_id),
            status=self._status(row),
            strata=tuple(strata),
            conclusion=_conclusion(row),
            elapsed_s=row.elapsed_s,
            launches=row.launches,
            created_at=row.created_at,
        )

    def claim(self, study_id: str) -> None:
        """See ``Store.claim``."""
        if study_id in self._held:
            return
        with self._explained(), self._engine.connect() as connection:
            row = _study_row(connection, study_id)
        self._take(row)
        try:
            with self._explained(), self._writer.begin() as connection:
                row = _study_row(connection, study_id)  # it may have gone meanwhile
                strata = _strata(connection, study_id)
                plans = connection.execute(
                    select(PLAN.c.stratum, PLAN.c.configuration).where(PLAN.c.study == study_id)
                ).all()
                mine = update(STUDY).where(STUDY.c.id == study_id)
                connection.execute(mine.values(owner_pid=os.getpid()))
        except BaseException:
            self._owners.drop(row.number)
            raise
        spec = _record(row.spec, StudySpec, study_id)
        self._held[study_id] = _Held(
            row.number,
            spec.workload.objective.name,
            {s.number: s.machine for s in strata},
            {(stratum, configuration) for stratum, configuration in plans},
        )

    def release(self, study_id: str) -> None:
        """See ``Store.release``."""
        held = self._held.pop(study_id, None)
        if held is not None:
            self._owners.drop(held.number)

    def add_stratum(self, study_id: str, stratum: Stratum) -> None:
        """See ``Store.add_stratum``."""
        held = self._hold_on(study_id)
        if stratum.number in held.machines:
            raise BadInput(f"Study {study_id} has a stratum {stratum.number} already.")
        with self._explained(), self._writer.begin() as connection:
            _insert_stratum(connection, study_id, stratum)
        held.machines[stratum.number] = stratum.machine

    def strata(self, study_id: str) -> list[Stratum]:
        """See ``Store.strata``."""
        with self._explained(), self._engine.connect() as connection:
            _study_row(connection, study_id)
            return _strata(connection, study_id)

    def add_sample(
        self, study_id: str, stratum_number: int, sample: Sample, plan: Plan | None = None
    ) -> int:
        """See ``Store.add_sample``."""
        held = self._hold_on(study_id)
        machine = held.machines.get(stratum_number)
        if machine is None:
            raise BadInput(f"Study {study_id} has no stratum {stratum_number}.")
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
            "engine": sample.engine,
            "outcome": sample.outcome.value,
            "objective": sample.metrics.get(held.objective),
            "document": _document(msgspec.structs.replace(sample, outputs=()), Sample),
        }
        planned = None if plan is None else (stratum_number, plan.configuration.digest)
        try:
            with self._explained(), self._patient_transaction() as connection:
                number = _key(connection.execute(_ADD_SAMPLE, row).inserted_primary_key)
                if sample.outputs:
                    kept = {"sample": number, "document": encode(sample.outputs).decode()}
                    connection.execute(_ADD_OUTPUT, kept)
                if plan is not None and planned not in held.plans:
                    _insert_plan(connection, study_id, stratum_number, plan)
        except IntegrityError as error:
            raise BadInput(
                f"Study {study_id} has a sample of block {launch.block}, position "
                f"{launch.position}, attempt {launch.attempt} in stratum {stratum_number} already."
            ) from error
        if planned is not None:
            held.plans.add(planned)
        return number

    def samples(self, study_id: str, stratum_number: int | None = None) -> list[Sample]:
        """See ``Store.samples``."""
        query = select(SAMPLE.c.document).where(SAMPLE.c.study == study_id)
        if stratum_number is not None:
            query = query.where(SAMPLE.c.stratum == stratum_number)
        with self._explained(), self._engine.connect() as connection:
            _study_row(connection, study_id)
            documents = connection.execute(query.order_by(SAMPLE.c.number)).scalars().all()
        return [_record(document, Sample, study_id) for document in documents]

    def outputs(self, study_id: str, stratum_number: int) -> Iterator[tuple[Output, ...]]:
        """See ``Store.outputs``."""
        query = select(SAMPLE.c.number).where(
            SAMPLE.c.study == study_id, SAMPLE.c.stratum == stratum_number
        )
        with self._explained(), self._engine.connect() as connection:
            _study_row(connection, study_id)
            numbers = connection.execute(query.order_by(SAMPLE.c.number)).scalars().all()
        for begin in range(0, len(numbers), _PAGE):
            page = numbers[begin : begin + _PAGE]
            kept = select(OUTPUT).where(OUTPUT.c.sample.in_(page))
            with self._explained(), self._engine.connect() as connection:
                documents = {row.sample: row.document for row in connection.execute(kept)}
            for number in page:
                document = documents.get(number)
                yield _record(document, tuple[Output, ...], study_id) if document else ()

    def plans(self, study_id: str, stratum_number: int) -> list[Plan]:
        """See ``Store.plans``."""
        query = select(PLAN.c.document).where(
            PLAN.c.study == study_id, PLAN.c.stratum == stratum_number
        )
        with self._explained(), self._engine.connect() as connection:
            _study_row(connection, study_id)
            documents = connection.execute(query.order_by(PLAN.c.configuration)).scalars().all()
        return [_record(document, Plan, study_id) for document in documents]

    def set_status(self, study_id: str, status: Status) -> None:
        """See ``Store.set_status``."""
        self._update(study_id, status=status.value)

    def add_elapsed(self, study_id: str, seconds: float) -> None:
        """See ``Store.add_elapsed``."""
        self._update(study_id, elapsed_s=STUDY.c.elapsed_s + seconds)

    def set_conclusion(self, study_id: str, conclusion: Conclusion) -> None:
        """See ``Store.set_conclusion``."""
        held = self._hold_on(study_id)
        document = _document(conclusion, Conclusion)
        place = {"study": study_id, "stratum": max(held.machines)}
        with self._explained(), self._writer.begin() as connection:
            connection.execute(
                update(STUDY).where(STUDY.c.id == study_id).values(conclusion=document)
            )
            connection.execute(delete(VERDICT).filter_by(**place))
            connection.execute(insert(VERDICT), {**place, "document": document})

    def conclusion(self, study_id: str) -> Conclusion | None:
        """See ``Store.conclusion``."""
        with self._explained(), self._engine.connect() as connection:
            return _conclusion(_study_row(connection, study_id))

    def verdicts(self, study_id: str) -> dict[int, Conclusion]:
        """See ``Store.verdicts``."""
        query = select(VERDICT.c.stratum, VERDICT.c.document).where(VERDICT.c.study == study_id)
        with self._explained(), self._engine.connect() as connection:
            _study_row(connection, study_id)
            rows = connection.execute(query.order_by(VERDICT.c.stratum)).all()
        return {row.stratum: _record(row.document, Conclusion, study_id) for row in rows}

    def delete(self, study_id: str) -> None:
        """See ``Store.delete``."""
        with self._explained(), self._engine.connect() as connection:
            row = _study_row(connection, study_id)
        self._take(row)
        try:
            with self._explained(), self._writer.begin() as connection:
                connection.execute(delete(STUDY).where(STUDY.c.id == study_id))
        finally:
            self._held.pop(study_id, None)
            self._owners.drop(row.number)

    def close(self) -> None:
        """See ``Store.close``."""
        self._held.clear()
        self._owners.close()
        self._hang_up()
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
        """A transaction on a connection that is kept: to fetch one takes as long as to write."""
        if self._line is None:
            self._line = self._patient.connect()
        try:
            with self._line.begin():
                yield self._line
        except BaseException:
            self._hang_up()
            raise

    def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def _status(self, row: _Row) -> Status:
        status = _member(Status, row.status, row.id)
        if status is Status.RUNNING and not self._owners.taken(row.number):
            return Status.INTERRUPTED
        return status

    def _take(self, row: _Row) -> None:
        if not self._owners.take(row.number):
            raise NotPossible(
                f"Study {row.id} is in use by another assay (process {row.owner_pid}).",
                "Wait until it is done, or end it with Ctrl-C or `kill`; nothing is lost.",
            )

    def _hold_on(self, study_id: str) -> _Held:
        held = self._held.get(study_id)
        if held is None or not self._owners.holds(held.number):
            raise NotPossible(
                f"Study {study_id} is not held by this process, which may not write to it.",
                "`assay study resume` takes hold of it.",
            )
        return held

    def _update(self, study_id: str, **values: Any) -> None:
        self._hold_on(study_id)
        change = update(STUDY).where(STUDY.c.id == study_id).values(**values)
        with self._explained(), self._writer.begin() as connection:
            connection.execute(change)


def _document(record: T, kind: type[T]) -> str:
    """The JSON text of a record, which is sure to be read again."""
    try:
        document = encode(record).decode()
    except UnicodeEncodeError as error:
        raise BadInput(
            f"A {kind.__name__} holds text that is not UTF-8 and cannot be stored: {error}.",
            "File names and arguments must be UTF-8.",
        ) from error
    decode(document, kind)
    return document


def _record(document: str, kind: type[T], study_id: str) -> T:
    try:
        return decode(document, kind)
    except BadInput as error:
        raise _unreadable(study_id, error.cause) from error


def _member(kind: type[E], text: str, study_id: str) -> E:
    try:
        return kind(text)
    except ValueError as error:
        raise _unreadable(study_id, f"{text!r} is no {kind.__name__.lower()}.") from error


def _unreadable(study_id: str, how: str) -> NotPossible:
    return NotPossible(
        f"Study {study_id} cannot be read: {how}",
        "The store is damaged, or a newer assay wrote this; nothing was changed.",
    )


def _unused_id(connection: Connection) -> str:
    while True:
        study_id = new_id()
        query = select(STUDY.c.number).where(STUDY.c.id == study_id)
        if connection.execute(query).first() is None:
            return study_id


def _insert_stratum(connection: Connection, study_id: str, stratum: Stratum) -> None:
    row = {
        "study": study_id,
        "number": stratum.number,
        "machine": stratum.machine,
        "engine": stratum.engine,
        "document": _document(stratum, Stratum),
    }
    connection.execute(insert(STRATUM), row)


def _insert_plan(connection: Connection, study_id: str, stratum_number: int, plan: Plan) -> None:
    row = {
        "study": study_id,
        "stratum": stratum_number,
        "configuration": plan.configuration.digest,
        "document": _document(plan, Plan),
    }
    connection.execute(insert(PLAN), row)


def _study_row(connection: Connection, study_id: str) -> _Row:
    row = connection.execute(select(STUDY, _LAUNCHES).where(STUDY.c.id == study_id)).first()
    if row is None:
        raise BadInput(f"There is no study {study_id!r}.", "`assay study list` shows all.")
    return row


def _strata(connection: Connection, study_id: str) -> list[Stratum]:
    query = select(STRATUM.c.document).where(STRATUM.c.study == study_id)
    documents = connection.execute(query.order_by(STRATUM.c.number)).scalars()
    return [_record(document, Stratum, study_id) for document in documents]


def _conclusion(row: _Row) -> Conclusion | None:
    if row.conclusion is None:
        return None
    return _record(row.conclusion, Conclusion, row.id)


def _key(primary_key: Any) -> int:
    number: int = primary_key[0]
    return number
