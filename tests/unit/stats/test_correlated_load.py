"""Correlation of the load of other processes with the arms."""

from __future__ import annotations

import random

from assay.stats.correlated_load import is_correlated

ALPHA = 0.05


def shares(a: float, b: float, blocks: int = 20) -> list[tuple[float, float]]:
    rng = random.Random(7)
    return [(rng.gauss(a, 0.02), rng.gauss(b, 0.02)) for _ in range(blocks)]


def test_load_during_one_arm_is_correlated() -> None:
    assert is_correlated(shares(0.0, 0.3), shares(0.0, 0.6), ALPHA)
    assert is_correlated(shares(0.3, 0.0), shares(0.6, 0.0), ALPHA)


def test_load_during_both_arms_is_not_correlated() -> None:
    assert not is_correlated(shares(0.3, 0.3), shares(0.6, 0.6), ALPHA)


def test_displaced_load_is_not_correlated() -> None:
    assert not is_correlated(shares(0.5, 0.1), shares(1.0, 1.0), ALPHA)
    assert not is_correlated(shares(0.5, 0.1), shares(0.6, 0.9), ALPHA)


def test_few_blocks_show_no_correlation() -> None:
    assert not is_correlated(shares(0.0, 0.5, 5), shares(0.0, 0.5, 5), ALPHA)


def test_difference_below_counter_step_shows_no_correlation() -> None:
    pairs = [(0.10, 0.11)] * 30
    assert not is_correlated(pairs, pairs, ALPHA, resolution=0.02)


def test_independent_load_is_reported_in_at_most_five_per_cent() -> None:
    """With an interim analysis after every block; bursts fall on either arm by chance."""
    found = 0
    for study in range(300):
        rng = random.Random(study)
        pairs = [(0.4 * (rng.random() < 0.3), 0.4 * (rng.random() < 0.3)) for _ in range(30)]
        found += any(is_correlated(pairs[:n], pairs[:n], ALPHA) for n in range(6, 31))
    assert found <= 0.05 * 300 + 8
