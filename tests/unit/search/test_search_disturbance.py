"""Blocks that others disturbed, and what is said where there are too many."""

from __future__ import annotations

import random
from dataclasses import replace

import msgspec
import pytest
from simulated_studies import compare, factors, space_of, tune

from assay.launch.partition.names import PARTITION
from assay.records import (
    DEFAULT,
    Budget,
    Evidence,
    Launch,
    Outcome,
    Sample,
    Stage,
    Verdict,
)
from assay.search.disturbance import Conditions, withheld
from assay.search.history import History
from assay.search.testing import Simulated

GAIN = Simulated(takes_s=factors(nice={1: 0.8}), noise=0.02)
BUDGET = Budget(launches=60)


def now_and_then(share: float, busy: float = 1.0) -> Simulated:
    """Others use a CPU during this share of the blocks."""
    return replace(
        GAIN, others=lambda launch: busy * (random.Random(launch.block).random() < share)
    )


def always(launch: Launch) -> float:
    return 1.0


def sample(wall_s: float, **evidence: float) -> Sample:
    launch = Launch(configuration=DEFAULT, arm="a", stage=Stage.CONFIRM, block=0, position=0)
    return Sample(
        launch=launch,
        outcome=Outcome.OK,
        wall_s=wall_s,
        evidence=tuple(Evidence(kind=k, value=v, outside=True) for k, v in evidence.items()),
    )


def test_disturbed_blocks_enter_no_claim() -> None:
    study = compare(now_and_then(0.2), BUDGET, {}, {"nice": 1})
    conclusion = study.conclusion
    disturbed = {
        s.launch.block
        for s in study.samples
        if s.launch.stage is Stage.CONFIRM
        and any(e.kind == "foreign_load" and (e.value or 0.0) > 0.0 for e in s.evidence)
    }
    assert disturbed
    assert conclusion.disturbed_blocks == len(disturbed)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.FASTER
    assert study.claim.blocks == conclusion.blocks - len(disturbed)
    assert all(arm.summary["wall_s"].n == study.claim.blocks for arm in conclusion.arms)
    assert any("left out" in note for note in conclusion.notes)


def test_no_verdict_where_more_than_a_third_is_left_out() -> None:
    study = compare(now_and_then(0.6), BUDGET, {}, {"nice": 1})
    assert study.claim is not None
    assert study.claim.withheld
    assert study.claim.verdict is Verdict.UNCLEAR
    assert any("no verdict is given" in note for note in study.conclusion.notes)


def test_a_machine_that_others_always_use_gives_no_claim_and_the_budget_ends_it() -> None:
    study = compare(replace(GAIN, others=always), BUDGET, {}, {"nice": 1})
    assert study.claim is None
    assert len(study.samples) >= 55


def test_tuning_on_such_a_machine_says_so() -> None:
    space = space_of(nice=(1,))
    study = tune(space, replace(GAIN, others=always), BUDGET)
    assert not study.settings
    assert study.conclusion.recommendation is not None
    assert "others used the machine" in study.conclusion.recommendation.sentence


def test_others_may_be_admitted() -> None:
    study = compare(replace(GAIN, others=always), BUDGET, {}, {"nice": 1}, disturbed_above=None)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.FASTER
    assert study.conclusion.disturbed_blocks == 0


def test_which_blocks_are_left_out_does_not_depend_on_arms_or_values() -> None:
    program = now_and_then(0.3)
    slow = replace(program, takes_s=lambda c: 5.0 if "nice" in c else 1.0)
    budget = Budget(launches=24)
    studies = [compare(which, budget, {}, {"nice": 1}) for which in (program, slow)]
    histories = [History.of(study.spec, study.samples) for study in studies]
    shared = set.intersection(*(set(h.complete(Stage.CONFIRM)) for h in histories))
    sound = [shared & set(h.sound(Stage.CONFIRM)) for h in histories]
    assert sound[0] == sound[1]
    assert len(shared) > len(sound[0]) > 0


@pytest.mark.parametrize(
    ("share", "disturbed"), [(0.0, False), (0.05, False), (0.2, True), (1.0, True)]
)
def test_the_share_of_others_decides(share: float, disturbed: bool) -> None:
    conditions = Conditions()
    for _ in range(2):
        conditions = conditions.with_one(sample(2.0, foreign_load=share * 4.0, host_cpus=2.0))
    assert conditions.disturbed(0.1) is disturbed
    assert not conditions.disturbed(None)


def test_stolen_time_counts_as_others_do() -> None:
    assert Conditions().with_one(sample(2.0, steal=2.0, host_cpus=2.0)).disturbed(0.1)


def test_the_step_of_the_count_disturbs_nothing() -> None:
    """A launch of 5 ms in which one tick of 10 ms fell to another process."""
    conditions = Conditions()
    for tick_s in (0.01, 0.0):
        conditions = conditions.with_one(sample(0.005, foreign_load=tick_s, host_cpus=2.0))
    assert conditions.share == 0.0


def test_samples_that_tell_nothing_of_others_disturb_nothing() -> None:
    assert Conditions().with_one(sample(1.0)).share == 0.0
    assert Conditions().with_one(sample(1.0, throttled=5.0, host_cpus=2.0)).share == 0.0


def test_a_third_may_be_left_out() -> None:
    assert not withheld(2, 6)
    assert withheld(3, 6)
    assert not withheld(0, 0)


def test_the_reason_for_the_end_counts_the_blocks_that_the_claim_rests_on() -> None:
    study = compare(now_and_then(0.2), BUDGET, {}, {"nice": 1})
    assert study.claim is not None
    lost = study.conclusion.disturbed_blocks
    assert lost
    counted = f"after {study.claim.blocks} blocks ({lost} more left out)"
    assert counted in study.conclusion.stopped


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_so_does_that_of_a_tuning(share: float) -> None:
    study = tune(space_of(nice=(1,)), now_and_then(share), Budget(launches=200))
    recommended = study.conclusion.recommendation
    assert recommended is not None
    assert recommended.claim is not None
    lost = study.conclusion.disturbed_blocks
    assert bool(lost) is bool(share)
    left_out = f" ({lost} more left out)" if lost else ""
    blocks = f"after {recommended.claim.blocks} confirmation blocks{left_out}"
    assert blocks in study.conclusion.stopped


def test_a_block_in_which_a_partition_did_not_hold_is_disturbed() -> None:
    held = Conditions().with_one(sample(1.0, host_cpus=2.0, foreign_load=0.0))
    assert not held.disturbed(0.1)
    note = Evidence(kind=PARTITION, outside=True, note="isolated became isolated invalid")
    lost = msgspec.structs.replace(sample(1.0), evidence=(note,))
    for conditions in (held.with_one(lost), Conditions().with_one(lost).with_one(sample(1.0))):
        assert conditions.disturbed(0.1)
        assert not conditions.disturbed(None)
