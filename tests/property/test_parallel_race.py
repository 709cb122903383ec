"""Parallel races: contracts hold for any order in which launches end."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.records import (
    Budget,
    Choices,
    Kind,
    Launch,
    Parameter,
    Space,
    Stage,
    StudySpec,
    Workload,
)
from assay.search.races.race import Ending
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import RandomSearcher, SimulatedProgram, remaining_of

SPACE = Space(
    parameters=(
        Parameter(name="env.A", domain=Choices(("1", "2"))),
        Parameter(name="nice", domain=Choices((5, 10))),
    )
)


@settings(max_examples=25, deadline=None)
@given(
    parallel=st.integers(2, 5),
    launches=st.integers(40, 150),
    fails=st.sampled_from([0.0, 0.1, 0.4]),
    cut=st.integers(0, 60),
    seed=st.integers(0, 10**6),
)
def test_slots_budget_and_blocks_hold(
    parallel: int, launches: int, fails: float, cut: int, seed: int
) -> None:
    asked = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("x",)),
        budget=Budget(launches=launches),
        space=SPACE,
        parallel=parallel,
        seed=seed,
        disturbed_above=None,
    )
    program = SimulatedProgram(
        takes_s=lambda c: 0.9 if c.get("env.A") == "1" else 1.0, fails=lambda c: fails, seed=seed
    )
    rng = random.Random(seed)
    samples = []
    for until in (cut, 10_000):  # interrupted with running launches, then resumed
        race = TuneRace(asked, SearchSpace(asked.space), RandomSearcher())
        for sample in samples:
            race.tell(sample)
        flying: list[Launch] = []
        while len(samples) < until:
            answer = race.ask(parallel - len(flying), remaining_of(asked.budget, samples))
            if isinstance(answer, Ending):
                assert not flying
                break
            flying += answer
            assert 0 < len(flying) <= parallel
            assert len({launch.cpu_slot for launch in flying}) == len(flying)
            assert {launch.cpu_slot for launch in flying} <= set(range(parallel))
            alone = flying[0].stage not in (Stage.SEARCH, Stage.INTERFERENCE)
            assert len({launch.block for launch in flying}) == 1
            assert len(flying) == 1 or not alone
            sample = program.run(flying.pop(rng.randrange(len(flying))))
            samples.append(sample)
            race.tell(sample)
    assert len(samples) <= launches
    places = [(s.launch.block, s.launch.position, s.launch.attempt) for s in samples]
    assert len(set(places)) == len(places)
    assert [block for block, _, _ in places] == sorted(block for block, _, _ in places)
