"""Summary statistics of a column of values, without excluding any value."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.records.study import Summary
from assay.stats.confidence_sequence import last_digit, mean_sequence, moments
from assay.stats.quantile import quantile


def summarise(
    values: Sequence[float],
    alpha: float = 0.05,
    resolution: float = 0.0,
    *,
    floor: float | None = None,
) -> Summary:
    """Summarise at least one finite value; ``ci`` of equal values extends by their last digit.

    Args:
        values: n numbers of one unit.
        alpha: accepted probability that the true mean is ever outside ``ci``.
        resolution: step of the measurement, same unit; 0 if unknown, in which case the last digit
            of equal values replaces it.
        floor: lower bound of the quantity, same unit: 0 for a duration or a size. ``ci`` is cut off
            there. The true mean is not below it either, so the error rate stays the same. (An
            interval of the logarithms would stay above 0, but it is one of the geometric mean.)
            Absent without a bound.

    Raises:
        ValueError: no values, one is not finite, or one is below ``floor``.
    """
    n = len(values)
    if n == 0 or not all(map(math.isfinite, values)):
        raise ValueError("a summary needs at least one value, all finite")
    values = sorted(values)  # each quantile sorts them, at once if they are sorted already
    if floor is not None and values[0] < floor:
        raise ValueError(f"{values[0]} is below the lower bound {floor}")
    mean, sd = moments(values)
    mean = min(max(mean, min(values)), max(values))  # rounding may put it one digit outside
    if sd == 0.0 and n > 1 and resolution == 0.0:
        resolution = last_digit(values)
    ci = mean_sequence(values, alpha, resolution=resolution, start=2)
    return Summary(
        n=n,
        min=min(values),
        q1=quantile(values, 0.25),
        median=quantile(values, 0.5),
        q3=quantile(values, 0.75),
        max=max(values),
        mean=mean,
        sd=sd if n > 1 else None,
        sem=sd / math.sqrt(n) if n > 1 else None,
        ci=(ci.lo if floor is None else max(ci.lo, floor), ci.hi) if ci.bounded else None,
    )
