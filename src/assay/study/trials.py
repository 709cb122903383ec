"""Studies of trials: the user's processes run them, and assay launches nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from assay.machine.reader import read_machine
from assay.records import (
    Evidence,
    Launch,
    Sample,
    Status,
    Stratum,
    StudySpec,
)
from assay.records.sample import PROCESS
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.race import Ending
from assay.search.races.trial_race import TrialRace
from assay.search.space.named_configurations import make_search_space
from assay.store import Store, StudyRecord
from assay.study.budget_account import BudgetAccount
from assay.study.elapsed import elapsed_of
from assay.study.loop import FAILED_ENDS
from assay.study.recorded_samples import stored_samples
from assay.study.stratum import (
    conditions_changed,
    differences,
    new_variables,
    stratum_of,
)


@dataclass(frozen=True)
class OwnProcess:
    """The present process.

    Attributes:
        identity: text that differs between programs that were started separately, and that forked
            children share.
        environment: its variables before its first trial; imports within a trial may add some.
        program_digest: digest of its script; ``None`` without one.
    """

    identity: str
    environment: Mapping[str, str]
    program_digest: str | None = None


class TrialStudy:
    """Study whose trials run in the present process.

    It holds the study until it is closed.

    Args:
        store: store of the study.
        study_id: id of the study, held by the store.
        spec: specification of the study.
        stratum: stratum of the trials.
        own: the present process.
        account: budget of the process, and its spent part.
    """

    def __init__(
        self,
        store: Store,
        study_id: str,
        spec: StudySpec,
        stratum: Stratum,
        own: OwnProcess,
        account: BudgetAccount,
    ) -> None:
        self.id = study_id
        self.spec = spec
        self._store = store
        self._stratum = stratum.number
        self._account = account
        self._evidence = Evidence(kind=PROCESS, note=own.identity)
        earlier = stored_samples(store, study_id, stratum.number)
        self._race = _race(spec, process_number(earlier, own))
        for sample in earlier:
            self._race.tell(sample)
        self._race.begin_process()

    def ask(self) -> Launch | Ending:
        """Return the next trial as a launch, or the end of the trials of this process."""
        answer = self._race.ask(1, self._account.left)
        return answer if isinstance(answer, Ending) else answer[0]

    def tell(self, sample: Sample) -> None:
        """Store the sample of a finished trial, and let the search use it."""
        sample = msgspec.structs.replace(sample, evidence=(*sample.evidence, self._evidence))
        with self._account.storing(self._store):
            self._store.add_sample(self.id, self._stratum, sample)
        self._race.tell(sample)

    def close(self, done: Ending | None) -> None:
        """Store the time and the state of the study.

        Args:
            done: end of the trials of this process; ``None`` if they were interrupted.
        """
        self._account.end()
        self._store.add_elapsed(self.id, self._account.session_s)
        if done is None:
            self._store.set_status(self.id, Status.INTERRUPTED)
            return
        failed = done.reason in FAILED_ENDS
        if not failed:
            conclude_trials(self._store, self.id, done)
        self._store.set_status(self.id, Status.FAILED if failed else Status.DONE)


def begin_trials(
    store: Store, spec: StudySpec, own: OwnProcess, account: BudgetAccount
) -> TrialStudy:
    """Create a study of trials.

    Args:
        store: store of the study.
        spec: specification of the study.
        own: the present process.
        account: budget of the process, and its spent part.
    """
    stratum = _present_stratum(0, own)
    study_id = store.create_study(spec, stratum, time.time())
    return TrialStudy(store, study_id, spec, stratum, own, account)


def continue_trials(
    store: Store,
    record: StudyRecord,
    own: OwnProcess,
    account: BudgetAccount,
    *,
    new_stratum: bool = False,
) -> TrialStudy:
    """Continue a study of trials in the present process.

    Args:
        store: store of the study.
        record: record of the study.
        own: the present process.
        account: budget of the process, and its spent part.
        new_stratum: start a new stratum, whose trials are not pooled with earlier ones.

    Raises:
        NotPossibleError: another process runs the study, or conditions changed.
    """
    newest = record.strata[-1]
    now = _present_stratum(newest.number, own)
    changed = [] if new_stratum else differences(newest, now)
    if changed:
        raise conditions_changed(changed, new_variables(newest, now)).for_python()
    store.acquire(record.id)
    store.add_elapsed(record.id, max(0.0, elapsed_of(store, record) - record.elapsed_s))
    if new_stratum:
        now = msgspec.structs.replace(now, number=newest.number + 1)
        store.add_stratum(record.id, now)
    store.set_status(record.id, Status.RUNNING)
    return TrialStudy(store, record.id, record.spec, now, own, account)


def conclude_trials(store: Store, study_id: str, done: Ending | None) -> None:
    """Store the conclusion of the newest stratum of a held study.

    Args:
        store: store of the study.
        study_id: id of the study.
        done: end of the trials of the newest process; ``None`` if they were interrupted.
    """
    record = store.study(study_id)
    samples = stored_samples(store, study_id, record.strata[-1].number)
    space, searcher = make_search_space(record.spec.space), _searcher(record.spec)
    store.set_conclusion(study_id, conclude(record.spec, samples, space, searcher, done))


def process_number(samples: Sequence[Sample], own: OwnProcess) -> int:
    """Return the number of the present process in a study.

    Args:
        samples: earlier samples of the stratum.
        own: the present process; it keeps its number if it ran earlier trials.
    """
    numbers = [sample.launch.process or 0 for sample in samples]
    for sample, number in zip(samples, numbers, strict=True):
        if any(piece.kind == PROCESS and piece.note == own.identity for piece in sample.evidence):
            return number
    return 1 + max(numbers, default=-1)


def _race(spec: StudySpec, process: int) -> TrialRace:
    return TrialRace(spec, make_search_space(spec.space), _searcher(spec), process)


def _searcher(spec: StudySpec) -> GpSearcher:
    return GpSearcher(earlier=spec.earlier_studies)


def _present_stratum(number: int, own: OwnProcess) -> Stratum:
    return stratum_of(number, read_machine(config=True), own.program_digest, own.environment)
