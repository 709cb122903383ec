"""Sweeps of many cells: a launch, a conclusion and a refusal cost the same for each cell."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from assay.records import (
    Arm,
    Budget,
    Choices,
    Configuration,
    Design,
    DesignKind,
    Kind,
    Launch,
    Parameter,
    Space,
    StudySpec,
    Workload,
)
from assay.search.conclusion.sweep import conclude_sweep
from assay.search.history import packed_samples
from assay.search.history.packed_samples import PackedSamples
from assay.search.races.race import Ending
from assay.search.races.sweep import SweepRace
from assay.search.space.design import lay_out
from assay.search.space.errors import MAX_CELLS, DesignError
from assay.search.space.grid import grid_cells
from assay.search.space.search_space import SearchSpace
from assay.search.space.space_filling import MAX_CANDIDATE_CELLS, hypercube_cells
from assay.testing.search_contracts import SimulatedProgram, run_race

LAUNCHES = Budget(launches=1_000_000)
PROGRAM = SimulatedProgram(takes_s=lambda c: 1.0)


def space_of(cells: int) -> Space:
    values = tuple(range(1, cells + 1))
    return Space(parameters=(Parameter(name="arg.n", domain=Choices(values), default=1),))


def sweep_of(cells: int) -> StudySpec:
    space = space_of(cells)
    design = Design(kind=DesignKind.GRID, repeats=2)
    layout = lay_out(design, space, SearchSpace(space), Configuration(), 0)
    return StudySpec(
        kind=Kind.SWEEP,
        workload=Workload(argv=("true",)),
        budget=LAUNCHES,
        space=space,
        arms=layout.arms,
        design=layout.design,
    )


class Calls:
    """Counter of the calls of Python functions and of the steps of generators."""

    def __init__(self) -> None:
        self.count = 0

    def of(self, act: Callable[[], object]) -> int:
        """Return the number of calls that an action makes."""
        self.count = 0
        sys.setprofile(self._note)
        try:
            act()
        finally:
            sys.setprofile(None)
        return self.count

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        self.count += event == "call"


def calls_of_launches(cells: int) -> int:
    """Return the number of calls for ten launches in the middle of a block."""
    race = SweepRace(sweep_of(cells))

    def launch() -> None:
        asked = race.ask(1, LAUNCHES)
        assert not isinstance(asked, Ending)
        race.tell(PROGRAM.run(asked[0]))

    for _ in range(cells + cells // 2):
        launch()
    return Calls().of(lambda: [launch() for _ in range(10)])


def test_a_launch_makes_as_many_calls_among_many_cells() -> None:
    few, many = calls_of_launches(20), calls_of_launches(200)
    assert many <= 1.1 * few


def test_conclusion_packs_no_sample_that_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_samples, "MAX_OBJECTS", 32)
    monkeypatch.setattr(packed_samples, "CHUNK", 16)
    unpacked: list[int] = []
    unpack = PackedSamples._unpack

    def counted(self: PackedSamples, number: int) -> list[Any]:
        unpacked.append(number)
        return unpack(self, number)

    monkeypatch.setattr(PackedSamples, "_unpack", counted)
    spec = sweep_of(100)
    samples = run_race(SweepRace(spec), PROGRAM, LAUNCHES).samples
    unpacked.clear()
    found = conclude_sweep(spec, samples, "")
    assert len(found.claims) == 99
    assert not unpacked


def test_grid_above_the_limit_is_refused_after_the_limit() -> None:
    checked: list[Configuration] = []

    def admit(configuration: Configuration) -> bool:
        checked.append(configuration)
        return True

    space = space_of(2 * MAX_CELLS)
    with pytest.raises(DesignError, match=r"20,000 combinations and more than 10,000 cells"):
        grid_cells(space, SearchSpace(space, admit))
    assert len(checked) == MAX_CELLS + 1


def test_large_hypercube_draws_few_candidates() -> None:
    checked: list[Configuration] = []

    def admit(configuration: Configuration) -> bool:
        checked.append(configuration)
        return True

    space = space_of(5)
    hypercube_cells(4000, space, SearchSpace(space, admit), 0)
    assert len(checked) <= MAX_CANDIDATE_CELLS


def test_arms_of_a_block_are_known_until_a_sample_arrives() -> None:
    race = SweepRace(sweep_of(5))
    first = race.ask(1, LAUNCHES)
    assert isinstance(first, list)
    assert isinstance(first[0], Launch)
    assert first[0].block_arms is not None
    assert isinstance(first[0].block_arms[0], Arm)
