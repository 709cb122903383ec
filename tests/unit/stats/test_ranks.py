"""Rank tests, compared with SciPy."""

from __future__ import annotations

import random

import pytest
from scipy.stats import kendalltau, mannwhitneyu

from assay.stats.ranks import order_test, rank_test


@pytest.mark.parametrize(("sizes", "method"), [((4, 5), "exact"), ((30, 40), "asymptotic")])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_rank_test_agrees_with_scipy(sizes: tuple[int, int], method: str, shift: float) -> None:
    rng = random.Random(7)
    first = [rng.gauss(0, 1) for _ in range(sizes[0])]
    second = [rng.gauss(shift, 1) for _ in range(sizes[1])]
    expected = mannwhitneyu(first, second, method=method).pvalue
    assert rank_test(first, second) == pytest.approx(expected, rel=1e-6)


def test_rank_test_of_equal_or_no_values_shows_nothing() -> None:
    assert rank_test([1.0] * 9, [1.0] * 9) == 1.0
    assert rank_test([], [1.0]) == 1.0


def test_order_test_agrees_with_scipy() -> None:
    rng = random.Random(3)
    values = [at + rng.gauss(0, 9) for at in range(50)]
    expected = kendalltau(range(50), values, method="asymptotic")
    assert order_test(values) == pytest.approx((expected.statistic, expected.pvalue))


def test_order_test_thins_out_long_series() -> None:
    assert order_test(range(100_000))[0] == 1.0
    assert order_test([1.0]) == (0.0, 1.0)
