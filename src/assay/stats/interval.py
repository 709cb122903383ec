"""Confidence intervals, possibly without an upper or a lower bound."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval; an end without a bound is infinite.

    Attributes:
        lo: lower end, in the unit of the values.
        hi: upper end, at least ``lo``.
    """

    lo: float
    hi: float

    def __post_init__(self) -> None:
        if not self.lo <= self.hi:
            raise ValueError(
                f"invalid interval: lo must be at most hi, not {self.lo} and {self.hi}"
            )

    def __contains__(self, value: float) -> bool:
        return self.lo <= value <= self.hi

    @property
    def width(self) -> float:
        """Width ``hi - lo``; infinite where an end is open."""
        return self.hi - self.lo

    @property
    def bounded(self) -> bool:
        """True if both ends are finite."""
        return math.isfinite(self.lo) and math.isfinite(self.hi)

    def extended_to(self, value: float) -> Interval:
        """Return the smallest interval that contains this one and ``value``."""
        return Interval(min(self.lo, value), max(self.hi, value))


UNBOUNDED = Interval(-math.inf, math.inf)
"""Interval without any bound."""


def ratio_ends(lo: float, hi: float) -> tuple[float | None, float | None]:
    """Return the ends of the interval of a ratio as they are stored in documents.

    Args:
        lo, hi: ends of the interval; 0 and infinity are open.

    Returns:
        Both ends, ``None`` where open: JSON has no infinity.
    """
    return (lo if lo > 0.0 else None), (hi if math.isfinite(hi) else None)
