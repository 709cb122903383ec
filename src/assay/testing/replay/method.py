"""Method: something that finds a configuration in a world, by launching."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from assay.testing.replay.world import World


@dataclass(frozen=True)
class MethodResult:
    """What a method recommends.

    Attributes:
        point: in the table of the world.
        ratio: the gain that it claims: what the point takes over what the default does. ``None``
            where it claims none.
        interval: of the ratio, where it gives one.
        invalid: proposals that were no point of the table.
        think_s: for each proposal, the time that it took to make.
    """

    point: int
    ratio: float | None
    interval: tuple[float, float] | None = None
    invalid: int = 0
    think_s: Sequence[float] = field(default=())


class Method(Protocol):
    """A way to search. It may launch so often, and what confirms its answer is among that."""

    name: str

    def search(self, world: World, launches: int, seed: int) -> MethodResult:
        """Search a fresh world."""
        ...


@runtime_checkable
class AnytimeMethod(Protocol):
    """A method that does not ask how many launches it has: one search answers for every count."""

    name: str

    def search_each(self, world: World, counts: Sequence[int], seed: int) -> Iterator[MethodResult]:
        """Search a fresh world; yield the answer each time one of the rising counts is reached."""
        ...
