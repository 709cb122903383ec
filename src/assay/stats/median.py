"""Interval of the median that is valid at every interim analysis, for values that may be censored.

Each value lies below the true median with probability 1/2, independently of the others. With a
Beta(b, b) mixture over that probability, k of n values below the median give the e-value

    E_n = 2^n B(b + k, b + n - k) / B(b, b),

a martingale of mean 1 under the truth (Robbins 1970; for quantiles Howard and Ramdas,
Bernoulli 28:1704, 2022). It is smallest in the middle, so the medians with E_n < 1/alpha lie
between two order statistics. With ties, any count from "below" to "not above" is a valid k, so they
only widen the interval. The distribution of the values is arbitrary.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from assay.stats.confidence_sequence import check_alpha
from assay.stats.interval import Interval
from assay.stats.quantile import quantile

PRIOR_SHAPE = 0.5
"""Both parameters of the mixture. With this value an interval has two ends from 7 values on, at
5 %."""


@functools.lru_cache(maxsize=65536)
def tail_rank(n: int, alpha: float) -> int:
    """Return the rank of the order statistic that bounds the median of n values from below.

    Args:
        n: number of values.
        alpha: accepted probability that the true median is ever excluded.

    Returns:
        A rank from 1 to about n / 2, or 0 if nothing bounds the median yet. From above it is
        bounded by the value of the same rank counted from the top.
    """
    check_alpha(alpha)
    limit = -math.log(alpha) + 2.0 * math.lgamma(PRIOR_SHAPE) - math.lgamma(2.0 * PRIOR_SHAPE)
    limit += math.lgamma(n + 2.0 * PRIOR_SHAPE) - n * math.log(2.0)
    rank = 0
    while 2 * rank < n:
        if math.lgamma(PRIOR_SHAPE + rank) + math.lgamma(PRIOR_SHAPE + n - rank) < limit:
            break
        rank += 1
    return rank


def median_sequence(
    low: Sequence[float], high: Sequence[float] | None = None, alpha: float = 0.05
) -> Interval:
    """Return the interval of the median, valid at every interim analysis.

    Args:
        low: n numbers; each value is known to be at least this (-inf: not known).
        high: n numbers; each is known to be at most this (inf: right-censored). The values
            themselves, ``low``, if absent.
        alpha: accepted probability that the true median is ever excluded.

    Returns:
        The interval in the unit of the values; ends may be infinite.

    Raises:
        ValueError: lengths differ, a number is NaN, or ``alpha`` is not between 0 and 1.
    """
    high = low if high is None else high
    check_bounds(low, high)
    rank = tail_rank(len(low), alpha)
    if rank == 0:
        return Interval(-math.inf, math.inf)
    return Interval(sorted(low)[rank - 1], sorted(high)[-rank])


def median_between(low: Sequence[float], high: Sequence[float] | None = None) -> Interval:
    """Return the sample median of values in ``low`` to ``high``; one point if both agree.

    Raises:
        ValueError: no values, lengths differ, or a number is NaN.
    """
    high = low if high is None else high
    check_bounds(low, high)
    if not low:
        raise ValueError("a median needs at least one value")
    return Interval(quantile(low, 0.5), quantile(high, 0.5))


def check_bounds(low: Sequence[float], high: Sequence[float]) -> None:
    """Check that the bounds are ordered pairs of numbers.

    Raises:
        ValueError: lengths differ, or some pair is not ``low <= high`` (NaN included).
    """
    if len(low) != len(high):
        raise ValueError(
            f"{len(low)} lower and {len(high)} upper bounds: their numbers must be equal"
        )
    if not all(lo <= hi for lo, hi in zip(low, high, strict=True)):
        raise ValueError("each lower bound must be a number at most its upper bound")
