"""Quantiles by linear interpolation between order statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence


def quantile(values: Sequence[float], p: float) -> float:
    """Return the p quantile, definition 7 of Hyndman and Fan (American Statistician 50:361, 1996).

    With x(1) <= ... <= x(n) and h = (n - 1) p, the value at the fractional place 1 + h. That is
    the default of NumPy and R.

    Args:
        values: at least one number, in any order; infinite ones (censored) are allowed.
        p: probability of the quantile, from 0 to 1.

    Returns:
        The quantile in the unit of the values; infinite if it depends on an infinite value.

    Raises:
        ValueError: no values, NaN, or ``p`` out of range.
    """
    if not values or any(map(math.isnan, values)):
        raise ValueError("a quantile needs at least one value, and no NaN")
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p must be from 0 to 1, not {p}")
    return quantile_of_sorted(sorted(values), p)


def quantile_of_sorted(ordered: Sequence[float], p: float) -> float:
    """Return the p quantile of ascending values, without sorting or checking them.

    Args:
        ordered: at least one number, no NaN.
        p: probability of the quantile, from 0 to 1.
    """
    place = (len(ordered) - 1) * p
    below = math.floor(place)
    share = place - below
    left = ordered[below]
    if share == 0.0 or left == ordered[below + 1]:
        return left
    right = ordered[below + 1]
    if math.isinf(left) or math.isinf(right):
        return left if math.isinf(left) else right
    return (1.0 - share) * left + share * right
