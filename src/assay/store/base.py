"""Store: the interface of every backend.

``assay.testing.store_contracts.StoreContract`` contains the tests of this interface; the tests of a
backend derive from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self, TypeVar

from assay.records import Conclusion, Kind, Output, Plan, Sample, Status, Stratum, StudySpec
from assay.records.codec import Record
from assay.records.overhead import Overhead
from assay.records.study import SESSION_SUFFIX
from assay.store.sample_page import SamplePage

T = TypeVar("T")


class StudyHead(Record, frozen=True, kw_only=True):
    """One line of ``assay study list``.

    Attributes:
        command: the command as shell text; compared commands are joined.
        status: a running study whose process has exited is reported as interrupted.
        launches: number of stored samples.
        created_at: time of creation, in seconds since 1970 (UTC).
        labels: labels that the user assigned, in alphabetical order.
    """

    id: str
    command: str
    kind: Kind
    status: Status
    launches: int
    created_at: float
    labels: tuple[str, ...] = ()

    @property
    def in_process(self) -> bool:
        """True for a session, whose samples are trials."""
        return self.command.endswith(SESSION_SUFFIX)


class StudySelection(Record, frozen=True, kw_only=True):
    """Conditions on studies; each is ignored if it is absent.

    Attributes:
        limit: number of the newest studies that meet the other conditions.
        labels: labels that the study has, all of them.
        command: part of the command.
        since: earliest time of creation, in seconds since 1970 (UTC).
        before: time of creation that the study precedes, in seconds since 1970 (UTC).
        machine: beginning of the fingerprint of a machine of the study, or a part of the name of
            its processor.
        kinds: possible commands of the study.
    """

    limit: int | None = None
    labels: tuple[str, ...] | None = None
    command: str | None = None
    since: float | None = None
    before: float | None = None
    machine: str | None = None
    kinds: tuple[Kind, ...] | None = None


class StudyRecord(Record, frozen=True, kw_only=True):
    """A study without its samples.

    Attributes:
        status: as in :class:`StudyHead`.
        strata: strata in order of their numbers.
        elapsed_s: time spent over all sessions, as passed to ``add_elapsed``, in seconds.
        launches: number of stored samples.
        created_at: time of creation, in seconds since 1970 (UTC).
        labels: labels that the user assigned, in alphabetical order.
    """

    id: str
    spec: StudySpec
    status: Status
    strata: tuple[Stratum, ...]
    conclusion: Conclusion | None = None
    elapsed_s: float = 0.0
    launches: int = 0
    created_at: float = 0.0
    labels: tuple[str, ...] = ()


class StoredStratum(Record, frozen=True, kw_only=True):
    """Stratum of a study without its samples.

    Attributes:
        study: id of the study.
        spec: specification of the study.
        stratum: the stratum.
        created_at: time of creation of the study, in seconds since 1970 (UTC).
        elapsed_s: time spent on the study over all sessions, in seconds.
        launches: number of stored samples of the study.
    """

    study: str
    spec: StudySpec
    stratum: Stratum
    created_at: float
    elapsed_s: float
    launches: int


class FileUse(NamedTuple):
    """Use of a database file.

    Attributes:
        size_bytes: size of the file.
        free_bytes: space within the file that new samples will use.
    """

    size_bytes: int
    free_bytes: int


EVERY_STUDY = StudySelection()


class Store(Protocol):
    """Storage of studies and their raw samples.

    Every write is committed when the method returns, and survives a crash of the process. Only the
    store that holds a study may write to it. ``create_study`` and ``acquire`` acquire the hold;
    ``release``, ``close`` and the end of the process release it. Reading needs no hold.

    ``study_id`` is a complete id, as returned by ``find``; an unknown one raises
    ``InvalidInputError``. All methods raise ``StoreUnusableError`` if the database is locked, full,
    damaged or unreachable.
    """

    @property
    def waited_s(self) -> float:
        """Return the time spent waiting for write locks of other processes, in seconds."""
        ...

    def create_study(self, spec: StudySpec, stratum: Stratum, created_at: float) -> str:
        """Create a study with its first stratum, acquire the hold and return the id.

        The status is ``RUNNING``. ``created_at`` is in seconds since 1970 (UTC).
        """
        ...

    def find(self, text: str) -> str:
        """Return the id for an id, a unique prefix of one, or ``last``.

        Raises:
            InvalidInputError: no match, or several; names the nearest.
        """
        ...

    def studies(self, selection: StudySelection = EVERY_STUDY) -> list[StudyHead]:
        """Return the selected studies, oldest first, without reading samples.

        Samples of studies that are running, interrupted, or of an older assay are counted.
        """
        ...

    def study(self, study_id: str) -> StudyRecord:
        """Return a study without its samples."""
        ...

    def acquire(self, study_id: str) -> None:
        """Acquire the hold on a study; without effect if this store has it already.

        Raises:
            NotPossibleError: another process, or another store of this process, holds it.
        """
        ...

    def release(self, study_id: str) -> None:
        """Release the hold on a study; without effect if this store does not have it."""
        ...

    def add_stratum(self, study_id: str, stratum: Stratum) -> None:
        """Add a stratum to a held study.

        Raises:
            InvalidInputError: a stratum with this number exists.
        """
        ...

    def strata(self, study_id: str) -> list[Stratum]:
        """Return the strata of a study in order of their numbers."""
        ...

    def strata_of_machines(self, machines: Collection[str], kind: Kind) -> list[StoredStratum]:
        """Return the strata of some machines, and those of all studies of a kind, oldest first.

        Equal specifications and machine documents are one object: they are the largest part, and
        most studies of a machine share them.

        Args:
            machines: fingerprints of machines.
            kind: kind of studies whose strata of other machines are returned as well.
        """
        ...

    def add_sample(
        self, study_id: str, stratum_number: int, sample: Sample, plan: Plan | None = None
    ) -> int:
        """Store a sample of a held study and return its number; numbers increase.

        The outputs are stored with it, and the plan once for each configuration of a stratum, in
        one transaction.

        Raises:
            InvalidInputError: unknown stratum; duplicate block, position and attempt; or a sample
                that could not be decoded again (a value that is not a number).
        """
        ...

    def samples(self, study_id: str, stratum_number: int | None = None) -> list[Sample]:
        """Return the samples of a study or stratum, without outputs, in the order of storing."""
        ...

    def iterate_samples(self, study_id: str, stratum_number: int | None = None) -> Iterator[Sample]:
        """Iterate over the samples that ``samples`` returns; they are read in pages.

        Samples that are added during the iteration are left out. The iteration holds no lock
        between pages.

        Raises:
            InvalidInputError: unknown study, also one that is deleted during the iteration.
        """
        ...

    def sample_pages(self, study_id: str, stratum_number: int, size: int) -> Iterator[SamplePage]:
        """Iterate over the samples of ``iterate_samples`` in pages, still in their packed form.

        A caller that reads samples again later can keep the pages, which take little memory.

        Args:
            study_id: complete id.
            stratum_number: number of a stratum.
            size: number of samples of each page but the last.

        Raises:
            InvalidInputError: see ``iterate_samples``.
        """
        ...

    def decoded_samples(
        self, study_id: str, stratum_number: int | None, decode: Callable[[bytes | str], T]
    ) -> Iterator[T]:
        """Iterate over the samples of ``iterate_samples`` in the form of another decoder.

        An older assay may have spelled a document differently: numbers without a fraction, and keys
        with default values.

        Args:
            study_id: complete id.
            stratum_number: number of a stratum; ``None`` for all.
            decode: decodes a JSON document; it raises ``InvalidInputError`` for an invalid one.

        Raises:
            NotPossibleError: a document is unreadable.
        """
        ...

    def count_samples(self, study_id: str, stratum_number: int) -> int:
        """Return the number of samples of a stratum."""
        ...

    def outputs(self, study_id: str, stratum_number: int) -> Iterator[tuple[Output, ...]]:
        """Iterate over the stored outputs of each sample of a stratum, in the order of ``samples``.

        The outputs are read in pages. Samples without stored outputs yield an empty tuple.
        """
        ...

    def plans(self, study_id: str, stratum_number: int) -> list[Plan]:
        """Return the plans of the samples of a stratum, one for each configuration."""
        ...

    def set_status(self, study_id: str, status: Status) -> None:
        """Set the status of a held study."""
        ...

    def add_label(self, study_id: str, label: str) -> None:
        """Assign a label to a study, which needs no hold; without effect if it has it already.

        Raises:
            InvalidInputError: unknown study, or an invalid label.
        """
        ...

    def remove_label(self, study_id: str, label: str) -> None:
        """Remove a label from a study, which needs no hold; without effect if it lacks it.

        Raises:
            InvalidInputError: unknown study.
        """
        ...

    def add_elapsed(self, study_id: str, seconds: float) -> None:
        """Add to the time spent on a held study, in seconds."""
        ...

    def set_conclusion(self, study_id: str, conclusion: Conclusion) -> None:
        """Store the conclusion of the newest stratum; it replaces an earlier one."""
        ...

    def conclusion(self, study_id: str) -> Conclusion | None:
        """Return the newest conclusion, or ``None``."""
        ...

    def conclusions(self, study_id: str) -> dict[int, Conclusion]:
        """Return the conclusions by stratum number."""
        ...

    def add_overhead(self, overhead: Overhead) -> None:
        """Store a calibration of the cost of observations, in addition to earlier ones."""
        ...

    def overheads(self, machine: str) -> tuple[Overhead, ...]:
        """Return the calibrations of the cost of observations on a machine, newest first.

        Contains the newest one for the built-in loads and for each command. ``machine`` is a
        fingerprint.
        """
        ...

    def delete(self, study_id: str) -> None:
        """Delete a study with all its samples.

        Raises:
            NotPossibleError: another process, or another store of this process, holds it.
        """
        ...

    def study_bytes(self, study_id: str) -> int:
        """Return the approximate size that the deletion of a study frees, in bytes."""
        ...

    def freed_bytes(self, study_id: str, stratum_number: int, samples: Sequence[Sample]) -> int:
        """Return the approximate size that ``replace_samples`` would free, in bytes."""
        ...

    def replace_samples(
        self, study_id: str, stratum_number: int, samples: Sequence[Sample]
    ) -> None:
        """Replace the samples of a stratum of a held study, in order, and delete all outputs.

        The last stored samples are deleted if there are fewer new ones.

        Raises:
            InvalidInputError: more samples than are stored, or one that could not be decoded again.
        """
        ...

    def compact(self, study_id: str) -> Iterator[int]:
        """Pack the documents of a study that an older assay wrote, in small transactions.

        Yields the number of packed samples of each transaction. The iteration holds the study;
        if it ends early, another one continues it.

        Raises:
            NotPossibleError: another process, or another store of this process, holds the study; or
                a document is unreadable.
        """
        ...

    def file_use(self) -> FileUse:
        """Return the size of the store, and the free space within."""
        ...

    def demand_space_for_vacuum(self) -> None:
        """Raise an error if ``vacuum`` could fill the disk, before the first change.

        Raises:
            NotPossibleError: too little free space; states the sizes.
        """
        ...

    def vacuum(self) -> None:
        """Return free space within the store to the file system. No process can write meanwhile.

        Raises:
            NotPossibleError: too little free space; states the sizes.
        """
        ...

    def close(self) -> None:
        """Release all holds and close the database; the store is unusable afterwards."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
