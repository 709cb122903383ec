"""Targets of the benchmark, with their figures."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.markdown import verdict

UNKNOWN = "cause not yet known"


@dataclass(frozen=True)
class Target:
    """A limit and the measured figure.

    Attributes:
        measure: name of the figure.
        limit: limit, as text.
        figure: measured figure, as text.
        excess: excess of the figure over the limit; at most 0 if the limit is met. ``None``: not
            measured.
        error: standard error of the excess.
        reason: known reason of a miss.
    """

    measure: str
    limit: str
    figure: str
    excess: float | None
    error: float = 0.0
    reason: str = ""

    @property
    def result(self) -> str:
        """Verdict on the target, in Markdown."""
        if self.excess is None:
            return verdict("open")
        if self.excess <= 0.0:
            return verdict("met")
        if self.excess <= 2.0 * self.error:
            return verdict("met within two standard errors")
        return verdict("missed")

    @property
    def cells(self) -> list[str]:
        """Cells of its row; a reason only where the target is missed or open."""
        shown = self.result
        reason = "" if shown.startswith("*met") else self.reason or UNKNOWN
        return [self.measure, self.limit, self.figure, shown, reason]
