"""Median and spread as deciding statistics."""

from __future__ import annotations

from dataclasses import replace

import pytest
from simulated_studies import compare, space_of, tune

from assay.records import Budget, SpreadVerdict, Stage, Statistic, Verdict
from assay.stats.spread import BATCH_BLOCKS
from assay.testing.search_contracts import SimulatedProgram

STEADY = SimulatedProgram(
    takes_s=lambda c: 1.0, noise_of=lambda c: 0.01 if c.get("nice") == 1 else 0.04
)
"""As quick in all configurations, four times as steady in one."""


def test_spread_beside_mean_makes_claim_unstable() -> None:
    study = compare(STEADY, Budget(launches=200), {}, {"nice": 1}, seed=3)
    claim = study.claim
    assert claim is not None
    assert claim.spread is not None
    assert claim.spread.verdict is SpreadVerdict.TIGHTER
    assert claim.unstable


def test_identical_arms_are_stable() -> None:
    flat = SimulatedProgram(takes_s=lambda c: 0.9 if c.get("nice") else 1.0, noise=0.02)
    unstable = 0
    for seed in range(20):
        study = compare(replace(flat, seed=seed), Budget(launches=60), {}, {"nice": 1}, seed=seed)
        unstable += study.claim is not None and study.claim.unstable
    assert unstable <= 2


def test_spread_decides_a_comparison_on_request() -> None:
    study = compare(STEADY, Budget(launches=200), {}, {"nice": 1}, statistic=Statistic.SPREAD)
    claim = study.claim
    assert claim is not None
    assert claim.method == "spread"
    assert claim.verdict is Verdict.FASTER
    lo, hi = claim.ci
    assert lo is not None and hi is not None and lo < 0.25 < hi
    of_block = [s for s in study.samples if s.launch.stage is Stage.CONFIRM and s.launch.block == 2]
    assert len(of_block) == 2 * BATCH_BLOCKS
    assert len({s.launch.position for s in of_block}) == 2 * BATCH_BLOCKS


def test_higher_value_is_not_a_better_spread() -> None:
    study = compare(
        replace(STEADY, noise_of=lambda c: 0.04 if c.get("nice") == 1 else 0.01),
        Budget(launches=200),
        {},
        {"nice": 1},
        statistic=Statistic.SPREAD,
    )
    assert study.claim is not None
    assert study.claim.verdict is Verdict.SLOWER


def test_tuning_for_spread_finds_configuration_of_least_spread() -> None:
    space = space_of(nice=(1, 2, 3))
    study = tune(space, STEADY, Budget(launches=600), statistic=Statistic.SPREAD, seed=1)
    assert study.settings == {"nice": 1}


def test_tuning_for_spread_stays_within_budget() -> None:
    space = space_of(nice=(1, 2, 3))
    study = tune(space, STEADY, Budget(launches=300), statistic=Statistic.SPREAD)
    assert len(study.samples) <= 300


@pytest.mark.parametrize("statistic", [Statistic.MEAN, Statistic.MEDIAN])
def test_median_is_unaffected_by_a_few_hangs(statistic: Statistic) -> None:
    study = compare(
        SimulatedProgram(takes_s=lambda c: 0.8 if c.get("nice") else 1.0, noise=0.02),
        Budget(launches=80),
        {},
        {"nice": 1},
        statistic=statistic,
    )
    assert study.claim is not None
    assert study.claim.verdict is Verdict.FASTER
    assert study.claim.method == str(statistic)
