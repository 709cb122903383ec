"""Study loop with a simulated store and executor."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from assay.errors import AssayError, InvalidInputError, NotPossibleError, WorkloadFailedError
from assay.executors.executor import Ticket
from assay.executors.missing_inputs import MissingInputError
from assay.records import (
    Budget,
    Choices,
    Configuration,
    Kind,
    Launch,
    Metric,
    Outcome,
    Output,
    Parameter,
    Plan,
    Sample,
    Space,
    Stage,
    Status,
    StudySpec,
    Workload,
)
from assay.records.workload import WALL
from assay.search.races.race import Ending, EndReason, Race
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.study.budget_account import BudgetAccount
from assay.study.demands import demand_objective
from assay.study.failures import FailedLaunches
from assay.study.loop import StudyLoop
from assay.study.program_files import ProgramChangedError, ProgramFiles
from assay.testing.search_contracts import RandomSearcher, SimulatedProgram

AMPLE = Budget(launches=100)
SPACE = Space(parameters=(Parameter(name="nice", domain=Choices((0, 5))),))


class Remembering:
    """In-memory store with the methods that the loop uses."""

    def __init__(self, room: int = 1000) -> None:
        self.samples: list[Sample] = []
        self.status: Status | None = None
        self.elapsed_s = 0.0
        self.waited_s = 0.0
        self._room = room

    def add_sample(self, study_id: str, stratum: int, sample: Sample, plan: Plan) -> int:
        if len(self.samples) == self._room:
            raise NotPossibleError("No space is left on the disk.", "Make room.")
        assert plan.configuration == sample.launch.configuration
        self.samples.append(sample)
        return len(self.samples)

    def set_status(self, study_id: str, status: Status) -> None:
        if len(self.samples) == self._room:
            raise NotPossibleError("No space is left on the disk.", "Make room.")
        self.status = status

    def add_elapsed(self, study_id: str, seconds: float) -> None:
        self.elapsed_s += seconds

    def study(self, study_id: str) -> SimpleNamespace:
        return SimpleNamespace(launches=len(self.samples))


class Simulating:
    """Executor of simulated launches that can be interrupted."""

    def __init__(self, program: SimulatedProgram, interrupt_after: int = 10_000) -> None:
        self._program = program
        self._flying: list[Launch] = []
        self._until = interrupt_after
        self.launched = 0
        self.closed = False

    def submit(self, launch: Launch, plan: Plan) -> Ticket:
        assert plan.configuration == launch.configuration
        self._flying.append(launch)
        return Ticket(self.launched)

    def poll(self, timeout_s: float | None) -> list[Sample]:
        if self.launched == self._until:
            raise KeyboardInterrupt
        self.launched += 1
        return [self._program.run(self._flying.pop())]

    def ask_to_end(self) -> float:
        return 0.0

    def close(self) -> None:
        self.closed = True


class Silent:
    def started(self, study_id: str) -> None: ...
    def noticed(self, text: str) -> None: ...
    def watching(self, latest: object) -> None: ...
    def launching(self, launch: Launch, left: Budget) -> None: ...

    def warned(self, error: AssayError) -> None: ...
    def sampled(self, sample: Sample, race: Race, left: Budget) -> None: ...

    def ending(self, grace_s: float) -> None: ...
    def ended(self, launches: int) -> None: ...
    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        return nullcontext()


class Counting(Silent):
    """Listener that records the number of launches at the end."""

    launches = -1

    def ended(self, launches: int) -> None:
        self.launches = launches


def loop_of(
    store: Any,
    executor: Any,
    budget: Budget = AMPLE,
    metric: Metric = WALL,
    earlier: int = 0,
    files: tuple[str, ...] = (),
    failed: tuple[Sample, ...] = (),
    parallel: int | None = None,
) -> StudyLoop:
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("x",), metrics=(metric,)),
        budget=budget,
        space=SPACE,
        parallel=parallel,
    )
    return StudyLoop(
        "study1",
        0,
        spec,
        store=store,
        race=TuneRace(spec, SearchSpace(SPACE), RandomSearcher()),
        executor=executor,
        planner=lambda configuration, slot: Plan(configuration=configuration),
        account=BudgetAccount(budget=budget, launches=earlier),
        listener=Silent(),
        watch=ProgramFiles(files),
        failures=FailedLaunches(spec, failed),
    )


PROGRAM = SimulatedProgram(takes_s=lambda c: 0.8 if c.get("nice") == 5 else 1.0)


def test_loop_runs_until_race_ends() -> None:
    store, executor = Remembering(), Simulating(PROGRAM)
    done = loop_of(store, executor).run()
    assert done.reason in (EndReason.DECIDED, EndReason.BUDGET)
    assert store.status is Status.DONE
    assert len(store.samples) == executor.launched <= 100
    assert store.elapsed_s > 0
    assert executor.closed


def test_outputs_are_stored_and_not_passed_to_race() -> None:
    output = Output(stream="stdout", size_bytes=3, sha256="0" * 64, head=b"ok\n")

    class Writing(Simulating):
        def poll(self, timeout_s: float | None) -> list[Sample]:
            (sample,) = super().poll(timeout_s)
            return [msgspec.structs.replace(sample, outputs=(output,))]

    store, told = Remembering(), []
    loop = loop_of(store, Writing(PROGRAM))
    tell = loop._race.tell
    loop._race.tell = lambda sample: (told.append(sample), tell(sample))[1]  # type: ignore[method-assign]
    loop.run()
    assert [sample.outputs for sample in store.samples] == [(output,)] * len(store.samples)
    assert [sample.outputs for sample in told] == [()] * len(store.samples)


@pytest.mark.parametrize("ends", ["well", "locked"])
def test_waiting_for_store_is_excluded_from_budget(
    ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process locks the store for an hour before each sample."""
    waited_s = 0.0
    monotonic = time.monotonic
    monkeypatch.setattr("assay.study.budget_account.time.monotonic", lambda: monotonic() + waited_s)

    class Locked(Remembering):
        def add_sample(self, study_id: str, stratum: int, sample: Sample, plan: Plan) -> int:
            nonlocal waited_s
            waited_s += 3600.0
            self.waited_s += 3600.0
            if ends == "locked" and len(self.samples) == 20:
                raise NotPossibleError("The store is locked.", "Wait.")
            return super().add_sample(study_id, stratum, sample, plan)

    store, budget = Locked(), Budget(launches=100, time_s=1000.0)
    loop = loop_of(store, Simulating(PROGRAM), budget)
    if ends == "well":
        assert loop.run().reason in (EndReason.DECIDED, EndReason.BUDGET)
        assert len(store.samples) > 20
    else:
        with pytest.raises(NotPossibleError, match="locked"):
            loop.run()
        assert len(store.samples) == 20
    assert 0 < store.elapsed_s < 1000


