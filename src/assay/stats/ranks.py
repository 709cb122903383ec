"""Rank tests: tests that use only the order of the values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_MAX_EXACT_PAIRS = 400
"""Maximum product of the sample sizes for an exact count of the arrangements."""
_MAX_ORDERED = 300
"""Maximum length of a series; longer series are thinned out, since pairs grow with the square."""


def rank_test(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value of the Mann-Whitney test of two samples.

    Equal values count half for either side.

    Args:
        first, second: independent samples.
    """
    sizes = len(first), len(second)
    if not all(sizes):
        return 1.0
    sign = np.sign(np.subtract.outer(np.asarray(first), np.asarray(second)))
    above = float((sign > 0).sum() + 0.5 * (sign == 0).sum())
    pairs = math.prod(sizes)
    rarer = min(above, pairs - above)
    if pairs <= _MAX_EXACT_PAIRS:
        counts = _arrangements(*sizes)
        return min(1.0, 2.0 * float(counts[: math.floor(rarer) + 1].sum() / counts.sum()))
    deviation = math.sqrt(pairs * (sum(sizes) + 1) / 12)
    return math.erfc(max(0.0, pairs / 2 - rarer - 0.5) / deviation / math.sqrt(2))


def _arrangements(first: int, second: int) -> npt.NDArray[np.float64]:
    """Count the arrangements of two samples by the number of pairs whose first is the larger."""
    counts = np.zeros(first * second + 1)
    counts[0] = 1.0
    # The Gaussian binomial coefficient: a product over (1 - q^(second+i)) / (1 - q^i).
    for i in range(1, first + 1):
        step = second + i
        if step < len(counts):
            counts[step:] -= counts[:-step].copy()
        for at in range(i, len(counts)):
            counts[at] += counts[at - i]
    return counts


def order_test(values: Sequence[float]) -> tuple[float, float]:
    """Return Kendall's tau of values against their order, and its two-sided p-value.

    Args:
        values: values in the order of measurement; more than 300 are thinned out evenly.

    Returns:
        Tau, which is 1 if each value is larger than all before it and -1 if each is smaller; and
        the probability of a tau as far from 0 in a series without order.
    """
    series = np.asarray(values, dtype=np.float64)
    series = series[:: max(1, math.ceil(len(series) / _MAX_ORDERED))]
    n = len(series)
    if n < 2:
        return 0.0, 1.0
    later = np.sign(np.subtract.outer(series, series))
    score = float(np.tril(later).sum())
    deviation = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return score / (n * (n - 1) / 2), math.erfc(abs(score) / deviation / math.sqrt(2))
