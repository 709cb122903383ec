"""Store: the contract of every backend.

``assay.testing.store_contracts.StoreContract`` holds the tests of this contract; the tests of a
backend derive from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self

from assay.records import Conclusion, Kind, Output, Plan, Sample, Status, Stratum, StudySpec
from assay.records.codec import Record
from assay.records.overhead import Overhead


class StudyHead(Record, frozen=True, kw_only=True):
    """One line of ``assay study list``.

    Attributes:
        command: the workload as a shell would read it; for arms that are commands, all of them.
        status: a study marked as running whose owner is gone reads as interrupted.
        launches: samples stored.
        created_at: seconds since 1970 (UTC).
    """

    id: str
    command: str
    kind: Kind
    status: Status
    launches: int
    created_at: float


class StudyRecord(Record, frozen=True, kw_only=True):
    """A study without its samples.

    Attributes:
        status: as in :class:`StudyHead`.
        strata: by number.
        elapsed_s: time spent on it over all sittings, as told to ``add_elapsed``.
        launches: samples stored.
        created_at: seconds since 1970 (UTC).
    """

    id: str
    spec: StudySpec
    status: Status
    strata: tuple[Stratum, ...]
    conclusion: Conclusion | None = None
    elapsed_s: float = 0.0
    launches: int = 0
    created_at: float = 0.0


class Store(Protocol):
    """Where studies and their raw samples live.

    Every method that writes has committed when it returns: what was acknowledged survives the end
    of this process, whatever ends it. A study is written by one store at a time, the one that
    holds it: ``create_study`` and ``claim`` take hold of it, ``release``, ``close`` and the end of
    the process, however it comes, let go. Reading needs no hold.

    Methods that take ``study_id`` want the whole id (``find`` gives it) and raise ``InvalidInputError`` for
    an unknown one. All raise ``NotPossibleError`` where the database is locked, full, damaged or out of
    reach.
    """

    @property
    def waited_s(self) -> float:
        """Seconds that this store has waited so far until others let it write."""
        ...

    def create_study(self, spec: StudySpec, stratum: Stratum, created_at: float) -> str:
        """Store a new study with its first stratum, hold it, and give its id.

        It begins as ``RUNNING``. ``created_at`` is in seconds since 1970 (UTC).
        """
        ...

    def find(self, text: str) -> str:
        """The id that ``text`` means: an id, the unique beginning of one, or ``last``.

        Raises:
            InvalidInputError: none or several; names the nearest.
        """
        ...

    def studies(self) -> list[StudyHead]:
        """All studies, oldest first."""
        ...

    def study(self, study_id: str) -> StudyRecord:
        """One study without its samples."""
        ...

    def claim(self, study_id: str) -> None:
        """Hold a study; nothing happens where this store holds it already.

        Raises:
            NotPossibleError: another process, or another store of this one, holds it.
        """
        ...

    def release(self, study_id: str) -> None:
        """Let go of a study; nothing happens where it is not held."""
        ...

    def add_stratum(self, study_id: str, stratum: Stratum) -> None:
        """Begin a new stratum of a held study.

        Raises:
            InvalidInputError: its number is taken.
        """
        ...

    def strata(self, study_id: str) -> list[Stratum]:
        """The strata of a study by number."""
        ...

    def add_sample(
        self, study_id: str, stratum_number: int, sample: Sample, plan: Plan | None = None
    ) -> int:
        """Store one sample of a held study; gives its number, which only grows.

        Its outputs are kept beside it, and its plan once for each configuration of a stratum: all
        of them, or none.

        Raises:
            InvalidInputError: no such stratum; its block, position and attempt are taken there; or the
                sample could not be read again (a figure that is not a number).
        """
        ...

    def samples(self, study_id: str, stratum_number: int | None = None) -> list[Sample]:
        """The samples of a study, or of one stratum of it, in the order they were stored.

        They come without their outputs.
        """
        ...

    def outputs(self, study_id: str, stratum_number: int) -> Iterator[tuple[Output, ...]]:
        """What was kept of the outputs of each sample of a stratum, in the order of ``samples``.

        A few at a time are held in memory; empty for samples of which nothing was kept.
        """
        ...

    def plans(self, study_id: str, stratum_number: int) -> list[Plan]:
        """The plans by which the samples of a stratum were launched, one for each configuration."""
        ...

    def set_status(self, study_id: str, status: Status) -> None:
        """Say where a held study stands."""
        ...

    def add_elapsed(self, study_id: str, seconds: float) -> None:
        """Add to the time that was spent on a held study."""
        ...

    def set_conclusion(self, study_id: str, conclusion: Conclusion) -> None:
        """Store the verdict document of the newest stratum, in place of an earlier one."""
        ...

    def conclusion(self, study_id: str) -> Conclusion | None:
        """The newest verdict document, if there is one."""
        ...

    def verdicts(self, study_id: str) -> dict[int, Conclusion]:
        """The verdict document of each stratum that has one, by its number."""
        ...

    def add_overhead(self, overhead: Overhead) -> None:
        """Store the costs of observing on a machine, beside earlier ones."""
        ...

    def overheads(self, machine: str) -> tuple[Overhead, ...]:
        """Return the costs of observing on a machine, named by its fingerprint, newest first.

        Of the built-in loads and of each command the newest.
        """
        ...

    def delete(self, study_id: str) -> None:
        """Delete a study with all its samples.

        Raises:
            NotPossibleError: another process, or another store of this one, holds it.
        """
        ...

    def close(self) -> None:
        """Let go of all studies and of the database; the store is of no use afterwards."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
