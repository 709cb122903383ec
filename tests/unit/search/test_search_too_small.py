"""A slow first launch does not make a budget too small."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from simulated_studies import carry_out, compare, workload

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Choices,
    Configuration,
    Design,
    DesignKind,
    Kind,
    Launch,
    Parameter,
    Sample,
    Space,
    Stage,
    StudySpec,
)
from assay.search.history.remaining_budget import RemainingBudget
from assay.search.races.compare import CompareRace
from assay.search.races.race import Ending, EndReason
from assay.search.races.sweep import SweepRace
from assay.testing.search_contracts import SimulatedProgram, run_race
from assay.wording.endings import SHORTER_LAUNCHES

COLD_S, WARM_S = 3.0, 0.06


@dataclass(frozen=True)
class Cold(SimulatedProgram):
    """Takes long in the first launch of each configuration, as one that fills a cache.

    Attributes:
        first_s: the time of that launch.
    """

    first_s: float = COLD_S

    def __post_init__(self) -> None:
        self.__dict__["seen"] = set()

    def run(self, launch: Launch) -> Sample:
        seen: set[Configuration] = self.__dict__["seen"]
        if launch.configuration in seen:
            return super().run(launch)
        seen.add(launch.configuration)
        return SimulatedProgram(takes_s=lambda c: self.first_s).run(launch)


def cold() -> Cold:
    return Cold(takes_s=lambda c: WARM_S)


@pytest.mark.parametrize("time_s", [25.0, 10.0])
def test_comparison_repeats_first_launches_before_it_refuses(time_s: float) -> None:
    study = compare(cold(), Budget(time_s=time_s, launches=60), {}, {"nice": 5})
    assert study.done.reason is not EndReason.TOO_SMALL
    assert study.claim is not None and study.claim.blocks >= 6
    assert sum(s.launch.stage is Stage.SURVEY for s in study.samples) <= 4


def test_constantly_slow_program_is_refused_within_the_budget() -> None:
    study = compare(
        SimulatedProgram(takes_s=lambda c: COLD_S), Budget(time_s=25.0), {}, {"nice": 5}
    )
    assert study.done.reason is EndReason.TOO_SMALL
    assert len(study.samples) == 4
    assert study.done.needed is not None and (study.done.needed.time_s or 0.0) > 6 * 2 * COLD_S


def test_first_launches_are_not_repeated_if_launch_budget_is_insufficient() -> None:
    study = compare(cold(), Budget(time_s=25.0, launches=9), {}, {"nice": 5})
    assert (study.done.reason, len(study.samples)) == (EndReason.TOO_SMALL, 2)


def test_measurement_repeats_launch_that_exceeded_budget() -> None:
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload(),
        budget=Budget(time_s=4.0),
        arms=(Arm(name="default", configuration=DEFAULT),),
    )
    assert carry_out(spec, cold()).done.reason is not EndReason.TOO_SMALL
    slow = carry_out(spec, SimulatedProgram(takes_s=lambda c: COLD_S))
    assert slow.done.reason is EndReason.TOO_SMALL
    assert sum(sample.wall_s or 0.0 for sample in slow.samples) <= 4.1


def test_sweep_repeats_first_launches_before_it_refuses() -> None:
    configurations = [Configuration({"arg.k": k}) for k in (1, 2, 3)]
    spec = StudySpec(
        kind=Kind.SWEEP,
        workload=workload(),
        budget=Budget(time_s=20.0, launches=60),
        space=Space(parameters=(Parameter(name="arg.k", domain=Choices((1, 2, 3))),)),
        arms=tuple(Arm(name=str(c), configuration=c) for c in configurations),
        design=Design(kind=DesignKind.GRID),
    )
    assert run_race(SweepRace(spec), cold(), spec.budget).done.reason is not EndReason.TOO_SMALL


def test_suggested_budget_exceeds_insufficient_one() -> None:
    """The time of a waiting ``--prepare`` is in no wall time."""
    spec = compare(cold(), Budget(time_s=10.0), {}, {"nice": 5}).spec
    race, left = CompareRace(spec), Budget(time_s=10.0)
    program = SimulatedProgram(takes_s=lambda c: WARM_S)
    launches = race.ask(2, left)
    assert not isinstance(launches, Ending)
    for launch in launches:
        race.tell(program.run(launch))
    done = race.ask(2, Budget(time_s=-6.0))
    assert isinstance(done, Ending) and done.needed is not None
    assert RemainingBudget(spec.budget, left).total == spec.budget
    assert (done.needed.time_s or 0.0) > 16.0 + 12 * 8.0


@pytest.mark.parametrize(("takes_s", "advised"), [(170.0, True), (1.0, False)])
def test_long_program_is_advised_to_report_its_progress(takes_s: float, advised: bool) -> None:
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=workload(),
        budget=Budget(time_s=1.05 * takes_s),
        space=Space(parameters=(Parameter(name="arg.n", domain=Choices((1, 2))),)),
    )
    done = carry_out(spec, SimulatedProgram(takes_s=lambda c: takes_s)).done
    assert (SHORTER_LAUNCHES in done.message) == advised
    assert "--progress" in SHORTER_LAUNCHES
    assert "--until" in SHORTER_LAUNCHES
