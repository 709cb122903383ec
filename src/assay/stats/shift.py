"""Shift: quantiles of B against those of A; shown beside an effect, not a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.stats.quantile import quantile

QUANTILES = (0.1, 0.5, 0.9)
"""Quantiles to compare: a typical good launch, the median, a typical bad launch."""


@dataclass(frozen=True, slots=True)
class Shift:
    """One quantile of two arms.

    Attributes:
        p: probability of the quantile.
        a, b: its value in each arm, in the unit of the metric.
        ratio: b over a; ``None`` where either is not positive, or lies among censored values.
    """

    p: float
    a: float
    b: float
    ratio: float | None


def shifts(
    a: Sequence[float], b: Sequence[float], places: Sequence[float] = QUANTILES
) -> tuple[Shift, ...]:
    """Compare quantiles of two samples of any size.

    Args:
        a: values of one arm; give a censored value as ``inf``.
        b: values of the other, same unit.
        places: probabilities of the quantiles.

    Raises:
        ValueError: an arm has no values, or NaN.
    """
    found = []
    for p in places:
        left, right = quantile(a, p), quantile(b, p)
        known = math.isfinite(left) and math.isfinite(right) and left > 0.0 and right > 0.0
        found.append(Shift(p, left, right, right / left if known else None))
    return tuple(found)


def spread_ratio(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return (p90 - p10) of B over that of A; above 1, B varies more between launches.

    Args:
        a: values of one arm; give a censored value as ``inf``.
        b: values of the other, same unit.

    Returns:
        A ratio; ``None`` if A has no spread, or p90 or p10 lies among censored values.

    Raises:
        ValueError: an arm has no values, or NaN.
    """
    ends = [quantile(arm, p) for arm in (a, b) for p in (0.1, 0.9)]
    if not all(map(math.isfinite, ends)) or ends[1] <= ends[0]:
        return None
    return (ends[3] - ends[2]) / (ends[1] - ends[0])
