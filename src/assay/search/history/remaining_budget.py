"""Remaining budget of a study."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.records import Budget

LAUNCH_OVERHEAD_S = 0.005
"""Overhead of a launch beyond the program in seconds, for planning: the launcher, the store, the
block's share of the speed probe. Measured in docs/benchmarks/overhead.md; with too small a value
only the last block of a stage is lost."""

CONFIRMATION_RESERVE = 1.1
"""Factor on the expected cost of a minimal confirmation, for its reserve."""

BUDGET_MARGIN = 1.25
"""Factor from the minimum budget to a sufficient one, which rests on one or two timings."""
STARTUP_S = 2.0
"""Time added to it for loading the statistics and the optimiser, in seconds."""


@dataclass(frozen=True)
class Cost:
    """Expected cost of a block.

    Attributes:
        once_s: additional cost of its first run: building programs, in seconds.
    """

    time_s: float
    launches: int
    once_s: float = 0.0

    def times(self, count: float) -> Cost:
        """Return the cost of ``count`` blocks."""
        return Cost(self.time_s * count, math.ceil(self.launches * count), self.once_s)

    def plus(self, other: Cost) -> Cost:
        """Return the cost of two blocks."""
        return Cost(
            self.time_s + other.time_s,
            self.launches + other.launches,
            self.once_s + other.once_s,
        )


NO_COST = Cost(0.0, 0)


def sufficient_budget(min_cost: Cost) -> Budget:
    """Return a sufficient budget for a minimum cost."""
    return Budget(
        time_s=float(math.ceil(min_cost.time_s * BUDGET_MARGIN + STARTUP_S + min_cost.once_s)),
        launches=min_cost.launches,
    )


@dataclass(frozen=True)
class RemainingBudget:
    """A budget and its remaining part; an absent value means no limit."""

    total: Budget
    left: Budget

    @property
    def spent(self) -> bool:
        """True if nothing remains of a budget of time or of launches."""
        return (self.left.time_s is not None and self.left.time_s <= 0.0) or (
            self.left.launches is not None and self.left.launches <= 0
        )

    def affords(self, cost: Cost, keep: float = 0.0, min_cost: Cost = NO_COST) -> bool:
        """Return whether ``cost`` leaves the share ``keep`` of the total, plus ``min_cost``."""
        time_ok = self.left.time_s is None or (
            self.left.time_s - cost.time_s - cost.once_s
            >= max(keep * (self.total.time_s or 0.0), min_cost.time_s + min_cost.once_s)
        )
        launches_ok = self.left.launches is None or (
            self.left.launches - cost.launches
            >= max(keep * (self.total.launches or 0), min_cost.launches)
        )
        return time_ok and launches_ok
