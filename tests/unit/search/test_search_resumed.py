"""Searches that are interrupted and resumed with another budget."""

from __future__ import annotations

import pytest
from simulated_studies import workload

from assay.records import Budget, Choices, Kind, Launch, Parameter, Space, Stage, StudySpec
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import SimulatedProgram, run_race

SPACE = Space(parameters=(Parameter(name="arg.a", domain=Choices(tuple(range(6))), default=0),))
PROGRAM = SimulatedProgram(takes_s=lambda c: 1.0 - 0.02 * int(c.get("arg.a", 0)), noise=0.05)
SPEC = StudySpec(
    kind=Kind.TUNE,
    workload=workload(),
    budget=Budget(time_s=600.0),
    space=SPACE,
    disturbed_above=None,
)


def race() -> TuneRace:
    return TuneRace(SPEC, SearchSpace(SPACE), GpSearcher())


@pytest.mark.parametrize("until", [2, 20])
def test_interrupted_search_continues_with_the_smaller_budget(until: int) -> None:
    """Shares of the first budget would leave nothing for the search."""
    first = run_race(race(), PROGRAM, SPEC.budget, until=until)
    total = Budget(time_s=sum(sample.total_wall_s for sample in first.samples) + 60.0)
    resumed = race()
    resumed.limit_budget(total)
    done = run_race(resumed, PROGRAM, total, told=first.samples)
    stages = [sample.launch.stage for sample in done.samples[until:]]
    assert stages.count(Stage.SEARCH) >= 12
    assert stages.count(Stage.CONFIRM) >= 12


def test_further_launches_of_an_interrupted_search_are_shared_by_its_stages() -> None:
    """The time that the study began with no longer limits it."""
    first = run_race(race(), PROGRAM, SPEC.budget, until=20)
    total = Budget(launches=80)
    resumed = race()
    resumed.limit_budget(total)
    done = run_race(resumed, PROGRAM, total, told=first.samples)
    stages = [sample.launch.stage for sample in done.samples[20:]]
    assert len(stages) <= 60
    assert stages.count(Stage.SEARCH) >= 12
    assert stages.count(Stage.CONFIRM) >= 20  # a share of all 80 launches


def test_interrupted_search_does_not_say_that_the_space_is_exhausted() -> None:
    first = run_race(race(), PROGRAM, SPEC.budget, until=2)
    found = conclude(SPEC, first.samples, SearchSpace(SPACE), GpSearcher(), None)
    assert found.recommendation is not None
    assert found.recommendation.sentence.startswith("So far the default")


def test_last_launch_of_a_configuration_that_never_ran_has_time_for_its_value() -> None:
    running = race()
    left = Budget(time_s=600.0)
    while True:
        answer = running.ask(1, left)
        assert isinstance(answer, list)
        (launch,) = answer
        if launch.stage is Stage.SEARCH and launch.configuration:
            break
        running.tell(PROGRAM.run(launch))
    running.tell(PROGRAM.run(launch))
    (last,) = _launches(running, Budget(time_s=0.05))
    assert last.configuration not in (launch.configuration, {})
    assert last.timeout_s is not None
    assert last.timeout_s > 2.0


def _launches(running: TuneRace, left: Budget) -> list[Launch]:
    answer = running.ask(1, left)
    assert isinstance(answer, list)
    return answer