@pytest.mark.parametrize("after", [0, 1, 13])
@pytest.mark.parametrize("change", [MissingInputError, ProgramChangedError])
def test_removed_or_changed_program_makes_no_samples(
    after: int, change: type[Exception], tmp_path: Path
) -> None:
    """The launch is neither a failure of a configuration nor pooled with other programs."""
    program = tmp_path / "program"
    program.write_text("one")

    class Meddling(Simulating):
        def poll(self, timeout_s: float | None) -> list[Sample]:
            if self.launched == after:
                program.unlink() if change is MissingInputError else program.write_text("another")
            return super().poll(timeout_s)

    store = Remembering()
    with pytest.raises(change, match=str(program)) as caught:
        loop_of(store, Meddling(PROGRAM), files=(str(program), "/never/there")).run()
    assert "assay study resume" in str(caught.value)
    assert store.status is Status.INTERRUPTED
    assert len(store.samples) == after


def test_topmost_missing_directory_is_named(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "work"
    program = folder / "bin" / "program"
    program.parent.mkdir(parents=True)
    program.touch()
    watch = ProgramFiles([str(program)])
    watch.demand_same()
    folder.rename(tmp_path / "aside")
    with pytest.raises(MissingInputError, match="folder") as caught:
        watch.demand_same()
    assert caught.value.path == str(folder)
    (tmp_path / "aside").rename(folder)
    watch.demand_same()


@pytest.mark.parametrize("after", [0, 1, 2, 13, 18])
def test_interrupt_loses_only_running_launch(after: int) -> None:
    store, executor = Remembering(), Simulating(PROGRAM, interrupt_after=after)
    loop = loop_of(store, executor)
    loop._listener = listener = Counting()
    with pytest.raises(KeyboardInterrupt):
        loop.run()
    assert listener.launches == after
    assert store.status is Status.INTERRUPTED
    assert len(store.samples) == after
    assert executor.closed


def test_samples_are_stored_before_race_decides() -> None:
    """An error of the race loses no sample."""

    class Broken(Silent):
        def sampled(self, sample: Sample, race: Race, left: Budget) -> None:
            raise RuntimeError("shown wrongly")

    store = Remembering()
    loop = loop_of(store, Simulating(PROGRAM))
    loop._listener = Broken()
    with pytest.raises(RuntimeError):
        loop.run()
    assert len(store.samples) == 1
    assert store.status is Status.INTERRUPTED


def test_always_failing_program_is_reported() -> None:
    store = Remembering()
    broken = SimulatedProgram(takes_s=lambda c: 1.0, fails=lambda c: 1.0)
    with pytest.raises(WorkloadFailedError) as caught:
        loop_of(store, Simulating(broken)).run()
    assert caught.value.exit_status == 1
    assert store.status is Status.FAILED
    assert store.samples


def test_last_output_of_failing_program_is_shown() -> None:
    class Saying(Simulating):
        def poll(self, timeout_s: float | None) -> list[Sample]:
            said = Output(stream="stdout", size_bytes=3, sha256="", head=b"hm\n")
            told = Output(stream="stderr", size_bytes=9, sha256="", head=b"no disk\n\n")
            ended = super().poll(timeout_s)
            return [msgspec.structs.replace(one, outputs=(said, told)) for one in ended]

    broken = SimulatedProgram(takes_s=lambda c: 1.0, fails=lambda c: 1.0)
    with pytest.raises(WorkloadFailedError, match=r"The last launch: .*\.\n    no disk\n"):
        loop_of(Remembering(), Saying(broken)).run()


def test_failure_of_earlier_session_is_reported_with_reason() -> None:
    """The race makes no further launch in this session."""
    launch = Launch(
        configuration=Configuration(), arm="default", stage=Stage.SEARCH, block=0, position=0
    )
    failed = Sample(launch=launch, outcome=Outcome.FAILED, message="exit status 1")
    loop = loop_of(Remembering(), Simulating(PROGRAM), failed=(failed,))
    loop._race = Finished()  # type: ignore[assignment]
    with pytest.raises(WorkloadFailedError, match=r"always\. The last launch: exit status 1\."):
        loop.run()


class Finished:
    """Race that has ended already."""

    def ask(self, count: int, left: Budget) -> Ending:
        return Ending(EndReason.WORKLOAD_FAILED, "It fails always.")


def test_full_disk_error_is_not_hidden_by_later_errors() -> None:
    store = Remembering(room=7)
    executor = Simulating(PROGRAM)
    with pytest.raises(NotPossibleError, match="No space"):
        loop_of(store, executor).run()
    assert len(store.samples) == 7
    assert executor.closed


def test_earlier_sessions_count_towards_budget() -> None:
    store = Remembering()
    loop_of(store, Simulating(PROGRAM), Budget(launches=100), earlier=99).run()
    assert len(store.samples) == 1
    assert store.status is Status.DONE


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"metrics": {}, "unavailable": {"fps": "no match"}}, "cannot be read: no match"),
        ({"metrics": {"user_s": 1.0}, "unavailable": {"fps": "empty"}}, "cannot be read: empty"),
    ],
)
def test_missing_objective_is_rejected(sample: dict[str, Any], message: str) -> None:
    launch = Launch(
        configuration=Configuration(), arm="default", stage=Stage.SURVEY, block=0, position=0
    )
    with pytest.raises(InvalidInputError, match=message):
        demand_objective(
            Sample(launch=launch, outcome=Outcome.OK, **sample), Metric(name="fps", pattern="x")
        )
    demand_objective(Sample(launch=launch, outcome=Outcome.FAILED, **sample), Metric(name="fps"))
    zero = Sample(launch=launch, outcome=Outcome.OK, metrics={"fps": 0.0})
    demand_objective(zero, Metric(name="fps", pattern="x"))


