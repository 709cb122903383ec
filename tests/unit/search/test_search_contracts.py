"""Contract tests of every searcher and race of assay."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import msgspec
import pytest

from assay.records import (
    Arm,
    Budget,
    Choices,
    Configuration,
    EarlierConfiguration,
    EarlierStudy,
    Goal,
    Kind,
    Metric,
    Outcome,
    Parameter,
    Space,
    Stage,
    StudySpec,
    Workload,
)
from assay.search.model.gp import GpSearcher
from assay.search.model.searcher import Searcher
from assay.search.races.compare import CompareRace
from assay.search.races.measure import MeasureRace
from assay.search.races.race import EndReason, Race
from assay.search.races.strategy import ModelStrategy, RacingStrategy
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.search_contracts import (
    CompletedRace,
    RaceContract,
    RandomSearcher,
    SearcherContract,
    SimulatedProgram,
    mixed_space,
    run_race,
)

FEW = Space(
    parameters=(
        Parameter(name="nice", domain=Choices((0, 5))),
        Parameter(name="malloc", domain=Choices(("jemalloc", "tcmalloc"))),
    )
)
MANY = Space(
    parameters=tuple(
        Parameter(name=f"arg.p{i}", domain=Choices(tuple(range(6))), default=0) for i in range(4)
    )
)


def workload(timeout_s: float | None = None, metric: Metric | None = None) -> Workload:
    metrics = {} if metric is None else {"metrics": (metric,)}
    return Workload(argv=("./program",), timeout_s=timeout_s, **metrics)


class TestRandomSearcher(SearcherContract):
    def searcher(self) -> Searcher:
        return RandomSearcher()


class TestTpeSearcher(SearcherContract):
    def searcher(self) -> Searcher:
        return TpeSearcher()


@pytest.mark.rotating
class TestGpSearcher(SearcherContract):
    def searcher(self) -> Searcher:
        return GpSearcher()


@pytest.mark.rotating
@pytest.mark.rotating
class TestGuidedGpSearcher(SearcherContract):
    """With earlier results on a few configurations, half of them wrong."""

    def searcher(self) -> Searcher:
        space, rng = mixed_space(), random.Random(4)
        drawn = dict.fromkeys(filter(None, (space.draw(rng) for _ in range(12))))
        known = [
            EarlierConfiguration(
                configuration=c, log_ratio=random.Random(f"{c}").random() * (-1) ** i
            )
            for i, c in enumerate(drawn)
        ]
        failed = EarlierConfiguration(configuration=known.pop().configuration)
        told = (*sorted(known, key=lambda k: k.log_ratio or 0.0), failed)
        return GpSearcher(
            earlier=(EarlierStudy(study="before", command="x", known_configurations=told),)
        )


class TuneContract(RaceContract):
    space: Space
    strategy: type
    metric: Metric | None = None

    def spec(self, budget: Budget, seed: int = 0, timeout_s: float | None = None) -> StudySpec:
        return StudySpec(
            kind=Kind.TUNE,
            workload=workload(timeout_s, self.metric),
            budget=budget,
            space=self.space,
            seed=seed,
        )

    def race(self, spec: StudySpec) -> Race:
        return TuneRace(spec, SearchSpace(spec.space), TpeSearcher())

    def completed_race(
        self, program: SimulatedProgram, budget: Budget | None = None
    ) -> CompletedRace:
        spec = self.spec(budget or self.AMPLE)
        return run_race(self.race(spec), program, spec.budget)

    def test_strategy(self) -> None:
        race = self.race(self.spec(self.AMPLE))
        run_race(race, self.program, self.AMPLE)
        assert isinstance(race._strategy, self.strategy)  # type: ignore[attr-defined]

    def test_every_block_contains_the_default(self) -> None:
        completed_race = self.completed_race(self.program)
        for launch in completed_race.launches:
            if launch.block_arms is not None:
                assert "default" in [arm.name for arm in launch.block_arms]

    def test_insufficient_budget_error_names_sufficient_budget(self) -> None:
        """Every budget has an answer; if only the default ran, it names a sufficient budget."""
        for budget in (Budget(launches=1), Budget(time_s=1.5)):
            done = self._run(budget).done
            assert done.reason is EndReason.BUDGET
            assert done.needed is not None
            enough = Budget(
                time_s=done.needed.time_s if budget.time_s else None,
                launches=done.needed.launches if budget.launches else None,
            )
            completed_race = self._run(enough)
            assert completed_race.done.needed is None
            assert len({launch.arm for launch in completed_race.launches}) > 2
        for launches in (2, 3, 7):
            assert self._run(Budget(launches=launches)).done.reason is not EndReason.TOO_SMALL

    def test_slow_configurations_are_stopped_but_not_the_default(self) -> None:
        slow = replace(self.program, takes_s=lambda c: 500.0 if len(c) > 1 else 1.0)
        completed_race = self.completed_race(slow)
        late = [s for s in completed_race.samples if s.outcome is Outcome.TIMED_OUT]
        firsts = {s.launch.configuration: s for s in reversed(late)}
        again = [s for s in late if firsts[s.launch.configuration] is not s]
        longest_s = 30.0 if self.metric is None else 120.0
        assert max(s.wall_s or 0.0 for s in firsts.values()) < longest_s
        if (
            self.metric is None
        ):  # otherwise a stopped launch has no value, and its arm is eliminated
            assert all((s.wall_s or 0.0) < 4.0 for s in again)
        for sample in completed_race.samples:
            if sample.launch.arm == "default" or sample.launch.stage is Stage.CONFIRM:
                assert sample.launch.timeout_s is None or sample.launch.timeout_s > 10.0

    @pytest.mark.parametrize("goal", list(Goal))
    def test_with_another_metric_only_hangs_are_stopped(self, goal: Goal) -> None:
        """A stopped launch has no value then, and a slow configuration may be the best."""
        other = Metric(name="held", goal=goal, pattern="(.*)")

        class Slow(SimulatedProgram):
            def run(self, launch):  # type: ignore[no-untyped-def]
                sample = super().run(launch)
                held = 10.0 + len(launch.configuration) * (1 if goal is Goal.HIGHER else -1)
                metrics = {"held": held, "wall_s": sample.wall_s} if sample.metrics else {}
                return msgspec.structs.replace(sample, metrics=metrics)

        spec = msgspec.structs.replace(
            self.spec(Budget(launches=150)), workload=workload(None, other)
        )
        slow = Slow(takes_s=lambda c: 20.0 if c else 1.0, metric=other)
        assert all(
            s.outcome is Outcome.OK for s in run_race(self.race(spec), slow, spec.budget).samples
        )
        hangs = Slow(takes_s=lambda c: 1e9 if c else 1.0, metric=other)
        completed_race = run_race(self.race(spec), hangs, spec.budget)
        late = [s.wall_s for s in completed_race.samples if s.outcome is Outcome.TIMED_OUT]
        assert late and max(late) < 120.0

    def test_failed_launches_do_not_set_caps(self) -> None:
        """A configuration that fails at once does not limit the time of others."""

        class Flaky(SimulatedProgram):
            def run(self, launch):  # type: ignore[no-untyped-def]
                sample = super().run(launch)
                if len(launch.configuration) == 1 and launch.block % 4:
                    return type(sample)(launch=launch, outcome=Outcome.FAILED, wall_s=0.001)
                return sample

        completed_race = self.completed_race(Flaky(takes_s=lambda c: 1.0))
        assert all(
            s.launch.timeout_s is None or s.launch.timeout_s > 2.0 for s in completed_race.samples
        ), "capped below what the program takes"

    def test_only_known_stages_in_order(self) -> None:
        order = [la.stage for la in self.completed_race(self.program).launches]
        assert order == sorted(order, key=list(Stage).index)

    def test_searcher_time_of_thousands_of_launches_is_bounded(self) -> None:
        """The time of the searcher counts against the budget."""
        quick = replace(self.program, takes_s=lambda c: 0.005)
        began = time.process_time()
        completed_race = self.completed_race(quick, Budget(time_s=6.0))
        assert len(completed_race.samples) > 300
        assert time.process_time() - began < 40.0


class TestRacing(TuneContract):
    space = FEW
    strategy = RacingStrategy


@pytest.mark.rotating
@pytest.mark.rotating
class TestModelBased(TuneContract):
    space = MANY
    strategy = ModelStrategy


class TestRacingHigherIsBetter(TuneContract):
    space = FEW
    strategy = RacingStrategy
    metric = Metric(name="rate", unit="1/s", goal=Goal.HIGHER, pattern="x")
    program = replace(RaceContract.program, metric=metric)

    # A time-out has no information on a figure that was not printed.
    test_time_outs_count_as_their_caps = None  # type: ignore[assignment]


class TestRacingNull(TestRacing):
    def spec(self, budget: Budget, seed: int = 0, timeout_s: float | None = None) -> StudySpec:
        return msgspec.structs.replace(super().spec(budget, seed, timeout_s), null=True)


class TestCompare(RaceContract):
    null = False

    def spec(self, budget: Budget, seed: int = 0, timeout_s: float | None = None) -> StudySpec:
        texts = ("a", "b -x", "c")
        return StudySpec(
            kind=Kind.COMPARE,
            workload=workload(timeout_s),
            budget=budget,
            arms=tuple(Arm(name=t, configuration=Configuration({"command": t})) for t in texts),
            seed=seed,
            null=self.null,
        )

    def race(self, spec: StudySpec) -> Race:
        return CompareRace(spec)


class TestCompareNull(TestCompare):
    null = True


class TestMeasure(RaceContract):
    def spec(self, budget: Budget, seed: int = 0, timeout_s: float | None = None) -> StudySpec:
        return StudySpec(
            kind=Kind.MEASURE,
            workload=workload(timeout_s),
            budget=budget,
            arms=(Arm(name="default", configuration=Configuration()),),
            seed=seed,
        )

    def race(self, spec: StudySpec) -> Race:
        return MeasureRace(spec)

    def test_insufficient_budget_error_names_sufficient_budget(self) -> None:
        """One launch is a measurement; a requested warm-up alone is not."""
        single = self.spec(Budget(launches=1))
        assert run_race(self.race(single), self.program, single.budget).done.reason == "budget"
        spec = msgspec.structs.replace(single, warmup=1)
        done = run_race(self.race(spec), self.program, spec.budget).done
        assert done.needed is not None
        assert done.reason == "too_small"
        enough = msgspec.structs.replace(spec, budget=Budget(launches=done.needed.launches))
        assert run_race(self.race(enough), self.program, enough.budget).done.reason in (
            "decided",
            "budget",
        )


@pytest.mark.parametrize("contract", [RaceContract, SearcherContract])
def test_contracts_reject_invalid_implementations(contract: type) -> None:
    assert sum(name.startswith("test_") for name in dir(contract)) >= 5


@pytest.mark.rotating
def test_model_search_resumes_identically() -> None:
    """With the same launches, a new race with a new searcher continues identically."""
    spec = StudySpec(
        kind=Kind.TUNE, workload=workload(), budget=Budget(launches=70), space=MANY, seed=3
    )
    program = SimulatedProgram(takes_s=lambda c: 1.0 - 0.05 * int(c.get("arg.p0", 0)), noise=0.03)

    def race() -> Race:
        return TuneRace(spec, SearchSpace(MANY), GpSearcher())

    whole = run_race(race(), program, spec.budget)
    assert {s.launch.stage for s in whole.samples} >= {Stage.SEARCH, Stage.CONFIRM}
    for count in (5, 14, 25, 52, 60):
        resumed = run_race(race(), program, spec.budget, told=whole.samples[:count])
        assert resumed.samples == whole.samples, f"after {count}"
        assert resumed.done == whole.done
