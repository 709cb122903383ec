"""Batch means: dependence of successive values over any distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from assay.stats.confidence_sequence import moments
from assay.stats.quantile import quantile_of_sorted

MAX_BATCHES = 20
"""Maximum number of batches. More of them would be shorter, and miss slow changes."""
MIN_BATCHES = 10
MIN_SIZE = 10
"""Minimum number of values in a batch, so that its mean is nearly normal."""
CLIPPED = (0.025, 0.975)
"""Quantiles between which values are no outliers."""
_EQUAL = 1e-12
"""Relative difference of values that are equal but for rounding."""


class Dependence(NamedTuple):
    """Dependence of values on earlier ones, by the means of successive batches.

    Attributes:
        batches: number of batches.
        ratio: standard deviation of their means over that of means of independent values.
        error: probability of a ratio of at least this size with independent values. The ratio of
            the values without outliers is tested too, and the larger probability counts.
    """

    batches: int
    ratio: float
    error: float


def dependence_of(values: Sequence[float]) -> Dependence | None:
    """Return the dependence of values on earlier ones, by the means of batches of equal size.

    The means of values that depend on earlier ones, or on a state that lasts for many of them,
    differ more than those of independent values. The method of batch means takes that for the
    error of the overall mean (Law and Kelton, Simulation Modeling and Analysis, section 9.5).

    Args:
        values: values in the order of measurement; the first ones that fill no batch are left out.

    Returns:
        ``None`` for fewer than 100 values, or if 95 % of them are equal.
    """
    batches = min(MAX_BATCHES, len(values) // MIN_SIZE)
    if batches < MIN_BATCHES:
        return None
    used = values[len(values) - len(values) // batches * batches :]
    # A few outliers may lie in one batch by chance.
    ordered = sorted(used)
    low, high = (quantile_of_sorted(ordered, share) for share in CLIPPED)
    squared = _mean_square(used, batches)
    clipped = _mean_square([min(max(value, low), high) for value in used], batches)
    if squared is None or clipped is None:
        return None
    error = _chi_squared_tail(min(squared, clipped), batches - 1)
    return Dependence(batches, math.sqrt(squared), error)


def _mean_square(values: Sequence[float], batches: int) -> float | None:
    """Return the variance of the means of batches, over that with independent values."""
    low, high = min(values), max(values)
    if high - low <= _EQUAL * max(abs(low), abs(high)):
        return None
    width = high - low
    values = [(value - low) / width for value in values]  # squares of others may be 0 or infinite
    size = len(values) // batches
    means = [math.fsum(values[at : at + size]) / size for at in range(0, len(values), size)]
    _, spread_of_means = moments(means)
    _, spread = moments(values)
    return size * (spread_of_means / spread) ** 2


def _chi_squared_tail(mean_square: float, degrees: int) -> float:
    """Return the probability of a larger mean square of normal values.

    The cube root is nearly normal (Wilson and Hilferty 1931, PNAS 17:684).
    """
    width = 2 / (9 * degrees)
    score = (mean_square ** (1 / 3) - (1 - width)) / math.sqrt(width)
    return math.erfc(score / math.sqrt(2)) / 2
