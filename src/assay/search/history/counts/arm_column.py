"""Column of an arm: its observations in the blocks of one stage."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from assay.stats.paired import Observation


class ArmColumn:
    """Observations of one arm by block, with counts that each addition updates.

    The counts make a decision between two launches independent of the number of launches.

    Attributes:
        blocks: blocks in which the arm ran, ascending.
        lost: blocks without a value.
    """

    def __init__(self) -> None:
        self.blocks: list[int] = []
        self.lost: set[int] = set()
        self._found: dict[int, Observation | None] = {}
        self._uncensored = 0
        self._first: float | None = None
        self._differ = self._is_replaced = False

    def __contains__(self, block: int) -> bool:
        return block in self._found

    def __getitem__(self, block: int) -> Observation | None:
        return self._found[block]

    def __setitem__(self, block: int, found: Observation | None) -> None:
        if block in self._found:
            self._forget(block)
        elif not self.blocks or block > self.blocks[-1]:
            self.blocks.append(block)
        else:
            bisect.insort(self.blocks, block)
        self._found[block] = found
        self._count(block, found)

    def get(self, block: int) -> Observation | None:
        """Return the observation of a block; ``None`` without a value."""
        return self._found.get(block)

    def items(self) -> Iterator[tuple[int, Observation | None]]:
        """Yield the blocks with their observations, ascending."""
        for block in self.blocks:
            yield block, self._found[block]

    def newest(self, count: int) -> list[int]:
        """Return the newest blocks, ascending."""
        return self.blocks[-count:]

    @property
    def has_value(self) -> bool:
        """True if a block has a value."""
        return len(self.lost) < len(self.blocks)

    @property
    def uncensored(self) -> int:
        """Number of uncensored values."""
        return self._uncensored

    @property
    def is_constant(self) -> bool:
        """True if all uncensored values are equal."""
        if self._is_replaced:  # rare: by a retry, or by another warm-up
            values = {o.value for o in self._found.values() if o is not None and not o.censored}
            self._first, self._differ = next(iter(values), None), len(values) > 1
            self._is_replaced = False
        return not self._differ

    def _count(self, block: int, found: Observation | None) -> None:
        if found is None:
            self.lost.add(block)
        elif not found.censored:
            self._uncensored += 1
            if self._first is None:
                self._first = found.value
            self._differ = self._differ or found.value != self._first

    def _forget(self, block: int) -> None:
        old = self._found[block]
        self.lost.discard(block)
        if old is not None and not old.censored:
            self._uncensored -= 1
            self._is_replaced = True
