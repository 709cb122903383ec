"""Targets of the benchmark, and their verdicts from the measured figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.progress.targets import Target

from .growth import exponent

MISSING = "not measured at this size"
Figures = Mapping[int, Mapping[str, Any]]
"""Figures of a part by size; a failed measurement has the key ``FAILED`` alone."""
FAILED = "failed"


@dataclass(frozen=True)
class Limit:
    """Limit of a figure at a size.

    Attributes:
        measure: name of the figure on the page.
        figure: key of the figure.
        size: size for which the limit is asked.
        most: largest value.
        unit: unit of the value.
        reason: known reason of a miss.
    """

    measure: str
    figure: str
    size: int
    most: float
    unit: str
    reason: str = ""

    def target(self, figures: Figures) -> Target:
        """Return the target with its figure."""
        limit = f"at most {shown(self.most)} {self.unit}".rstrip()
        found = figures.get(self.size, {})
        if FAILED in found:
            return Target(self.measure, limit, "no answer", 1.0, reason=found[FAILED])
        value = found.get(self.figure)
        if value is None:
            return Target(self.measure, limit, "", None, reason=MISSING)
        text = f"{shown(value)} {self.unit}".rstrip()
        return Target(self.measure, limit, text, value - self.most, reason=self.reason)

    def growth(self, figures: Figures) -> str:
        """Return the exponent of growth as text; empty if it is unknown."""
        known = {size: one[self.figure] for size, one in figures.items() if self.figure in one}
        found = exponent(known)
        return "" if found is None else f"{found:.2f}"


def rows(limits: Sequence[Limit], figures: Figures) -> list[list[str]]:
    """Return the rows of targets: measure, target, figure, exponent, verdict and reason."""
    found = []
    for limit in limits:
        *cells, verdict, reason = limit.target(figures).cells
        found.append([*cells, limit.growth(figures), verdict, reason])
    return found


def shown(value: float) -> str:
    """Return a figure with three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
