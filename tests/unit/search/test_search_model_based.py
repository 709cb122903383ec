"""Model-based search: budget reserved for the proof, and removed settings."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from assay.records import (
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
    Workload,
)
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.remaining_budget import RemainingBudget
from assay.search.model.gp import GpSearcher
from assay.search.model.sample_means import SampleMeans
from assay.search.model.searcher import Trial
from assay.search.model.trials import trials_of
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.races.strategy import COMPARED_FROM, ModelStrategy, compares_known
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import CompletedRace, SimulatedProgram, run_race

SPACE = Space(
    parameters=tuple(
        Parameter(name=f"arg.p{i}", domain=Choices(tuple(range(5))), default=0) for i in range(5)
    )
)


def search(
    gain: float, noise: float, launches: int = 100, seed: int = 0
) -> tuple[TuneRace, CompletedRace]:
    """One setting matters."""
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("program",)),
        budget=Budget(launches=launches),
        space=SPACE,
        seed=seed,
    )
    race = TuneRace(spec, SearchSpace(SPACE), GpSearcher())
    program = SimulatedProgram(
        takes_s=lambda c: 1.0 - gain * (c.get("arg.p1") == 3), noise=noise, seed=seed
    )
    return race, run_race(race, program, spec.budget)


def launches_of(completed_race: CompletedRace, stage: Stage) -> int:
    return Counter(s.launch.stage for s in completed_race.samples)[stage]


def test_large_gain_leaves_budget_for_proof_only() -> None:
    race, completed_race = search(gain=0.4, noise=0.02)
    assert launches_of(completed_race, Stage.SEARCH) >= 72
    assert race.winner.configuration.get("arg.p1") == 3


def test_budget_without_room_for_a_proof_searches_to_its_end() -> None:
    """With few launches there is no confirmation, since it could not show anything."""
    race, completed_race = search(gain=0.3, noise=0.05, launches=14)
    assert launches_of(completed_race, Stage.CONFIRM) == 0
    assert len(completed_race.samples) == 14
    assert race.candidate.arm.configuration.get("arg.p1") == 3


@pytest.mark.rotating
def test_ineffective_settings_are_removed() -> None:
    """The model removes them, and launches do if the budget is sufficient."""
    race, _ = search(gain=0.4, noise=0.005, launches=250)
    assert race.reduced.arm.configuration == Configuration({"arg.p1": 3})


def test_program_without_effects_keeps_its_default() -> None:
    race, completed_race = search(gain=0.0, noise=0.0)
    assert not race.winner.configuration or not race.reduced.arm.configuration
    assert launches_of(completed_race, Stage.SEARCH) > 0


def test_search_ends_without_remaining_gain() -> None:
    """A space of 3,125 combinations that a linear model describes completely."""
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("program",)),
        budget=Budget(launches=390),
        space=SPACE,
        margin=0.02,
    )
    race = TuneRace(spec, SearchSpace(SPACE), GpSearcher())
    program = SimulatedProgram(
        takes_s=lambda c: 1.0 - 0.1 * float(c.get("arg.p1", 0)) - 0.02 * float(c.get("arg.p2", 0)),
        noise=0.002,
    )
    completed_race = run_race(race, program, spec.budget)
    assert launches_of(completed_race, Stage.SEARCH) < 200, "the budget has room for 320"
    assert race.reduced.arm.configuration == Configuration({"arg.p1": 4, "arg.p2": 4})


class RandomSearcher(SampleMeans):
    """Proposes random configurations, so that many launches take little time."""

    name = "random"

    def propose(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """See ``Searcher.propose``."""
        return space.balanced_sample(count, random.Random(seed))


def searched(blocks: int) -> History:
    """Return a study that searched for this number of blocks, each with eight proposals."""
    space, rng = SearchSpace(SPACE), random.Random(4)
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("program",)),
        budget=Budget(launches=2000),
        space=SPACE,
    )
    samples = []
    for block in range(blocks):
        arms = [DEFAULT_ARM, *map(arm_of, space.balanced_sample(8, rng))]
        for position, arm in enumerate(arms):
            launch = Launch(
                configuration=arm.configuration,
                arm=arm.name,
                stage=Stage.SEARCH,
                block=block,
                position=position,
            )
            wall_s = (1.0 - 0.3 * (arm.configuration.get("arg.p1") == 3)) * rng.gauss(1.0, 0.01)
            samples.append(
                Sample(launch=launch, outcome=Outcome.OK, wall_s=wall_s, metrics={"wall_s": wall_s})
            )
    return History.of(spec, samples)


@pytest.mark.parametrize(("left", "searches"), [(1500, True), (100, True), (17, False)])
def test_search_of_many_launches_ends_only_for_its_proof(left: int, searches: bool) -> None:
    history = searched(60)
    assert len(trials_of(history)) == 540
    strategy = ModelStrategy(SearchSpace(SPACE), RandomSearcher(), 0, ReservedBudget(0.01))
    budget = RemainingBudget(Budget(launches=2000), Budget(launches=left))
    assert (strategy.next_arms(history, budget) is not None) is searches


def test_every_second_block_compares_the_best_of_many_configurations() -> None:
    few = [Trial(Configuration({"arg.p1": i}), i, 0.0) for i in range(COMPARED_FROM - 1)]
    many = [*few, Trial(Configuration({"arg.p1": -1}), 0, 0.0)]
    assert not any(compares_known(few, block) for block in range(4))
    assert [compares_known(many, block) for block in range(4)] == [False, True, False, True]
