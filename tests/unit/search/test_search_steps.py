"""Comparison whose arms are steps, each against its reference."""

from __future__ import annotations

from collections import Counter

import pytest
from simulated_studies import Study, carry_out, factors, workload

from assay.errors import InvalidInputError
from assay.records import Arm, Budget, Configuration, Kind, Stage, StudySpec, Verdict
from assay.search.model.gp import GpSearcher
from assay.search.races.compare import claim_alpha
from assay.search.races.race import EndReason
from assay.search.space.search_space import SearchSpace
from assay.study.preparation import race_of
from assay.testing.search_contracts import SimulatedProgram

TAKES = factors(step={0: 10.0, 1: 1.0, 2: 0.97, 3: 0.5})


def arm(number: int, against: int | None = None) -> Arm:
    return Arm(
        name=f"v{number}",
        configuration=Configuration({"step": number}),
        parent=None if against is None else f"v{against}",
    )


CHAIN = (arm(0), arm(1, 0), arm(2, 1), arm(3, 2))


def ladder(*arms: Arm, launches: int = 2000, program: SimulatedProgram | None = None) -> Study:
    program = program or SimulatedProgram(TAKES, noise=0.03)
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=workload(program.metric, None),
        budget=Budget(launches=launches),
        arms=arms,
    )
    return carry_out(spec, program)


def ran(study: Study) -> Counter[str]:
    return Counter(s.launch.arm for s in study.samples if s.launch.stage is Stage.CONFIRM)


def test_race_continues_until_every_step_is_decided() -> None:
    study = ladder(*CHAIN)
    assert study.done.reason is EndReason.DECIDED
    steps = {(claim.a, claim.b): claim.verdict for claim in study.conclusion.steps}
    assert steps == {("v1", "v2"): Verdict.FASTER, ("v2", "v3"): Verdict.FASTER}
    assert {claim.b for claim in study.conclusion.claims} == {"v1", "v2", "v3"}


def test_decided_arm_runs_only_as_reference() -> None:
    """The large first step takes few blocks, the small one many."""
    counts = ran(ladder(*CHAIN))
    assert counts["v1"] == counts["v2"] > 2 * counts["v0"]
    assert counts["v3"] < counts["v2"]


def test_without_steps_first_arm_runs_in_every_block() -> None:
    study = ladder(*(arm(k) for k in range(3)))
    assert study.conclusion.steps == ()
    counts = ran(study)
    assert counts["v0"] == max(counts.values())


def test_all_intervals_share_the_error_rate() -> None:
    study = ladder(*CHAIN, launches=80)
    claims = (*study.conclusion.claims, *study.conclusion.steps)
    assert len(claims) == 5
    assert {claim.alpha for claim in claims} == {study.spec.alpha / 5}
    assert claim_alpha(study.spec) == pytest.approx(study.spec.alpha / 5)


def test_failing_reference_is_replaced_by_first_arm() -> None:
    program = SimulatedProgram(TAKES, noise=0.03, fails=lambda c: c.get("step") == 1)
    study = ladder(*CHAIN, program=program)
    assert study.done.reason is EndReason.DECIDED
    steps = {(claim.a, claim.b) for claim in study.conclusion.steps}
    assert steps == {("v2", "v3")}
    assert {claim.b for claim in study.conclusion.claims} == {"v2", "v3"}


@pytest.mark.parametrize("arms", [(arm(0), arm(2, 1)), (arm(0), arm(1, 2), arm(2))])
def test_step_from_nothing_is_refused(arms: tuple[Arm, ...]) -> None:
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=workload(SimulatedProgram(TAKES).metric, None),
        budget=Budget(launches=10),
        arms=arms,
    )
    with pytest.raises(InvalidInputError, match="is a step from"):
        race_of(spec, SearchSpace(spec.space), GpSearcher())