@pytest.mark.parametrize(("pattern", "told"), [("fps=(.*)", True), (None, False)])
def test_missing_metric_names_a_pattern_only_where_it_has_one(
    pattern: str | None, told: bool
) -> None:
    launch = Launch(
        configuration=Configuration(), arm="default", stage=Stage.SURVEY, block=0, position=0
    )
    metric = Metric(name="peak_anon_bytes", pattern=pattern)
    with pytest.raises(InvalidInputError) as refused:
        demand_objective(Sample(launch=launch, outcome=Outcome.OK, metrics={}), metric)
    assert ("--metric NAME=REGEX" in (refused.value.remedy or "")) is told


def test_account_counts_time_and_launches() -> None:
    account = BudgetAccount(budget=Budget(time_s=100.0, launches=10), elapsed_s=60.0, launches=4)
    left = account.left
    assert left.launches == 6
    assert left.time_s == pytest.approx(40.0, abs=1.0)
    assert BudgetAccount(budget=Budget()).left == Budget()


def test_result_of_loop_is_result_of_race() -> None:
    assert isinstance(loop_of(Remembering(), Simulating(PROGRAM)).run(), Ending)


class SideBySide(Simulating):
    """Executor of concurrent launches, of which the newest ends first."""

    def __init__(self, program: SimulatedProgram, interrupt_after: int = 10_000) -> None:
        super().__init__(program, interrupt_after)
        self.most = 0

    def submit(self, launch: Launch, plan: Plan) -> Ticket:
        assert launch.cpu_slot is not None
        assert launch.cpu_slot not in {other.cpu_slot for other in self._flying}
        ticket = super().submit(launch, plan)
        self.most = max(self.most, len(self._flying))
        return ticket


@pytest.mark.parametrize("slots", [2, 3])
def test_all_slots_are_used_and_all_samples_stored(slots: int) -> None:
    store, executor = Remembering(), SideBySide(PROGRAM)
    done = loop_of(store, executor, parallel=slots).run()
    assert done.reason in (EndReason.DECIDED, EndReason.BUDGET)
    assert executor.most == slots
    assert len(store.samples) == executor.launched <= 100
    assert executor.closed


def test_interrupt_with_concurrent_launches_keeps_finished_samples() -> None:
    """Finished launches are stored; closing the executor terminates the others."""
    store, executor = Remembering(), SideBySide(PROGRAM, interrupt_after=22)
    with pytest.raises(KeyboardInterrupt):
        loop_of(store, executor, parallel=3).run()
    assert len(store.samples) == 22
    assert store.status is Status.INTERRUPTED
    assert executor.closed
