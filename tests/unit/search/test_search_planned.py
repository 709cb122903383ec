"""Planned analysis of a tuning with few blocks."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from simulated_studies import factors, space_of, tune

from assay.records import Budget, Configuration, Evidence, Launch, Sample, Stage, Verdict
from assay.search.claims.planned_analysis import MAX_PLANNED_BLOCKS, planned_blocks
from assay.search.conclusion.conclude import conclude
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.search_contracts import SimulatedProgram

MANY = space_of(a=tuple(range(8)), b=tuple(range(8)), c=tuple(range(8)))
GAIN = SimulatedProgram(takes_s=factors(a={3: 0.88}), noise=0.05)


def test_plan_follows_from_launches_before_confirmation() -> None:
    study = tune(MANY, replace(GAIN, seed=1), Budget(launches=100), seed=1)
    before = [s for s in study.samples if s.launch.stage is not Stage.CONFIRM]
    assert len(study.samples) > len(before)
    planned = planned_blocks(study.spec, History.of(study.spec, before), 0.05)
    assert planned == (100 - len(before)) // 2
    for end in range(len(before), len(study.samples) + 1):
        assert planned_blocks(study.spec, History.of(study.spec, study.samples[:end]), 0.05) == (
            planned
        )


@pytest.mark.parametrize("launches", [20, 2000])
def test_too_few_or_many_affordable_blocks_give_no_plan(launches: int) -> None:
    study = tune(MANY, replace(GAIN, seed=1), Budget(launches=100), seed=1)
    before = [s for s in study.samples if s.launch.stage is not Stage.CONFIRM][:15]
    spec = msgspec.structs.replace(study.spec, budget=Budget(launches=launches))
    assert planned_blocks(spec, History.of(spec, before), 0.05) is None


def test_time_budget_gives_a_plan() -> None:
    study = tune(MANY, replace(GAIN, seed=1), Budget(launches=100), seed=1)
    before = [s for s in study.samples if s.launch.stage is not Stage.CONFIRM]
    spent = sum(s.wall_s or 0.0 for s in before)
    spec = msgspec.structs.replace(study.spec, budget=Budget(time_s=spent + 30.0))
    planned = planned_blocks(spec, History.of(spec, before), 0.05)
    assert planned is not None
    assert 6 <= planned <= 15  # of some 1 s a launch, two in a block


def test_pending_builds_shorten_time_for_blocks() -> None:
    """Each build counts once; a future one counts with the usual time."""
    study = tune(MANY, replace(GAIN, seed=1), Budget(launches=100), seed=1)
    before = [s for s in study.samples if s.launch.stage is not Stage.CONFIRM]
    spent = sum((s.wall_s or 0.0) + LAUNCH_OVERHEAD_S for s in before)
    spec = msgspec.structs.replace(study.spec, budget=Budget(time_s=spent + 40.0))

    def planned(told: list[Sample]) -> int | None:
        return planned_blocks(spec, History.of(spec, told), 0.05)

    def built(sample: Sample, note: str) -> Sample:
        told = Evidence(kind="build", value=5.0, unit="s", note=note)
        return msgspec.structs.replace(sample, evidence=(told,))

    twice = [built(before[0], "one"), built(before[1], "one"), *before[2:]]
    both = [built(before[0], "one"), built(before[1], "two"), *before[2:]]
    without, once, several = planned(before), planned(twice), planned(both)
    assert without is not None and once is not None and several is not None
    assert without - once == pytest.approx(0.9 * 5.0 / 2.0, abs=1.0)
    assert once - several == pytest.approx(0.9 * 5.0 / 2.0, abs=1.0)
    new = Configuration({"a": 3, "b": 1, "c": 1})
    assert all(s.launch.configuration != new for s in before)
    assert planned([*both, *_first_block(new)]) == planned(
        [*both[:2], built(before[2], "three"), *both[3:]]
    )


def test_confirmed_arm_counts_with_its_own_time() -> None:
    study = tune(MANY, replace(GAIN, seed=1), Budget(launches=100), seed=1)
    before = [s for s in study.samples if s.launch.stage is not Stage.CONFIRM]
    spent = sum((s.wall_s or 0.0) + LAUNCH_OVERHEAD_S for s in before)
    spec = msgspec.structs.replace(study.spec, budget=Budget(time_s=spent + 100.0))
    found = next(s for s in before if s.launch.configuration)
    slow = [
        msgspec.structs.replace(s, wall_s=8.0)
        if s.launch.configuration == found.launch.configuration
        else s
        for s in before
    ]
    slower = sum(s.wall_s or 0.0 for s in slow) - sum(s.wall_s or 0.0 for s in before)
    history = History.of(spec, [*slow, *_first_block(found.launch.configuration)])
    planned = planned_blocks(spec, history, 0.05)
    assert planned == pytest.approx(0.9 * (100.0 - slower) / (8.0 + 1.0), abs=1.0)


def _first_block(configuration: Configuration) -> list[Sample]:
    """The first launch of a confirmation."""
    roster = (DEFAULT_ARM, arm_of(configuration))
    launch = Launch(
        configuration=roster[0].configuration,
        arm=roster[0].name,
        stage=Stage.CONFIRM,
        block=1000,
        position=0,
        block_arms=roster,
    )
    return [GAIN.run(launch)]


@pytest.mark.rotating
def test_claim_of_planned_analysis_is_marked_and_reproducible() -> None:
    found = [
        tune(MANY, replace(GAIN, seed=s), Budget(launches=100), seed=s).conclusion for s in range(8)
    ]
    claims = [c for conclusion in found for c in conclusion.claims]
    assert any(claim.single_analysis for claim in claims)
    assert all(claim.blocks <= MAX_PLANNED_BLOCKS for claim in claims if claim.single_analysis)


def test_decided_analysis_stays_when_a_study_goes_on() -> None:
    """Both intervals hold simultaneously: the narrower one is shown."""
    for seed in range(8):
        study = tune(MANY, replace(GAIN, seed=seed), Budget(launches=100), seed=seed)
        claims = study.conclusion.claims
        if not claims or not claims[0].single_analysis or claims[0].verdict is not Verdict.FASTER:
            continue
        confirm = [s for s in study.samples if s.launch.stage is Stage.CONFIRM]
        last = max(s.launch.block for s in confirm)
        more = [
            msgspec.structs.replace(s, launch=msgspec.structs.replace(s.launch, block=last + 1))
            for s in confirm
            if s.launch.block == last
        ]
        space = SearchSpace(MANY)
        again = conclude(study.spec, [*study.samples, *more], space, TpeSearcher(), study.done)
        assert again.claims[0].verdict is Verdict.FASTER
        return
    pytest.fail("no study was decided by its planned analysis")
