"""Wall times of launches, by arm."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Callable, Sequence

from assay.records import Outcome, Sample, Stage
from assay.stats.quantile import quantile_of_sorted

MAX_INSERTED = 64
"""Number of new values up to which each is inserted; more are sorted, as when a study resumes."""


class SortedTimes:
    """Times in ascending order, which are sorted only when they are read."""

    def __init__(self) -> None:
        self._sorted: array[float] = array("d")
        self._new: array[float] = array("d")

    def add(self, time_s: float) -> None:
        """Add a time, in seconds."""
        self._new.append(time_s)

    @property
    def values(self) -> Sequence[float]:
        """All times, ascending, in seconds."""
        if len(self._new) > MAX_INSERTED:
            self._sorted = array("d", sorted([*self._sorted, *self._new]))
        else:
            for time_s in self._new:
                bisect.insort(self._sorted, time_s)
        self._new = array("d")
        return self._sorted


class WallTimes:
    """Wall times by arm in sorted order, for cheap medians.

    Args:
        time_s: returns the time of a launch: its wall time, or that plus its termination time.
    """

    def __init__(self, time_s: Callable[[Sample], float | None]) -> None:
        self._time_s = time_s
        self._survey: dict[str, SortedTimes] = {}
        self._successful_survey: dict[str, SortedTimes] = {}
        self._counted: dict[str, SortedTimes] = {}
        self._successful: dict[str, SortedTimes] = {}
        self._first: dict[str, dict[Stage, float]] = {}
        self._first_whole: dict[str, dict[Stage, float]] = {}

    def add(self, sample: Sample) -> None:
        """Add a sample; one without a time is left out."""
        time_s = self._time_s(sample)
        if not time_s:
            return
        launch = sample.launch
        succeeded = sample.outcome.succeeded
        if succeeded:
            self._first.setdefault(launch.arm, {}).setdefault(launch.stage, time_s)
        if sample.outcome is Outcome.OK:
            self._first_whole.setdefault(launch.arm, {}).setdefault(launch.stage, time_s)
        surveyed = launch.stage is Stage.SURVEY
        _times_of(launch.arm, self._survey if surveyed else self._counted).add(time_s)
        if succeeded:
            good = self._successful_survey if surveyed else self._successful
            _times_of(launch.arm, good).add(time_s)

    def typical(self, arm: str) -> float | None:
        """Return the median time of an arm; its minimum if it ran only in the survey."""
        if arm not in self._counted and arm in self._successful_survey:
            return self._successful_survey[arm].values[0]  # a first launch may have one-time costs
        return _median_of(self._counted.get(arm) or self._survey.get(arm))

    def upper_quartile(self, arm: str) -> float | None:
        """Return the upper quartile of the times of an arm."""
        found = self._counted.get(arm) or self._survey.get(arm)
        return found.values[(3 * len(found.values)) // 4] if found else None

    def longest(self) -> float | None:
        """Return the longest of these typical times."""
        found = (self.typical(arm) for arm in {*self._counted, *self._survey})
        return max((wall_s for wall_s in found if wall_s is not None), default=None)

    def successful(self, arm: str) -> float | None:
        """Return the median time of an arm's successful launches, without the survey."""
        return _median_of(self._successful.get(arm))

    def first(self, arm: str, *, whole: bool) -> float | None:
        """Return the longest time of an arm's successful first launches of each stage."""
        known = self._first_whole if whole else self._first
        return max(known.get(arm, {}).values(), default=None)


def _times_of(arm: str, times: dict[str, SortedTimes]) -> SortedTimes:
    if arm not in times:
        times[arm] = SortedTimes()
    return times[arm]


def _median_of(times: SortedTimes | None) -> float | None:
    return None if times is None else median_of_sorted(times.values)


def median_of_sorted(ordered: Sequence[float]) -> float | None:
    """Return the median of ascending values; ``None`` without any."""
    return quantile_of_sorted(ordered, 0.5) if ordered else None
