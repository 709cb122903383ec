"""Spread of one arm against another."""

from __future__ import annotations

import math
import random

import pytest

from assay.records.claim import SpreadVerdict
from assay.stats.spread import BATCH_BLOCKS, spread_effect


def gaussian(seed: int, n: int, sd: float) -> list[float]:
    draw = random.Random(seed)
    return [1.0 + draw.gauss(0.0, sd) for _ in range(n)]


def test_double_spread_is_wider_with_covering_interval() -> None:
    found = spread_effect(gaussian(1, 200, 0.01), gaussian(2, 200, 0.02))
    assert found.verdict is SpreadVerdict.WIDER
    assert found.lo < 2.0 < found.hi
    assert found.batches == 200 // BATCH_BLOCKS


def test_half_the_spread_is_tighter() -> None:
    assert (
        spread_effect(gaussian(3, 200, 0.02), gaussian(4, 200, 0.01)).verdict
        is SpreadVerdict.TIGHTER
    )


def test_exchanging_the_arms_inverts_the_ratio() -> None:
    a, b = gaussian(5, 60, 0.01), gaussian(6, 60, 0.03)
    there, back = spread_effect(a, b), spread_effect(b, a)
    assert there.ratio is not None and back.ratio is not None
    assert there.ratio * back.ratio == pytest.approx(1.0)
    assert there.lo * back.hi == pytest.approx(1.0)


def test_common_drift_cancels() -> None:
    a, b = gaussian(7, 100, 0.01), gaussian(8, 100, 0.01)
    plain = spread_effect(a, b)
    drifting = spread_effect(
        [v + 0.0002 * i for i, v in enumerate(a)], [v + 0.0002 * i for i, v in enumerate(b)]
    )
    assert plain.ratio is not None and drifting.ratio is not None
    assert drifting.ratio == pytest.approx(plain.ratio, rel=0.1)


def test_incomplete_batch_has_no_effect() -> None:
    found = spread_effect([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0])
    assert found.ratio is None
    assert (found.lo, found.hi) == (0.0, math.inf)


def test_constant_values_have_the_same_spread() -> None:
    found = spread_effect([5.0] * 40, [5.0] * 40)
    assert found.ratio == 1.0


def test_unequal_blocks_are_rejected() -> None:
    with pytest.raises(ValueError, match="one per block"):
        spread_effect([1.0] * 5, [1.0] * 6)


def test_equal_spreads_are_rarely_distinguished_at_any_interim_analysis() -> None:
    wrong = 0
    for seed in range(120):
        a, b = gaussian(2 * seed, 120, 0.01), gaussian(2 * seed + 1, 120, 0.01)
        analyses = (spread_effect(a[:n], b[:n]) for n in range(30, 121, BATCH_BLOCKS))
        wrong += any(found.lo > 1.0 or found.hi < 1.0 for found in analyses)
    assert wrong <= 120 * 0.05 + 3 * math.sqrt(120 * 0.05 * 0.95)
