"""Elimination of arms from a race."""

import math
import random

import numpy as np
import pytest

from assay.stats.elimination import (
    all_within_margin,
    arm_effects,
    difference_interval,
    eliminated_arms,
    leading_arm,
)

NAN = math.nan


def race(effects: list[float], blocks: int, noise: float = 0.01, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    drift = np.cumsum(rng.normal(0.0, 0.05, blocks))
    return drift[:, None] + np.array(effects) + noise * rng.standard_normal((blocks, len(effects)))


def test_clearly_worse_arms_are_eliminated_and_leader_is_kept() -> None:
    values = race([0.0, 0.05, -0.05, 0.3], 8)
    assert leading_arm(values) == 2
    assert eliminated_arms(values) == {0, 1, 3}
    assert eliminated_arms(values[:3]) == set()
    assert eliminated_arms(values[:, :2]) == {1}


def test_drift_does_not_bias_effects_with_missing_arms() -> None:
    values = race([0.0, 0.02], 12) + np.linspace(0.0, 3.0, 12)[:, None]
    values[6:, 1] = NAN  # arm 1 ran only in fast blocks
    assert np.nanmean(values[:, 1]) < np.nanmean(values[:, 0])
    assert leading_arm(values) == 0
    assert arm_effects(values)[1] - arm_effects(values)[0] == pytest.approx(0.02, abs=0.02)


def test_arms_without_launches_have_no_effect() -> None:
    values = race([0.0, 0.1], 6)
    values[:, 0] = NAN
    assert math.isnan(arm_effects(values)[0])
    assert leading_arm(values) == 1
    assert eliminated_arms(values) == set()
    assert leading_arm(np.full((3, 2), NAN)) is None
    assert eliminated_arms(np.full((0, 2), NAN)) == set()
    assert not difference_interval(values, 0, 1).bounded


def test_equal_arms_are_rarely_dropped() -> None:
    drops = sum(
        any(1 in eliminated_arms(race([0.0, 0.0], 20, seed=s)[:n]) for n in (4, 8, 12, 20))
        or any(0 in eliminated_arms(race([0.0, 0.0], 20, seed=s)[:n]) for n in (4, 8, 12, 20))
        for s in range(100)
    )
    assert drops <= 20 + 2 * 4


def test_first_of_equal_arms_leads() -> None:
    values = np.zeros((6, 3))
    assert leading_arm(values) == 0
    assert eliminated_arms(values) == set()
    for alike in (np.zeros((3, 400)), np.full((3, 400), math.log(0.5))):
        assert leading_arm(alike) == 0


def test_infinite_values_are_rejected() -> None:
    for bad in (np.zeros(3), np.array([[1.0, math.inf]])):
        with pytest.raises(ValueError, match="blocks x arms"):
            arm_effects(bad)


def matrix(seed: int, blocks: int, arms: int, missing: float) -> np.ndarray:
    """Return values of a drifting session; arm 0 ran in every block, which links all arms."""
    rng = random.Random(seed)
    effects = [rng.gauss(0, 0.1) for _ in range(arms)]
    return np.array(
        [
            [
                NAN
                if arm and rng.random() < missing
                else 0.05 * block + effects[arm] + rng.gauss(0, 0.02)
                for arm in range(arms)
            ]
            for block in range(blocks)
        ]
    )


def full_fit(values: np.ndarray) -> np.ndarray:
    """Return the effects by definition: a design matrix with a row for every launch."""
    rows, arms = np.nonzero(~np.isnan(values))
    blocks, width = values.shape
    design = np.zeros((len(rows), blocks + width))
    design[np.arange(len(rows)), rows] = 1.0
    design[np.arange(len(rows)), blocks + arms] = 1.0
    fit = np.linalg.lstsq(design, values[rows, arms], rcond=None)[0][blocks:]
    ran = np.unique(arms)
    found = np.full(width, NAN)
    found[ran] = fit[ran] - fit[ran].mean()
    return found


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("shape", [(1, 3), (4, 2), (6, 9), (40, 12)])
def test_effects_equal_those_of_full_fit(shape: tuple[int, int], missing: float) -> None:
    values = matrix(3, *shape, missing)
    expected = full_fit(values)
    assert arm_effects(values) == pytest.approx(expected, abs=1e-7, nan_ok=True)
    assert leading_arm(values) == min(
        range(shape[1]), key=lambda arm: (np.isnan(expected[arm]), expected[arm])
    )


def test_race_is_decided_when_no_arm_can_be_better() -> None:
    rng = np.random.default_rng(1)
    apart = np.stack([rng.normal(0.0, 0.01, 30), rng.normal(0.2, 0.01, 30)], axis=1)
    assert all_within_margin(apart, 0.01)
    alike = np.stack([rng.normal(0.0, 0.1, 6), rng.normal(0.0, 0.1, 6)], axis=1)
    assert not all_within_margin(alike, 0.01)
    assert not all_within_margin(np.full((0, 3), NAN), 0.01)
