"""Running median: the median of a growing list, in logarithmic time for each value."""

from __future__ import annotations

import heapq


class RunningMedian:
    """Median of the values so far, equal to ``statistics.median``.

    Two heaps hold the lower and the upper half.
    """

    def __init__(self) -> None:
        self._lower: list[float] = []
        """Negated values, so that the largest one is first."""
        self._upper: list[float] = []

    def add(self, value: float) -> float:
        """Add a finite value and return the median."""
        largest = -heapq.heappushpop(self._lower, -value)
        heapq.heappush(self._upper, largest)
        if len(self._upper) > len(self._lower) + 1:
            heapq.heappush(self._lower, -heapq.heappop(self._upper))
        if len(self._upper) > len(self._lower):
            return self._upper[0]
        return (self._upper[0] - self._lower[0]) / 2
