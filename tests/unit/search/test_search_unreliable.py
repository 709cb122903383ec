"""Arms that fail more often than their reference."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import pytest
from simulated_studies import compare, space_of, tune

from assay.records import (
    Budget,
    Configuration,
    Launch,
    Outcome,
    Sample,
    Stage,
    Verdict,
)
from assay.records.workload import WALL
from assay.search.claims.gate import gate_reasons
from assay.search.claims.reliability import excess_losses, may_be_by_chance
from assay.search.history.history import History
from assay.search.races.race import EndReason
from assay.testing.search_contracts import SimulatedProgram
from assay.wording.sentence import comparison

QUICK = {"nice": 5}
QUICK_NAME = str(Configuration(QUICK))
SLOW_DEFAULT = SimulatedProgram(takes_s=lambda c: 0.05 if c else 0.1, noise=0.02)


@dataclass(frozen=True)
class FailingBlocks(SimulatedProgram):
    """Program that fails at every attempt in some blocks.

    Attributes:
        blocks: numbers of these blocks.
    """

    blocks: tuple[int, ...] = ()

    def run(self, launch: Launch) -> Sample:
        if launch.configuration and launch.block in self.blocks:
            return replace(SLOW_DEFAULT, fails=lambda c: 1.0).run(launch)
        return super().run(launch)


def fails_in(*blocks: int) -> FailingBlocks:
    return FailingBlocks(takes_s=SLOW_DEFAULT.takes_s, noise=0.02, blocks=blocks)


def test_occasionally_failing_arm_is_not_faster() -> None:
    study = compare(fails_in(3, 5), Budget(launches=40), {}, QUICK)
    assert study.claim is not None
    assert (study.claim.verdict, study.claim.verdict_withheld) == (Verdict.UNCLEAR, True)
    told = comparison(study.claim, study.spec.workload.objective)
    assert "4 of " in told and "launches of nice=5 failed, and all " in told
    assert gate_reasons([str(Verdict.UNCLEAR)], study.conclusion, study.spec)


def test_arm_that_works_is_faster_than_one_that_fails() -> None:
    program = replace(fails_in(3, 5), takes_s=lambda c: 0.2 if c else 0.1)
    found = compare(program, Budget(launches=40), {}, QUICK).claim
    assert found is not None and found.verdict is Verdict.SLOWER
    assert "launches of nice=5 failed, and all " in comparison(found, WALL)


def test_failures_during_warm_up_count_against_no_arm() -> None:
    found = compare(fails_in(0), Budget(launches=40), {}, QUICK).claim
    assert found is None or found.data_problem is None


def test_equal_failures_of_all_arms_permit_a_verdict() -> None:
    program = replace(SLOW_DEFAULT, fails=lambda c: 0.2)
    studies = [
        compare(replace(program, seed=seed), Budget(launches=120), {}, QUICK) for seed in range(8)
    ]
    faster = [
        study.claim is not None and study.claim.verdict is Verdict.FASTER for study in studies
    ]
    assert sum(faster) >= 6


@pytest.mark.parametrize(
    ("both", "chance", "held"),
    [((0, 1), True, True), ((0, 2), True, True), ((0, 20), False, True), ((3, 4), True, False)],
)
def test_one_failure_may_be_chance(both: tuple[int, int], chance: bool, held: bool) -> None:
    study = compare(SLOW_DEFAULT, Budget(launches=60), {}, QUICK)
    left = dict(zip((arm.name for arm in study.spec.arms), both, strict=True))
    samples = []
    for sample in study.samples:
        if sample.launch.stage is Stage.CONFIRM and left[sample.launch.arm]:
            left[sample.launch.arm] -= 1
            sample = msgspec.structs.replace(sample, outcome=Outcome.FAILED, metrics={})
        samples.append(sample)
    history = History.of(study.spec, samples)
    assert study.claim is not None
    assert may_be_by_chance(study.claim, history) == chance
    told = excess_losses(history, QUICK_NAME, study.spec.arms[0].name)
    assert (told is not None) == held


@pytest.mark.parametrize(("launches", "held"), [(19, True), (20, False)])
def test_single_failure_among_many_launches_permits_a_verdict(launches: int, held: bool) -> None:
    def sample(arm: str, block: int) -> Sample:
        failed = arm == "b" and block == 3
        launch = Launch(
            configuration=Configuration(), arm=arm, stage=Stage.CONFIRM, block=block, position=0
        )
        return Sample(launch=launch, outcome=Outcome.FAILED if failed else Outcome.OK, wall_s=1.0)

    samples = [sample(arm, block) for block in range(launches) for arm in ("a", "b")]
    assert (excess_losses(History(WALL, samples), "b", "a") is not None) == held


def test_hangs_and_failures_count_together() -> None:
    study = compare(SLOW_DEFAULT, Budget(launches=60), {}, QUICK)
    first = study.spec.arms[0].name
    samples = [
        msgspec.structs.replace(sample, outcome=outcome, metrics={})
        if sample.launch.stage is Stage.CONFIRM
        and (outcome := _outcome(sample, first)) is not Outcome.OK
        else sample
        for sample in study.samples
    ]
    told = excess_losses(History.of(study.spec, samples), QUICK_NAME, first)
    assert told is not None and "failed or did not end, and 1 of " in told


def _outcome(sample: Sample, first: str) -> Outcome:
    block = sample.launch.block
    if sample.launch.arm == first:
        return Outcome.TIMED_OUT if block == 2 else Outcome.OK
    return Outcome.FAILED if block % 4 else Outcome.OK


def test_tune_keeps_the_default_where_the_winner_fails() -> None:
    program = replace(SLOW_DEFAULT, fails=lambda c: 0.3 if c else 0.0)
    study = tune(space_of(nice=(5,)), replace(program, seed=1), Budget(launches=120))
    assert study.settings == {}
    assert study.conclusion.recommendation is not None
    assert "failed, and all " in study.conclusion.recommendation.sentence


def test_arm_that_works_once_is_reported_and_comparison_fails() -> None:
    """The program leaves a lock behind."""
    study = compare(fails_in(*range(1, 40)), Budget(launches=40), {}, QUICK)
    assert (study.done.reason, study.done.arms) == (EndReason.WORKLOAD_FAILED, (QUICK_NAME,))
    assert "'nice=5' worked once, and failed since" in study.done.message
    assert "--prepare" in study.done.message
    assert len(study.samples) < 12


def test_single_arm_that_always_fails_is_named() -> None:
    study = compare(fails_in(*range(40)), Budget(launches=40), {}, QUICK)
    assert study.done.message == "'nice=5' failed in every launch."
    more = compare(fails_in(*range(40)), Budget(launches=40), {}, QUICK, {"nice": 6})
    assert more.done.message == "All arms but the first failed in every launch."


def test_tune_of_failing_configurations_reports_their_failures() -> None:
    program = replace(SLOW_DEFAULT, fails=lambda c: 0.3 if c else 0.0)
    study = tune(space_of(nice=(5,)), replace(program, seed=3), Budget(launches=120))
    assert study.conclusion.recommendation is not None
    told = study.conclusion.recommendation.sentence
    assert told.startswith(
        "Keep the default: every other configuration that was tried failed in some launches, "
        "3 of 'nice=5' (failed)."
    )
