"""The loop: ask the race, launch, store, tell."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from assay.errors import (
    AssayError,
    InvalidInputError,
    NotPossibleError,
    StudyPaused,
    WorkloadFailedError,
)
from assay.executors.executor import Executor
from assay.host.system_hold import NotRestoredError
from assay.records import (
    Budget,
    Configuration,
    Kind,
    Launch,
    Metric,
    Outcome,
    Plan,
    Requirement,
    Sample,
    Stage,
    Status,
    StudySpec,
    Workload,
)
from assay.records.workload import HOST_DEPENDENT_METRICS
from assay.search.history.history import DEFAULT_ARM
from assay.search.races.race import Ending, EndReason, Race
from assay.search.space.switching import HardToChangeFactors
from assay.store import Store
from assay.study.booting import BootCheck
from assay.study.failures import FailedLaunches
from assay.study.hard_to_change import HardToChangeApplier
from assay.study.program_files import ProgramFiles
from assay.wording.sentence import budget_options

Planner = Callable[[Configuration, int | None], Plan]
"""Resolves a configuration on the machine at hand, in one of its slots where it has any."""

FAILED_ENDS = (EndReason.WORKLOAD_FAILED, EndReason.TOO_SMALL)
"""Ends that are errors."""


class Listener(Protocol):
    """Is told how a study goes on; shows it."""

    def began(self, study_id: str) -> None:
        """The study is kept under this id from now on."""
        ...

    def warned(self, error: AssayError) -> None:
        """Something went wrong that does not end the study."""
        ...

    def launching(self, launch: Launch, left: Budget) -> None:
        """A launch is about to begin."""
        ...

    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        """Is entered while the program of a launch is built."""
        ...

    def sampled(self, sample: Sample, race: Race, left: Budget) -> None:
        """A launch has ended and is stored."""
        ...

    def ending(self, grace_s: float) -> None:
        """What runs was asked to end, and is killed after this time unless it has."""
        ...

    def ended(self, launches: int) -> None:
        """The study goes on no more, whatever ended it; so many launches of it are stored."""
        ...


@dataclass
class BudgetAccount:
    """What a study has spent over all its sittings.

    Attributes:
        budget: what may be spent in all.
        elapsed_s: by earlier sittings.
        launches: by earlier sittings and this one.
        waited_s: of this sitting, until others let the store be written: it is not spent, for
            nothing can be measured meanwhile.
    """

    budget: Budget
    elapsed_s: float = 0.0
    launches: int = 0
    waited_s: float = 0.0
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None

    @property
    def sitting_s(self) -> float:
        """Time of this sitting, so far or until its end."""
        now = time.monotonic() if self.ended is None else self.ended
        return now - self.began - self.waited_s

    def end(self) -> None:
        """This sitting is over: what is shown of it is what was stored."""
        self.ended = time.monotonic()

    @property
    def spent_s(self) -> float:
        """Time of all sittings."""
        return self.elapsed_s + self.sitting_s

    @property
    def left(self) -> Budget:
        """What may still be spent."""
        time_s, launches = self.budget.time_s, self.budget.launches
        return Budget(
            time_s=None if time_s is None else time_s - self.spent_s,
            launches=None if launches is None else launches - self.launches,
        )


class StudyLoop:
    """Carries a study on to its end.

    Args:
        study_id, stratum: where samples are stored.
        spec: what is asked.
        store, race, executor: the three that work together.
        planner: resolves configurations.
        account: what was spent and what is left.
        listener: is told.
        watch: of the program's files.
        boots: say whether the present boot has what a launch needs; absent where none takes one.
        failures: of earlier sittings.
    """

    def __init__(
        self,
        study_id: str,
        stratum: int,
        spec: StudySpec,
        *,
        store: Store,
        race: Race,
        executor: Executor,
        planner: Planner,
        account: BudgetAccount,
        listener: Listener,
        watch: ProgramFiles,
        boots: BootCheck | None = None,
        failures: FailedLaunches | None = None,
    ) -> None:
        self._id = study_id
        self._stratum = stratum
        self._spec = spec
        self._store = store
        self._race = race
        self._executor = executor
        self._applied = HardToChangeApplier(HardToChangeFactors.of(spec), executor)
        self._planner = planner
        self._account = account
        self._listener = listener
        self._watch = watch
        self._boots = boots
        self._plans: dict[tuple[Configuration, int | None], Plan] = {}
        self._slots = spec.parallel or 1
        self._flying = 0
        self._failures = failures or FailedLaunches(spec)

    def run(self) -> Ending:
        """Go on until the race is over.

        What is in flight is lost when this is interrupted, nothing else: every sample was committed
        before another launch began.

        Raises:
            InvalidInputError: the program's output does not hold the objective.
            NotPossibleError: the budget is too small for a claim.
            WorkloadFailedError: the program fails whatever is done.
            Pause: the next launch needs another boot.
            Gone, Changed: somebody took away or changed what runs; the launch makes no sample.
        """
        status = Status.INTERRUPTED
        try:
            done = self._until_done()
            status = Status.FAILED if done.reason in FAILED_ENDS else Status.DONE
        except InvalidInputError:
            status = Status.FAILED
            raise
        except StudyPaused:
            status = Status.PAUSED
            raise
        finally:
            try:
                self._close()
            finally:  # an interrupt may cut a clean-up short
                self._account.end()
                # The first error is the one to show: a full disk refuses these as well.
                with contextlib.suppress(NotPossibleError):
                    self._store.add_elapsed(self._id, self._account.sitting_s)
                    self._store.set_status(self._id, status)
                    # An interruption may come after a sample was stored and before that was told.
                    self._listener.ended(self._store.study(self._id).launches)
        self._refuse(done)
        return done

    def _close(self) -> None:
        """End what runs. A clean-up that fails takes nothing from what was measured.

        Nor does a machine that cannot be put back to what it was; it is told.
        """
        try:
            if self._flying and (grace_s := self._executor.ask_to_end()):
                self._listener.ending(grace_s)
            self._executor.close()
        except (WorkloadFailedError, NotRestoredError) as error:
            self._listener.warned(error)

    def _until_done(self) -> Ending:
        while True:
            answer = self._race.ask(self._slots - self._flying, self._account.left)
            if isinstance(answer, Ending):
                return answer
            for launch in answer:
                if self._boots is not None:
                    self._boots.demand(launch)
                self._listener.launching(launch, self._account.left)
                plan = self._plan(launch)
                self._applied.before(launch, plan)
                self._warm_up(launch, plan)
                self._executor.submit(launch, plan)
                self._flying += 1
            for sample in self._executor.poll(None):
                self._flying -= 1
                self._take(sample)

    def _warm_up(self, launch: Launch, plan: Plan) -> None:
        """Make one launch that is no sample where an arm runs for the first time in a boot."""
        if self._boots is None or not self._boots.is_cold(launch):
            return
        # It stands in no block: the first launch of a block is told how fast the machine is.
        self._executor.submit(msgspec.structs.replace(launch, block=-1, roster=None), plan)
        self._executor.poll(None)
        self._boots.warmed(launch.arm)

    def _plan(self, launch: Launch) -> Plan:
        key = launch.configuration, launch.slot
        if key not in self._plans:
            self._plans[key] = self._planner(*key)
        return self._plans[key]

    def _take(self, sample: Sample) -> None:
        """Store first, then decide: what was decided on is always on the disk."""
        self._watch.demand_same()
        sample = self._applied.told(sample)
        if self._boots is not None:
            sample = self._boots.told(sample)
        waited_s = self._store.waited_s
        try:
            # One is kept for each configuration: that of the first slot, which the script follows.
            plan = self._plan(msgspec.structs.replace(sample.launch, slot=None))
            self._store.add_sample(self._id, self._stratum, sample, plan)
        finally:
            self._account.waited_s += self._store.waited_s - waited_s
        self._account.launches += 1
        outputs = sample.outputs
        sample = msgspec.structs.replace(sample, outputs=())  # the race remembers all samples
        self._race.tell(sample)
        self._listener.sampled(sample, self._race, self._account.left)
        self._failures.add(sample, outputs)
        if self._account.launches == 1:
            demand_available(sample, self._spec.workload.metrics)
        if sample.launch.stage is Stage.SURVEY and self._hangs_on(sample.launch.arm):
            for metric in self._spec.targets:
                demand_objective(sample, metric)
            demand_readable(sample, required_metrics(self._spec.workload, self._spec.require))

    def _hangs_on(self, arm: str) -> bool:
        """Return whether nothing could go on without an arm.

        A sweep goes on without a cell, and a search without what it warms up.
        """
        if self._spec.kind is Kind.TUNE:
            return arm == DEFAULT_ARM.name
        return self._spec.kind is not Kind.SWEEP or arm == self._spec.arms[0].name

    def _refuse(self, done: Ending) -> None:
        """Turn the ends that are errors into errors."""
        if done.reason is EndReason.WORKLOAD_FAILED:
            told, remedy = self._failures.told(done.arms)
            raise WorkloadFailedError(f"{done.message}{told}", remedy)
        if done.reason is EndReason.TOO_SMALL:
            raise NotPossibleError(done.message, self._larger(done.needed or Budget()))

    def _larger(self, needed: Budget) -> str:
        """What budget would do, and what is missing of it to go on with what was measured."""
        account = self._account
        whole = f"It takes about {budget_options(account.budget, needed)}"
        if not account.launches:
            return f"{whole}."
        rest = Budget(
            time_s=None if needed.time_s is None else max(needed.time_s - account.spent_s, 1.0),
            launches=None if needed.launches is None else needed.launches - account.launches,
        )
        more = budget_options(account.left, rest)
        return f"{whole}; `assay study resume {self._id} {more}` goes on with what was measured."


def demand_available(sample: Sample, metrics: Sequence[Metric]) -> None:
    """Refuse a study of what this host cannot count, as its first launch shows.

    Raises:
        NotPossibleError: a sample that ended well lacks a built-in metric that not every host has.
    """
    if sample.outcome is not Outcome.OK:
        return
    for metric in metrics:
        asked = metric.pattern is None and metric.name in HOST_DEPENDENT_METRICS
        if asked and metric.name not in sample.metrics:
            raise NotPossibleError(
                f"This host does not give {metric.name}: {sample.absent.get(metric.name)}.",
                "Leave it out, or measure wall_s.",
            )


def demand_objective(sample: Sample, objective: Metric) -> None:
    """Refuse a program whose output does not hold what it is to be judged by.

    Raises:
        InvalidInputError: a sample that ended well lacks the objective.
        NotPossibleError: it is one that this host does not give.
    """
    if sample.outcome is not Outcome.OK:
        return
    demand_available(sample, (objective,))
    if objective.name not in sample.metrics:
        demand_readable(sample, (objective,))


def demand_readable(sample: Sample, metrics: Sequence[Metric]) -> None:
    """Refuse a program whose output does not hold figures that the answer hangs on.

    Raises:
        InvalidInputError: a sample that ended well lacks one.
        NotPossibleError: it is one that this host does not give.
    """
    if sample.outcome is not Outcome.OK:
        return
    demand_available(sample, metrics)
    for metric in metrics:
        if metric.name not in sample.metrics:
            read = metric.pattern is not None
            raise InvalidInputError(
                f"The metric {metric.name} cannot be read: {sample.absent.get(metric.name)}.",
                "Correct the pattern with --metric NAME=REGEX, or measure wall_s."
                if read
                else "Give the program more to do, or choose another metric, such as wall_s.",
            )


def required_metrics(workload: Workload, require: Sequence[Requirement]) -> tuple[Metric, ...]:
    """The metrics that requirements are on."""
    names = {one.metric for one in require}
    return tuple(metric for metric in workload.metrics if metric.name in names)
