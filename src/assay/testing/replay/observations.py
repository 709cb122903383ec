"""Seen: what a plain method has observed, and what it would recommend by it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.testing.replay.method import MethodResult
from assay.testing.replay.world import World


class ObservedMinimum:
    """Single observations, the best of which wins, as tuners without statistics have it.

    Args:
        world: to launch in.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._best: tuple[float, int] | None = None
        self._worst: float | None = None
        self._default: float | None = None

    def launch(self, point: int) -> float:
        """Launch a point, and tell what it cost: lower is better.

        A failed one costs as much as the worst that was seen: told as failed, samplers forget it
        and come back.
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
        """The best single observation, and the gain that it seems to show."""
        if self._best is None:
            return MethodResult(self._world.default, None, invalid=invalid, think_s=think_s)
        cost, point = self._best
        ratio = (
            abs(cost) / self._default if self._default and point != self._world.default else None
        )
        return MethodResult(point, ratio, invalid=invalid, think_s=think_s)
