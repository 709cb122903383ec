"""Purse: what a study may still spend."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.records import Budget

LAUNCH_OVERHEAD_S = 0.005
"""What a launch costs beyond the program, for planning: the launcher, the store, the block's share
of the speed probe. Measured in docs/benchmarks/overhead.md; too small a figure only makes the last
block of a stage fall away."""

CONFIRMATION_RESERVE = 1.1
"""What must remain for a least confirmation is its expected cost times this."""

BUDGET_MARGIN = 1.25
"""A budget that is said to do is the least one times this: it rests on one or two timings."""
STARTUP_S = 2.0
"""Added to it: loading what the statistics and the optimiser need, within the first blocks."""


@dataclass(frozen=True)
class Cost:
    """What a block is expected to take.

    Attributes:
        once_s: of its first time alone: programs that are still to be built.
    """

    time_s: float
    launches: int
    once_s: float = 0.0

    def times(self, count: float) -> Cost:
        """What ``count`` of them take."""
        return Cost(self.time_s * count, math.ceil(self.launches * count), self.once_s)


NO_COST = Cost(0.0, 0)


def sufficient_budget(least: Cost) -> Budget:
    """The budget that is said to do for what a study takes at least."""
    return Budget(
        time_s=float(math.ceil(least.time_s * BUDGET_MARGIN + STARTUP_S + least.once_s)),
        launches=least.launches,
    )


@dataclass(frozen=True)
class RemainingBudget:
    """A budget and what is left of it: absent means no limit of this kind."""

    total: Budget
    left: Budget

    @property
    def spent(self) -> bool:
        """Whether nothing is left of a budget of time or of launches."""
        return (self.left.time_s is not None and self.left.time_s <= 0.0) or (
            self.left.launches is not None and self.left.launches <= 0
        )

    def affords(self, cost: Cost, keep: float = 0.0, least: Cost = NO_COST) -> bool:
        """Whether ``cost`` leaves the share ``keep`` of the total, and ``least``, untouched."""
        time_ok = self.left.time_s is None or (
            self.left.time_s - cost.time_s - cost.once_s
            >= max(keep * (self.total.time_s or 0.0), least.time_s + least.once_s)
        )
        launches_ok = self.left.launches is None or (
            self.left.launches - cost.launches
            >= max(keep * (self.total.launches or 0), least.launches)
        )
        return time_ok and launches_ok
