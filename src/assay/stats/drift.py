"""Drift: how a series of values has moved from its beginning to its end."""

from __future__ import annotations

from collections.abc import Sequence

from assay.stats.quantile import quantile

MIN_VALUES = 9
"""Values below which no drift is told: three in each third."""


def end_thirds(values: Sequence[float]) -> tuple[Sequence[float], Sequence[float]] | None:
    """The first third and the last one; ``None`` below nine values."""
    third = len(values) // 3
    return (values[:third], values[-third:]) if len(values) >= MIN_VALUES else None


def drift_ratio(values: Sequence[float]) -> float | None:
    """Median of the last third over that of the first; ``None`` below nine values.

    Args:
        values: positive numbers of one unit, in the order in which they were measured.
    """
    thirds = end_thirds(values)
    return None if thirds is None else quantile(thirds[1], 0.5) / quantile(thirds[0], 0.5)
