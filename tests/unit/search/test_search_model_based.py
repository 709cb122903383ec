"""Model-based search: budget reserved for the proof, and removed settings."""

from __future__ import annotations

from collections import Counter

import pytest

from assay.records import (
    Budget,
    Choices,
    Configuration,
    Kind,
    Parameter,
    Space,
    Stage,
    StudySpec,
    Workload,
)
from assay.search.model.gp import GpSearcher
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
