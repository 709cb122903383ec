"""One-time costs of a program at its first launch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
import pytest
from simulated_studies import carry_out, compare, workload

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Choices,
    Configuration,
    Kind,
    Launch,
    Outcome,
    Parameter,
    Sample,
    Space,
    Stage,
    StudySpec,
)
from assay.search.conclusion.conclude import conclude
from assay.search.history.counts.launch_counts import had_full_time
from assay.search.history.first_launch import first_launch_notes
from assay.search.history.history import arm_of
from assay.search.history.one_time_costs import FirstLaunches
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import CompletedRace, SimulatedProgram, remaining_of, run_race


@dataclass(frozen=True)
class Filling(SimulatedProgram):
    """Fills a cache at the very first launch.

    Attributes:
        once_s: additional time of that launch, in seconds.
    """

    once_s: float = 2.0

    def run(self, launch: Launch) -> Sample:
        first = launch.stage is Stage.SURVEY and launch.block == 0 and launch.position == 0
        more = self.once_s if first else 0.0
        return SimulatedProgram(takes_s=lambda c: self.takes_s(c) + more, noise=self.noise).run(
            launch
        )


@pytest.mark.parametrize(("once_s", "told"), [(2.0, True), (0.001, False)])
def test_slower_first_launch_is_reported(once_s: float, told: bool) -> None:
    program = Filling(takes_s=lambda c: 0.03, noise=0.03, once_s=once_s)
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload(),
        budget=Budget(launches=20),
        arms=(Arm(name="default", configuration=DEFAULT),),
    )
    studies = [carry_out(spec, program), compare(program, Budget(launches=40), {}, {"nice": 5})]
    for study in studies:
        notes = [n for n in study.conclusion.notes if n.startswith("the first launch")]
        assert bool(notes) == told
    assert studies[1].claim is None or studies[1].claim.ratio == pytest.approx(1.0, abs=0.1)


def test_first_launch_that_failed_is_not_replaced_by_the_second() -> None:
    """The first successful launch may be slow because of the failure."""
    program = Filling(takes_s=lambda c: 0.03, once_s=2.0)
    study = compare(program, Budget(launches=40), {}, {"nice": 5})
    first, second, *others = study.samples
    failed = msgspec.structs.replace(first, outcome=Outcome.FAILED)
    again = msgspec.structs.replace(first, launch=msgspec.structs.replace(first.launch, attempt=1))
    assert first_launch_notes([first, second, *others])
    assert not first_launch_notes([failed, again, second, *others])


@pytest.mark.parametrize("launches", [3, 4])
def test_few_launches_repeat_the_default(launches: int) -> None:
    """An arm that fills a cache for an equal arm does not make that 69 times as fast."""
    space = Space(parameters=(Parameter(name="arg.n", domain=Choices((0, 1)), default=0),))
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=workload(),
        budget=Budget(launches=launches),
        space=space,
        disturbed_above=None,
    )
    program = Filling(takes_s=lambda c: 0.03, noise=0.03)
    completed_race = run_race(
        TuneRace(spec, SearchSpace(space), GpSearcher()), program, spec.budget
    )
    default = [s for s in completed_race.samples if not s.launch.configuration]
    assert {s.launch.stage for s in default} >= {Stage.SURVEY, Stage.SEARCH}
    found = conclude(
        spec, completed_race.samples, SearchSpace(space), GpSearcher(), completed_race.done
    )
    assert found.recommendation is not None
    assert not found.recommendation.settings


@dataclass(frozen=True)
class Compiling(SimulatedProgram):
    """Compiles at the first launch of each configuration.

    Attributes:
        once_s: time that compiling takes in addition.
        compiled: configurations that were compiled before the study.
    """

    once_s: float = 2.0
    compiled: Iterable[Configuration] = ()
    known: set[Configuration] = field(default_factory=set)

    def run(self, launch: Launch) -> Sample:
        compiles = launch.configuration not in {*self.known, *self.compiled}
        self.known.add(launch.configuration)
        more = self.once_s if compiles else 0.0
        return SimulatedProgram(takes_s=lambda c: self.takes_s(c) + more, noise=self.noise).run(
            launch
        )


def _factors(configuration: Configuration) -> float:
    return 0.03 if configuration.get("arg.n") == 3 else 0.06


SPACE = Space(
    parameters=tuple(
        Parameter(name=f"arg.{name}", domain=Choices((0, 1, 2, 3)), default=0) for name in "nmkl"
    )
)


def _tune(program: SimulatedProgram, budget: Budget) -> tuple[StudySpec, CompletedRace]:
    spec = StudySpec(kind=Kind.TUNE, workload=workload(), budget=budget, space=SPACE)
    return spec, run_race(TuneRace(spec, SearchSpace(SPACE), GpSearcher()), program, budget)


def _warmed(completed_race: CompletedRace) -> list[Configuration]:
    """Return the configurations except the default that had a warm-up launch."""
    surveys = (
        s.launch.configuration for s in completed_race.samples if s.launch.stage is Stage.SURVEY
    )
    return [c for c in surveys if c != DEFAULT]


def test_one_time_work_is_excluded_from_comparison_of_configurations() -> None:
    spec, completed_race = _tune(Compiling(takes_s=_factors, noise=0.03), Budget(launches=80))
    found = conclude(
        spec, completed_race.samples, SearchSpace(SPACE), GpSearcher(), completed_race.done
    )
    assert found.recommendation is not None
    assert found.recommendation.settings == Configuration({"arg.n": 3})
    counted = [
        s.wall_s or 0.0 for s in completed_race.samples if s.launch.stage is not Stage.SURVEY
    ]
    assert max(counted) < 1.0
    assert any("had a warm-up launch" in note for note in found.notes)


def test_only_one_configuration_is_warmed_up_if_only_the_first_launch_was_slow() -> None:
    _, completed_race = _tune(Filling(takes_s=_factors, noise=0.03), Budget(launches=80))
    assert len(_warmed(completed_race)) == 2
    assert len(set(_warmed(completed_race))) == 1


def test_no_configuration_is_warmed_up_without_a_one_time_cost() -> None:
    spec, completed_race = _tune(SimulatedProgram(takes_s=_factors, noise=0.1), Budget(launches=80))
    assert not _warmed(completed_race)
    found = conclude(
        spec, completed_race.samples, SearchSpace(SPACE), GpSearcher(), completed_race.done
    )
    assert not any("had a warm-up launch" in note for note in found.notes)


def test_small_budgets_are_not_spent_on_warming_up() -> None:
    _, completed_race = _tune(Compiling(takes_s=_factors, noise=0.03), Budget(launches=10))
    assert not _warmed(completed_race)


@pytest.mark.parametrize("budget", [Budget(launches=40), Budget(time_s=60.0)])
def test_first_launch_is_not_stopped_at_time_of_another_configuration(
    budget: Budget,
) -> None:
    """The user's own launches had filled the cache of the default before the study."""
    program = Compiling(takes_s=_factors, noise=0.03, compiled=(DEFAULT,))
    _, completed_race = _tune(program, budget)
    # The last ones may be stopped by the end of the budget.
    assert len(completed_race.samples) > 12
    assert all(s.outcome is Outcome.OK for s in completed_race.samples[:12])


