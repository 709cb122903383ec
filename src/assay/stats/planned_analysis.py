"""Planned analysis: one interim analysis that is fixed before the first value.

An interval that is valid at every interim analysis reserves most of its error rate for later ones:
after eight values it is 1.6 times as wide as Student's. If a budget ends that early, there are no
later ones. So the error rate is shared. Most of it goes to Student's interval at the planned
analysis, after a number of values that was fixed before any of them was seen. The rest goes to the
sequence at all other interim analyses. By the union bound, the probability that the truth is ever
excluded is then at most ``alpha``.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

from assay.stats.confidence_sequence import check_alpha, moments, reach_between_levels
from assay.stats.interval import UNBOUNDED, Interval

PLANNED_SHARE = 0.8
"""Share of the error rate for the planned analysis. The smaller the rest is, the more values a
study needs to decide long before the planned analysis."""


class Analysis(enum.Enum):
    """Kind of an interim analysis."""

    ANY = "any"
    """No analysis was planned: the interval is valid at every interim analysis."""
    PLANNED = "planned"
    """The planned analysis."""
    OTHER = "other"
    """An interim analysis before or after the planned one."""


def sequence_alpha(alpha: float, analysis: Analysis) -> float:
    """Return the error rate that remains for the analyses that were not planned."""
    return alpha if analysis is Analysis.ANY else alpha * (1.0 - PLANNED_SHARE)


def min_planned_values(alpha: float) -> int:
    """Return the number of values from which a planned analysis may exclude anything.

    n values of one magnitude and random sign lie all on one side with probability 2^(1-n).

    Raises:
        ValueError: ``alpha`` is not between 0 and 1.
    """
    check_alpha(alpha)
    return max(2, math.ceil(1.0 - math.log2(PLANNED_SHARE * alpha)))


def planned_mean(values: Sequence[float], alpha: float, *, resolution: float = 0.0) -> Interval:
    """Return the interval of the mean of independent values, for the planned analysis.

    It is Student's interval at ``PLANNED_SHARE`` of ``alpha``, widened for two tight levels as the
    confidence sequence is.

    Args:
        values: n numbers of one unit, n fixed before any of them was seen (except for values
            removed by outside causes, independently of the values).
        alpha: accepted probability that the truth is ever excluded, at this analysis or at any
            other.
        resolution: step of the measurement, same unit (see ``assay.stats.confidence_sequence``).

    Returns:
        The interval, in the unit of ``values``; unbounded for fewer than ``min_planned_values``.

    Raises:
        ValueError: a value is not finite, or ``alpha`` is not between 0 and 1.
    """
    from scipy.special import stdtrit

    if not all(map(math.isfinite, values)):
        raise ValueError("a mean needs finite values; use the median for censored ones")
    n = len(values)
    if n < min_planned_values(alpha):
        return UNBOUNDED
    mean, sd = moments(values)
    believed = max(sd, resolution / math.sqrt(6.0))
    if believed <= 0.0:
        return UNBOUNDED
    quantile = float(stdtrit(n - 1, 1.0 - 0.5 * PLANNED_SHARE * alpha))
    half = max(resolution, quantile * believed / math.sqrt(n))
    return reach_between_levels(Interval(mean - half, mean + half), values, alpha)
