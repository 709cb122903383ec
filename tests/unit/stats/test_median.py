"""Medians: exact error rate over all sign paths, and censored values."""

import math

import numpy as np
import pytest

from assay.stats.interval import Interval
from assay.stats.median import PRIOR_SHAPE, median_between, median_sequence, tail_rank

INF = math.inf


def log_e(n: int, k: int) -> float:
    def log_beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    return (
        n * math.log(2)
        + log_beta(PRIOR_SHAPE + k, PRIOR_SHAPE + n - k)
        - log_beta(PRIOR_SHAPE, PRIOR_SHAPE)
    )


@pytest.mark.parametrize("n", [1, 6, 7, 30, 301])
def test_rank_is_the_first_count_that_is_not_excluded(n: int) -> None:
    excluded = [k for k in range(n + 1) if log_e(n, k) >= -math.log(0.05)]
    rank = tail_rank(n, 0.05)
    assert excluded == [*range(rank), *range(n - rank + 1, n + 1)]


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01])
def test_true_median_is_ever_excluded_with_at_most_alpha(alpha: float) -> None:
    alive, total = np.ones(1), 0.0
    for n in range(1, 1001):
        alive = 0.5 * (np.append(alive, 0.0) + np.append(0.0, alive))
        rank = tail_rank(n, alpha)
        if rank:
            total += alive[:rank].sum() + alive[n - rank + 1 :].sum()
            alive[:rank] = alive[n - rank + 1 :] = 0.0
    assert 0.3 * alpha < total <= alpha


def test_seven_values_are_the_first_to_bound_a_median() -> None:
    assert median_sequence([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == Interval(-INF, INF)
    assert median_sequence([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]) == Interval(1.0, 7.0)
    assert median_sequence([]) == Interval(-INF, INF)


def test_right_censored_values_open_the_upper_end_only_when_they_must() -> None:
    low = [float(v) for v in range(12)]
    few = [*low[:-1], INF]
    many = [*low[:6], *[INF] * 6]
    assert median_sequence(low, few) == median_sequence(low) == Interval(1.0, 10.0)
    assert median_sequence(low, many) == Interval(1.0, INF)


def test_invalid_bounds_are_rejected() -> None:
    with pytest.raises(ValueError, match="bounds"):
        median_sequence([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="bound"):
        median_sequence([2.0], [1.0])
    with pytest.raises(ValueError, match="bound"):
        median_sequence([math.nan])
    with pytest.raises(ValueError, match="at least one"):
        median_between([])


def test_sample_median_between_bounds() -> None:
    assert median_between([3.0, 1.0, 2.0, 10.0]) == Interval(2.5, 2.5)
    assert median_between([1.0, 2.0, 3.0], [1.0, 2.0, INF]) == Interval(2.0, 2.0)
    assert median_between([1.0, 2.0, 3.0], [1.0, INF, INF]) == Interval(2.0, INF)
    assert median_between([-INF, 2.0], [1.0, INF]) == Interval(-INF, INF)