@pytest.mark.rotating
def test_first_launch_that_does_not_end_takes_a_bounded_share_of_the_budget() -> None:
    program = SimulatedProgram(takes_s=lambda c: 1e6 if c.get("arg.n") == 1 else 0.06, noise=0.03)
    for budget, most_s in ((Budget(launches=40), 10.1), (Budget(time_s=60.0), 3.1)):
        _, completed_race = _tune(program, budget)
        late = [s.wall_s or 0.0 for s in completed_race.samples if s.outcome is Outcome.TIMED_OUT]
        assert late
        assert max(late) < most_s


def test_study_interrupted_during_warm_up_resumes_identically() -> None:
    spec, completed_race = _tune(Compiling(takes_s=_factors, noise=0.03), Budget(launches=60))
    places = [at for at, s in enumerate(completed_race.samples) if s.launch.stage is Stage.SURVEY]
    for stop in (places[1] + 1, places[-1], places[-1] + 1):
        race = TuneRace(spec, SearchSpace(SPACE), GpSearcher())
        for sample in completed_race.samples[:stop]:
            race.tell(sample)
        asked = race.ask(1, remaining_of(spec.budget, completed_race.samples[:stop]))
        assert isinstance(asked, list)
        assert asked[0].configuration == completed_race.samples[stop].launch.configuration
        assert asked[0].stage is completed_race.samples[stop].launch.stage


def test_stopped_warm_up_does_not_count_against_configuration() -> None:
    """Its first launch takes longer than its share of the budget."""
    program = Compiling(takes_s=_factors, noise=0.03, once_s=9.0)
    spec, completed_race = _tune(program, Budget(launches=80, time_s=150.0))
    late = [s for s in completed_race.samples if s.outcome is Outcome.TIMED_OUT]
    assert all(had_full_time(s) is (s.launch.arm == "default") for s in late)
    found = conclude(
        spec, completed_race.samples, SearchSpace(SPACE), GpSearcher(), completed_race.done
    )
    assert "did not end" not in str(found.claims)


def test_concurrent_launches_are_no_repeats_of_the_first() -> None:
    seen = FirstLaunches()
    first = Launch(configuration=DEFAULT, arm="default", stage=Stage.SURVEY, block=0, position=0)
    beside = msgspec.structs.replace(first, stage=Stage.INTERFERENCE, block=1)
    again = msgspec.structs.replace(first, stage=Stage.GAUGE, block=2)
    for launch, wall_s in ((first, 2.0), (beside, 1.9), (again, 0.1)):
        seen.add(Sample(launch=launch, outcome=Outcome.OK, wall_s=wall_s))
    assert seen.arms_to_warm_up([arm_of(Configuration({"arg.n": 1}))])
