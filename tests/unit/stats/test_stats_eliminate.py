"""Which arms leave a race."""

import math

import numpy as np
import pytest

from assay.stats.eliminate import against, leader, scores, worse

NAN = math.nan


def race(effects: list[float], blocks: int, noise: float = 0.01, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    drift = np.cumsum(rng.normal(0.0, 0.05, blocks))
    return drift[:, None] + np.array(effects) + noise * rng.standard_normal((blocks, len(effects)))


def test_clearly_worse_arms_leave_and_the_leader_stays() -> None:
    values = race([0.0, 0.05, -0.05, 0.3], 8)
    assert leader(values) == 2
    assert worse(values) == [0, 1, 3]
    assert worse(values[:3]) == []
    assert worse(values, racing=[0, 1]) == [1]


def test_drift_between_blocks_does_not_mislead_where_arms_are_missing() -> None:
    values = race([0.0, 0.02], 12) + np.linspace(0.0, 3.0, 12)[:, None]
    values[6:, 1] = NAN  # arm 1 ran only while all was fast
    assert np.nanmean(values[:, 1]) < np.nanmean(values[:, 0])
    assert leader(values) == 0
    assert scores(values)[1] - scores(values)[0] == pytest.approx(0.02, abs=0.02)


def test_arms_that_never_ran_have_no_standing() -> None:
    values = race([0.0, 0.1], 6)
    values[:, 0] = NAN
    assert math.isnan(scores(values)[0])
    assert leader(values) == 1
    assert worse(values) == []
    assert leader(np.full((3, 2), NAN)) is None
    assert worse(np.full((0, 2), NAN)) == []
    assert not against(values, 0, 1).bounded


def test_equal_arms_are_rarely_dropped() -> None:
    drops = sum(
        any(1 in worse(race([0.0, 0.0], 20, seed=s)[:n], racing=[0, 1]) for n in (4, 8, 12, 20))
        or any(0 in worse(race([0.0, 0.0], 20, seed=s)[:n]) for n in (4, 8, 12, 20))
        for s in range(100)
    )
    assert drops <= 20 + 2 * 4


def test_the_first_of_equals_leads_whatever_the_order_of_asking() -> None:
    values = np.zeros((6, 3))
    assert leader(values) == 0
    assert worse(values) == []
    assert worse(values + np.array([0.0, 0.1, 0.2]), resolution=0.01) == [1, 2]


def test_only_logarithms_race() -> None:
    for bad in (np.zeros(3), np.array([[1.0, math.inf]])):
        with pytest.raises(ValueError, match="blocks x arms"):
            scores(bad)
