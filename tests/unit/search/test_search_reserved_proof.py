"""Reserve of a search for a cheap proof."""

from __future__ import annotations

import pytest
from benchmarks.progress.jobs import Job
from benchmarks.progress.simulated_program import WORKLOAD, JobProgram

from assay.records import (
    Budget,
    Choices,
    Configuration,
    Evidence,
    Kind,
    Launch,
    Metric,
    Outcome,
    Parameter,
    RecommendationStatus,
    Sample,
    Space,
    Stage,
    StudySpec,
    Until,
)
from assay.search.claims.proof import RESERVED_SHARE, is_reserved
from assay.search.conclusion.conclude import conclude
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.remaining_budget import Cost, RemainingBudget
from assay.search.model.gp import GpSearcher
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import run_race

FAST = arm_of(Configuration({"arg.p0": 1}))
SPACE = Space(
    parameters=tuple(
        Parameter(name=f"arg.p{number}", domain=Choices((0, 1, 2)), default=0)
        for number in range(4)
    )
)
LOOP = Job("loop", 3.0, 0.03, 5.0, warm_up=1, step_sd=0.03, checkpoint_s=0.0, every=0, whole=200)


def whole(time_s: float | None = None, launches: int | None = None) -> RemainingBudget:
    budget = Budget(time_s=time_s, launches=launches)
    return RemainingBudget(budget, budget)


def load_of_others(wall_s: float) -> tuple[Evidence, ...]:
    """Return the evidence of a host of two CPUs, half of one of which others use."""
    return (
        Evidence(kind="foreign_load", value=0.5 * wall_s, unit="s", external=True),
        Evidence(kind="host_cpus", value=2.0),
    )


def history(disturbed: bool = False) -> History:
    """Return the history of one search block: 20 s for the default, 8 s for the other arm."""
    found = History(Metric(name="wall_s", unit="s"), disturbed_above=0.1)
    for position, (arm, wall_s) in enumerate(((DEFAULT_ARM, 20.0), (FAST, 8.0))):
        launch = Launch(
            configuration=arm.configuration,
            arm=arm.name,
            stage=Stage.SEARCH,
            block=0,
            position=position,
        )
        found.add(
            Sample(
                launch=launch,
                outcome=Outcome.OK,
                wall_s=wall_s,
                metrics={"wall_s": wall_s},
                evidence=load_of_others(wall_s) if disturbed else (),
            )
        )
    return found


def test_proof_is_reserved_up_to_a_share_of_the_whole_budget() -> None:
    assert is_reserved(whole(time_s=400.0), Cost(100.0, 12))
    assert not is_reserved(whole(time_s=400.0), Cost(101.0, 12))
    assert is_reserved(whole(launches=48), Cost(1e6, 12))
    assert not is_reserved(whole(time_s=1e6, launches=47), Cost(1.0, 12))
    assert not is_reserved(whole(time_s=400.0), Cost(90.0, 12, once_s=20.0))


def test_share_is_that_of_the_whole_budget_when_most_is_spent() -> None:
    budget = RemainingBudget(Budget(time_s=400.0), Budget(time_s=10.0))
    assert is_reserved(budget, Cost(RESERVED_SHARE * 400.0, 12))


def test_proof_costs_the_launches_of_the_winner_at_their_own_length() -> None:
    reserve = ReservedBudget(margin=0.01)
    proof = reserve.proof(history(), (FAST,), -0.9, 0.03)
    assert proof.launches == 12
    assert proof.time_s == pytest.approx(6 * 28.0, rel=0.01)
    least = reserve.least_proof(history())
    assert least.time_s == pytest.approx(6 * 20.0, rel=0.01)


def test_only_searches_with_chosen_lengths_keep_a_proof() -> None:
    proof, budget = Cost(100.0, 12), whole(time_s=400.0)
    assert ReservedBudget(margin=0.01, alpha=0.05).keeps(budget, proof)
    assert not ReservedBudget(margin=0.01).keeps(budget, proof)


def test_proof_without_planned_analysis_takes_more_launches() -> None:
    planned, unplanned = ReservedBudget(margin=0.01), ReservedBudget(margin=0.01, alpha=0.05)
    costs = [one.proof(history(), (FAST,), -0.05, 0.03) for one in (planned, unplanned)]
    assert costs[0].launches < costs[1].launches


def test_proof_on_a_disturbed_machine_takes_a_block_more() -> None:
    reserve = ReservedBudget(margin=0.01, alpha=0.05)
    assert reserve.proof(history(), (FAST,), -0.9, 0.03).launches == 12
    assert reserve.proof(history(disturbed=True), (FAST,), -0.9, 0.03).launches == 14


@pytest.mark.parametrize("seed", range(3))
def test_large_gain_of_a_training_loop_is_proven_in_fifteen_minutes(seed: int) -> None:
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=WORKLOAD,
        budget=Budget(time_s=900.0),
        space=SPACE,
        seed=seed,
        disturbed_above=None,
        until=Until(),
    )
    space, searcher = SearchSpace(SPACE), GpSearcher()
    race = TuneRace(spec, space, searcher)
    program = JobProgram(LOOP, lambda c: 0.5 if c.get("arg.p1") == 2 else 1.0, seed)
    ran = run_race(race, program, spec.budget)
    found = conclude(spec, ran.samples, space, searcher, ran.done).recommendation
    assert found is not None
    assert found.status is RecommendationStatus.PROVEN
    assert found.settings.get("arg.p1") == 2
