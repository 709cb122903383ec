"""Observations of a method without statistics, and its recommendation."""

from __future__ import annotations

from collections.abc import Sequence

from assay.testing.replay.method import MethodResult
from assay.testing.replay.world import World


class ObservedMinimum:
    """Single observations of which the best wins, as in tuners without statistics.

    Args:
        world: world of the launches.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._best: tuple[float, int] | None = None
        self._worst: float | None = None
        self._default: float | None = None

    def launch(self, point: int) -> float:
        """Launch a point and return its cost: lower is better.

        A failed launch has the worst observed cost: samplers ignore failed trials and would propose
        them again.
        """
        value = self._world.launch(point).value
        if value is None:
            return self._worst if self._worst is not None else 0.0
        cost = -value if self._world.higher else value
        if self._best is None or cost < self._best[0]:
            self._best = (cost, point)
        self._worst = cost if self._worst is None else max(self._worst, cost)
        if point == self._world.default and self._default is None:
            self._default = value
        return cost

    def found(self, invalid: int = 0, think_s: Sequence[float] = ()) -> MethodResult:
        """Return the best single observation with its apparent gain."""
        if self._best is None:
            return MethodResult(self._world.default, None, invalid=invalid, think_s=think_s)
        cost, point = self._best
        ratio = (
            abs(cost) / self._default if self._default and point != self._world.default else None
        )
        return MethodResult(point, ratio, invalid=invalid, think_s=think_s)
