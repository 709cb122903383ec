"""Frame: range of an axis in the presence of outliers.

A launch that takes ten times as long would leave a tenth of the axis to all others. So values
beyond Tukey's outer fences (three interquartile ranges; Tukey 1977, "Exploratory Data Analysis")
extend an axis only a little, and are otherwise marked at its edge.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from assay.stats.quantile import quantile_of_sorted

FENCE = 3.0
"""Distance of a fence from its quartile, in interquartile ranges."""

STRETCH = 0.5
"""Maximum extension of an axis at one end to show all values, relative to its length."""

Ends = tuple[float, float]
"""Lowest and highest value."""


def union(ranges: Iterable[Ends]) -> Ends:
    """Return the smallest range that contains all of these ranges."""
    lows, highs = zip(*ranges, strict=True)
    return min(lows), max(highs)


def fences(values: Sequence[float]) -> Ends:
    """Return the lowest and the highest value within the fences."""
    ordered = sorted(values)
    low, high = quantile_of_sorted(ordered, 0.25), quantile_of_sorted(ordered, 0.75)
    reach = FENCE * (high - low)
    first, end = bisect_left(ordered, low - reach), bisect_right(ordered, high + reach)
    return ordered[first], ordered[end - 1]


def frame(needed: Iterable[Ends], everything: Ends) -> Ends:
    """Return the axis range: all required values, and all others if they extend it only a little.

    Args:
        needed: at least one range that must be visible.
        everything: lowest and highest value.
    """
    ends = list(needed)
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    room = STRETCH * (high - low)
    return (
        min(low, everything[0]) if low - everything[0] <= room else low,
        max(high, everything[1]) if everything[1] - high <= room else high,
    )
