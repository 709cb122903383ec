"""Methods: searches for the best configuration of a simulated world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from assay.testing.replay.world import World


@dataclass(frozen=True)
class MethodResult:
    """Recommendation of a method.

    Attributes:
        point: index in the table of the world.
        ratio: claimed ratio of the point to the default; ``None`` without a claim.
        interval: interval of the ratio, if there is one.
        invalid: number of proposals outside the table.
        think_s: time to make each proposal, in seconds.
    """

    point: int
    ratio: float | None
    interval: tuple[float, float] | None = None
    invalid: int = 0
    think_s: Sequence[float] = field(default=())


class Method(Protocol):
    """A search method. The number of launches includes the confirmation of its result."""

    name: str

    def search(self, world: World, launches: int, seed: int) -> MethodResult:
        """Search a fresh world."""
        ...


@runtime_checkable
class AnytimeMethod(Protocol):
    """A method that is independent of the number of launches: one search has results for all."""

    name: str

    def search_each(self, world: World, counts: Sequence[int], seed: int) -> Iterator[MethodResult]:
        """Search a new world; yield the result at each of the ascending counts."""
        ...
