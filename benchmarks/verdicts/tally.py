"""Counts of studies, as tables show them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.stats.peeking import StudyOutcome

ALPHA = 0.05
DASH = "\u2013"


@dataclass(frozen=True)
class Share:
    """Count among a number of studies."""

    count: int
    of: int

    @property
    def value(self) -> float:
        return self.count / self.of if self.of else math.nan

    @property
    def error(self) -> float:
        """Standard error; at least that of one count."""
        return math.sqrt(max(self.value * (1.0 - self.value), 1.0 / self.of) / self.of)

    def __str__(self) -> str:
        return DASH if not self.of else f"{100 * self.value:.1f} %"


def limit(studies: int) -> float:
    """Return the limit of an error rate of 5 %, with two standard errors."""
    return ALPHA + 2.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / studies)


@dataclass(frozen=True)
class Row:
    """Results of studies whose true ratio is known.

    Attributes:
        name: noise.
        false: studies whose first verdict was *faster* or *slower*.
        missed: studies whose interval missed the truth at some interim analysis.
        same: studies whose first verdict was *same*.
        blocks: median number of blocks at the end.
    """

    name: str
    false: Share
    missed: Share
    same: Share
    blocks: float

    @property
    def over(self) -> bool:
        """Return whether the error rate exceeds 5 %."""
        return max(self.false.value, self.missed.value) > limit(self.false.of)


def row_of(name: str, endings: list[StudyOutcome]) -> Row:
    """Return the row of some studies of identical arms."""
    n = len(endings)
    at = sorted(ending.blocks for ending in endings)
    return Row(
        name,
        Share(sum(e.differs for e in endings), n),
        Share(sum(not e.always_covered for e in endings), n),
        Share(sum(e.verdict == "same" for e in endings), n),
        (at[(n - 1) // 2] + at[n // 2]) / 2,
    )
