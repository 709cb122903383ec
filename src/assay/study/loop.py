"""Study loop: ask the race, launch, store, report the sample to the race."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import msgspec

from assay.errors import (
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
    Plan,
    Sample,
    Stage,
    Status,
    StudySpec,
)
from assay.search.history.history import DEFAULT_ARM
from assay.search.races.race import Ending, EndReason, Race
from assay.search.races.tune import LONG_LAUNCH_S
from assay.search.space.switching import HardToChangeFactors
from assay.store import Store
from assay.study.booting import BootCheck
from assay.study.budget_account import BudgetAccount
from assay.study.demands import (
    demand_available,
    demand_objective,
    demand_reports,
    demand_required,
    required_metrics,
)
from assay.study.failures import FailedLaunches
from assay.study.first_block import counted_first_launch
from assay.study.hard_to_change import HardToChangeApplier
from assay.study.listener import Listener
from assay.study.program_files import ProgramFiles
from assay.study.stop import CHECK_INTERVAL_S, StopSignal
from assay.wording.budget_words import IN_PYTHON, ON_COMMAND_LINE, BudgetWords
from assay.wording.endings import SHORTER_LAUNCHES
from assay.wording.unreached import is_diverged, is_unreached

Planner = Callable[[Configuration, int | None], Plan]
"""Function that resolves a configuration on this machine, in a slot if there are slots."""

FAILED_ENDS = (EndReason.WORKLOAD_FAILED, EndReason.TOO_SMALL)
"""Reasons of an end that is an error."""


class StudyLoop:
    """Runs a study to its end.

    Args:
        study_id, stratum: study and stratum of the samples.
        spec: specification of the study.
        store, race, executor: store of the samples, race that selects launches, executor that runs
            them.
        planner: resolves configurations.
        account: spent and remaining budget.
        listener: receiver of the progress.
        watch: identity of the program's files.
        boots: check of the present boot; absent without boot settings.
        failures: failed launches of earlier sessions.
        stop: request of another thread to stop the study; absent if no thread can make it.
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
        stop: StopSignal | None = None,
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
        self._fidelity = spec.fidelity
        self._slots = spec.parallel or 1
        self._in_flight = 0
        self._failures = failures or FailedLaunches(spec)
        self._stop = stop

    def run(self) -> Ending:
        """Run until the race ends.

        An interrupt loses only running launches: every sample is committed before the next launch.

        Raises:
            InvalidInputError: the output of the program lacks the objective.
            NotPossibleError: the budget is too small for a claim.
            WorkloadFailedError: the program always fails.
            StudyPaused: the next launch requires another boot.
            StudyStopped: another thread has stopped the study.
            MissingInputError, ProgramChangedError: files of the program were removed or changed;
                the launch is discarded.
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
            finally:  # an interrupt may end a clean-up early
                self._account.end()
                # Show the first error only: a full disk rejects these writes as well.
                with contextlib.suppress(NotPossibleError):
                    self._store.add_elapsed(self._id, self._account.session_s)
                    self._store.set_status(self._id, status)
                    # An interrupt may arrive between storing a sample and reporting it.
                    self._listener.ended(self._store.study(self._id).launches)
        self._refuse(done)
        return done

    def _close(self) -> None:
        """Terminate running launches and release the executor.

        Failures of the clean-up or of restoring the machine are reported as warnings, because the
        samples are valid.
        """
        try:
            if self._in_flight and (grace_s := self._executor.ask_to_end()):
                self._listener.ending(grace_s)
            self._executor.close()
        except (WorkloadFailedError, NotRestoredError) as error:
            self._listener.warned(error)

    def _until_done(self) -> Ending:
        while True:
            answer = self._race.ask(self._slots - self._in_flight, self._account.left)
            if isinstance(answer, Ending):
                return answer
            for launch in answer:
                if self._boots is not None:
                    self._boots.demand(launch)
                if self._stop is not None:
                    self._stop.check()
                self._listener.launching(launch, self._account.left)
                plan = self._plan(launch)
                self._applied.before(launch, plan)
                self._warm_up(launch, plan)
                self._executor.submit(launch, plan)
                self._in_flight += 1
            for sample in awaited_samples(self._executor, self._stop):
                self._in_flight -= 1
                self._take(sample)

    def _warm_up(self, launch: Launch, plan: Plan) -> None:
        """Run an unrecorded launch if an arm runs for the first time in a boot."""
        if self._boots is None or not self._boots.is_cold(launch):
            return
        # It belongs to no block: the first launch of a block runs the speed probe.
        self._executor.submit(msgspec.structs.replace(launch, block=-1, block_arms=None), plan)
        self._executor.poll(None)
        self._boots.warmed(launch.arm)

    def _plan(self, launch: Launch) -> Plan:
        configuration = launch.configuration
        if self._fidelity is not None and launch.fidelity is not None:
            configuration = configuration.having(self._fidelity.name, launch.fidelity)
        key = configuration, launch.cpu_slot
        if key not in self._plans:
            self._plans[key] = self._planner(*key)
        return self._plans[key]

    def _take(self, sample: Sample) -> None:
        """Store a sample before it is used, so that all decisions rest on stored samples."""
        self._watch.demand_same()
        sample = self._applied.with_evidence(sample)
        first = self._account.launches == 0
        surveyed = sample.launch.stage is Stage.SURVEY
        if first:
            sample = counted_first_launch(sample, self._spec)
        if self._boots is not None:
            sample = self._boots.with_evidence(sample)
        # One plan is stored for each configuration: that of the first slot and the full fidelity,
        # which the script uses.
        plan = self._plan(msgspec.structs.replace(sample.launch, cpu_slot=None, fidelity=None))
        with self._account.storing(self._store):
            self._store.add_sample(self._id, self._stratum, sample, plan)
        outputs = sample.outputs
        sample = msgspec.structs.replace(sample, outputs=())  # the race keeps all samples
        self._race.tell(sample)
        self._listener.sampled(sample, self._race, self._account.left)
        self._failures.add(sample, outputs)
        if self._account.launches == 1:
            demand_available(sample, self._spec.workload.metrics)
        if surveyed and self._depends_on(sample.launch.arm):
            demand_reports(sample, self._spec.workload)
            for metric in self._demanded(sample, self._spec.targets):
                demand_objective(sample, metric)
            required = required_metrics(self._spec.workload, self._spec.requirements)
            demand_required(sample, self._demanded(sample, required))

    def _demanded(self, sample: Sample, metrics: Sequence[Metric]) -> list[Metric]:
        """Return the metrics that an arm must have.

        A level that it never reaches is a result, and so is a last value of NaN.

        Other arms are compared without it. The first one cannot be replaced.
        """
        first = self._spec.arms[0].name if self._spec.arms else DEFAULT_ARM.name
        if sample.launch.arm == first:
            return list(metrics)
        return [
            metric
            for metric in metrics
            if not is_unreached(sample, metric) and not is_diverged(sample, metric)
        ]

    def _depends_on(self, arm: str) -> bool:
        """Return whether the study depends on an arm.

        A sweep continues without a cell, and a search without a candidate.
        """
        if self._spec.kind is Kind.TUNE:
            return arm == DEFAULT_ARM.name
        return self._spec.kind is not Kind.SWEEP or arm == self._spec.arms[0].name

    def _refuse(self, done: Ending) -> None:
        """Raise an error for ends that are errors."""
        if done.reason is EndReason.WORKLOAD_FAILED:
            reason, remedy = self._failures.explain(done.arms)
            raise WorkloadFailedError(f"{done.message}{reason}", remedy)
        if done.reason is EndReason.TOO_SMALL:
            needed = done.needed or Budget()
            raise NotPossibleError(
                done.message,
                self._larger(needed, ON_COMMAND_LINE),
                python_remedy=self._larger(needed, IN_PYTHON),
            )

    def _larger(self, needed: Budget, words: BudgetWords) -> str:
        """Return the sufficient budget, and the missing part of it to resume the study."""
        account = self._account
        whole = f"A sufficient budget is about {words.of(account.budget, needed)}"
        if not account.launches:
            return f"{whole}."
        usual_s = account.spent_s / account.launches
        if usual_s > LONG_LAUNCH_S and self._spec.workload.steady_metric is None:
            whole = f"{SHORTER_LAUNCHES} {whole}"
        rest = Budget(
            time_s=None if needed.time_s is None else max(needed.time_s - account.spent_s, 1.0),
            launches=None if needed.launches is None else needed.launches - account.launches,
        )
        resuming = words.resume(self._id, account.left, rest)
        return f"{whole}; `{resuming}` keeps the present samples."


def awaited_samples(executor: Executor, stop: StopSignal | None) -> list[Sample]:
    """Wait for a finished launch, and return the samples.

    Args:
        executor: executor with running launches.
        stop: request of another thread to stop the study; ``None`` if no thread can make it.

    Raises:
        StudyStopped: another thread has stopped the study.
    """
    if stop is None:
        return executor.poll(None)
    while True:
        stop.check()
        if samples := executor.poll(CHECK_INTERVAL_S):
            return samples
