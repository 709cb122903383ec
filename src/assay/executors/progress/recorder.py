"""Series of a metric over one launch, in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TypeVar

from assay.records import Series

MAX_REPORTS = 1 << 16
"""Number of reports that are kept singly; beyond it neighbours are merged."""
MAX_INTERVALS = 256
"""Number of intervals of the series that is stored with a sample."""
MAX_RESTARTS = 1 << 12
"""Number of restarts of the count of steps that are kept."""
_Number = TypeVar("_Number", int, float)


class SeriesRecorder:
    """Keeps the reports of one metric and one process.

    Reports of the same step share an interval. Once there are too many intervals, neighbours are
    merged: the number, the smallest and the largest value stay exact, and the sum stays exact up to
    rounding.

    Args:
        rank: rank of the process; ``None`` if only one reports.
        max_reports: largest number of intervals in memory, even.

    Attributes:
        rank: the same.
        times_s: time of the last report of each interval since the start of the launch, in seconds.
        steps: step of that report.
        reports: number of all reports.
        restarts: steps after which the program counted from one again, at most the first 4,096.
        ends_finite: false if the newest value was NaN, infinite or too large; it is not kept.
    """

    def __init__(self, rank: int | None = None, max_reports: int = MAX_REPORTS) -> None:
        self.rank = rank
        self._max = max_reports
        self.clear()

    def __len__(self) -> int:
        return len(self.times_s)

    def clear(self) -> None:
        """Drop all reports."""
        self.times_s = array("d")
        self.steps = array("d")
        self._sums = array("d")
        self._minima = array("d")
        self._maxima = array("d")
        self._counts = array("q")
        self.reports = 0
        self.restarts = array("d")
        self.ends_finite = True
        self._per_interval = 1
        self._merged = False

    @property
    def values(self) -> array[float]:
        """Mean value of each interval."""
        if not self._merged:
            return self._sums
        return array("d", map(_divided, self._sums, self._counts))

    @property
    def newest(self) -> tuple[float, float]:
        """Mean value and step of the last interval."""
        count = self._counts[-1] if self._merged else 1
        return self._sums[-1] / count, self.steps[-1]

    @property
    def minima(self) -> array[float]:
        """Smallest value of each interval."""
        return self._minima if self._merged else self._sums

    @property
    def maxima(self) -> array[float]:
        """Largest value of each interval."""
        return self._maxima if self._merged else self._sums

    @property
    def counts(self) -> array[int]:
        """Number of reports of each interval."""
        return self._counts if self._merged else array("q", (1,)) * len(self.times_s)

    def add(self, time_s: float, step: float, value: float) -> None:
        """Add a report.

        Args:
            time_s: time since the start of the launch, in seconds; never decreasing.
            step: step, never decreasing.
            value: finite value.
        """
        self.reports += 1
        self.ends_finite = True
        steps = self.steps
        if steps and (step == steps[-1] or (self._merged and self._is_open())):
            self._extend(time_s, step, value)
            return
        if len(steps) >= self._max:
            self._merge_neighbours()
        self.times_s.append(time_s)
        self.steps.append(step)
        self._sums.append(value)
        if self._merged:
            self._minima.append(value)
            self._maxima.append(value)
            self._counts.append(1)

    def restart_count(self) -> None:
        """Register that the program counts its steps from one again after the last report."""
        if self.steps and len(self.restarts) < MAX_RESTARTS:
            self.restarts.append(self.steps[-1])

    def series(self, max_intervals: int = MAX_INTERVALS) -> Series:
        """Return the series, merged to a number of intervals.

        Args:
            max_intervals: largest number of intervals.
        """
        size = len(self.times_s)
        wanted = min(size, max_intervals)
        ends = [size * number // wanted for number in range(1, wanted + 1)]
        counts = _grouped(self.counts, ends, sum)
        sums = _grouped(self._sums, ends, sum)
        single = all(count == 1 for count in counts)
        return Series(
            times_s=tuple(self.times_s[end - 1] for end in ends),
            steps=tuple(self.steps[end - 1] for end in ends),
            values=tuple(map(_divided, sums, counts)),
            minima=() if single else tuple(_grouped(self.minima, ends, min)),
            maxima=() if single else tuple(_grouped(self.maxima, ends, max)),
            counts=() if single else tuple(counts),
            rank=self.rank,
        )

    def _is_open(self) -> bool:
        """Return whether the last interval has fewer reports than the others."""
        return self._counts[-1] < self._per_interval

    def _begin_merging(self) -> None:
        """Keep number, smallest and largest value of each interval from now on."""
        if not self._merged:
            self._counts = self.counts
            self._minima, self._maxima = self._sums[:], self._sums[:]
            self._merged = True

    def _extend(self, time_s: float, step: float, value: float) -> None:
        """Add a report to the last interval."""
        self._begin_merging()
        self.times_s[-1] = time_s
        self.steps[-1] = step
        self._sums[-1] += value
        self._minima[-1] = min(self._minima[-1], value)
        self._maxima[-1] = max(self._maxima[-1], value)
        self._counts[-1] += 1

    def _merge_neighbours(self) -> None:
        self._begin_merging()
        size = len(self.times_s)
        ends = [min(begin + 2, size) for begin in range(0, size, 2)]
        self._sums = array("d", _grouped(self._sums, ends, sum))
        self._minima = array("d", _grouped(self._minima, ends, min))
        self._maxima = array("d", _grouped(self._maxima, ends, max))
        self._counts = array("q", _grouped(self._counts, ends, sum))
        self.times_s = array("d", (self.times_s[end - 1] for end in ends))
        self.steps = array("d", (self.steps[end - 1] for end in ends))
        self._per_interval *= 2


def _grouped(
    items: array[_Number], ends: list[int], combine: Callable[[array[_Number]], _Number]
) -> list[_Number]:
    """Return one value for each group of neighbours that ends before an index."""
    return [combine(items[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]


def _divided(total: float, count: int) -> float:
    return total / count
