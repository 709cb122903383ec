"""Drift: the change of a series of values from its beginning to its end."""

from __future__ import annotations

from collections.abc import Sequence

from assay.stats.quantile import quantile

MIN_VALUES = 9
"""Minimum number of values for a drift: three in each third."""


def end_thirds(values: Sequence[float]) -> tuple[Sequence[float], Sequence[float]] | None:
    """Return the first third and the last third; ``None`` below nine values."""
    third = len(values) // 3
    return (values[:third], values[-third:]) if len(values) >= MIN_VALUES else None


def drift_ratio(values: Sequence[float]) -> float | None:
    """Return the median of the last third over that of the first; ``None`` below nine values.

    Args:
        values: positive numbers of one unit, in the order in which they were measured.
    """
    thirds = end_thirds(values)
    return None if thirds is None else quantile(thirds[1], 0.5) / quantile(thirds[0], 0.5)
