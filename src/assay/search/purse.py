"""Purse: what a study may still spend."""

from __future__ import annotations

from dataclasses import dataclass

from assay.records import Budget

OVERHEAD_S = 0.005
"""What a launch costs beyond the program, for planning: the launcher, the store, the block's share
of the speed probe. Measured in docs/benchmarks/overhead.md; too small a figure only makes the last
block of a stage fall away."""


@dataclass(frozen=True)
class Cost:
    """What a block is expected to take."""

    time_s: float
    launches: int


@dataclass(frozen=True)
class Purse:
    """A budget and what is left of it."""

    total: Budget
    left: Budget

    def affords(self, cost: Cost, keep: float = 0.0, also: Cost | None = None) -> bool:
        """Whether ``cost`` leaves the share ``keep`` of the total, and ``also``, untouched."""
        extra = also or Cost(0.0, 0)
        time_ok = self.total.time_s is None or (
            (self.left.time_s or 0.0) - cost.time_s - extra.time_s >= keep * self.total.time_s
        )
        launches_ok = self.total.launches is None or (
            (self.left.launches or 0) - cost.launches - extra.launches >= keep * self.total.launches
        )
        return time_ok and launches_ok

    def share_left(self) -> float:
        """The smaller of the shares of time and of launches that are left."""
        shares = []
        if self.total.time_s:
            shares.append((self.left.time_s or 0.0) / self.total.time_s)
        if self.total.launches:
            shares.append((self.left.launches or 0) / self.total.launches)
        return min(shares, default=1.0)
