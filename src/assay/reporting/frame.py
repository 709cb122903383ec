"""Frame: which part of an axis to show where a few values lie far out.

One launch in a hundred that takes ten times as long would leave a tenth of the picture for all
others. So values beyond Tukey's outer fences (three times the distance of the quartiles, Tukey
1977, "Exploratory Data Analysis") do not stretch an axis much; a picture marks at its edge what
lies beyond.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.stats.quantile import quantile

FENCE = 3.0
"""Distance of a fence from its quartile, in distances of the quartiles."""

STRETCH = 0.5
"""By how much of its length an axis may grow at one end to show all there is."""

Ends = tuple[float, float]
"""Lowest and highest value."""


def fences(values: Sequence[float]) -> Ends:
    """The lowest and the highest value that lie within the fences of at least one value."""
    low, high = quantile(values, 0.25), quantile(values, 0.75)
    reach = FENCE * (high - low)
    inside = [v for v in values if low - reach <= v <= high + reach]
    return min(inside), max(inside)


def frame(needed: Iterable[Ends], everything: Ends) -> Ends:
    """What to show: all that is needed, and all there is where that costs little room.

    Args:
        needed: at least one pair of ends that must be seen.
        everything: the lowest and the highest value of all.
    """
    ends = list(needed)
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    room = STRETCH * (high - low)
    return (
        min(low, everything[0]) if low - everything[0] <= room else low,
        max(high, everything[1]) if everything[1] - high <= room else high,
    )
