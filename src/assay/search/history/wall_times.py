"""Wall times of launches, by arm."""

from __future__ import annotations

import bisect
from collections.abc import Callable

from assay.records import Outcome, Sample, Stage
from assay.stats.quantile import quantile_of_sorted


class WallTimes:
    """Wall times by arm in sorted order, for cheap medians.

    Args:
        time_s: returns the time of a launch: its wall time, or that plus its termination time.
    """

    def __init__(self, time_s: Callable[[Sample], float | None]) -> None:
        self._time_s = time_s
        self._survey: dict[str, list[float]] = {}
        self._successful_survey: dict[str, list[float]] = {}
        self._counted: dict[str, list[float]] = {}
        self._successful: dict[str, list[float]] = {}
        self._first: dict[str, dict[Stage, float]] = {}
        self._first_whole: dict[str, dict[Stage, float]] = {}

    def add(self, sample: Sample) -> None:
        """Add a sample; one without a time is left out."""
        time_s = self._time_s(sample)
        if not time_s:
            return
        launch = sample.launch
        if sample.outcome.succeeded:
            self._first.setdefault(launch.arm, {}).setdefault(launch.stage, time_s)
        if sample.outcome is Outcome.OK:
            self._first_whole.setdefault(launch.arm, {}).setdefault(launch.stage, time_s)
        surveyed = launch.stage is Stage.SURVEY
        kinds = [self._survey if surveyed else self._counted]
        if sample.outcome.succeeded:
            kinds.append(self._successful_survey if surveyed else self._successful)
        for kind in kinds:
            bisect.insort(kind.setdefault(launch.arm, []), time_s)

    def typical(self, arm: str) -> float | None:
        """Return the median time of an arm; its minimum if it ran only in the survey."""
        if arm not in self._counted and arm in self._successful_survey:
            return min(self._successful_survey[arm])  # a first launch may have one-time costs
        return median_of_sorted(self._counted.get(arm) or self._survey.get(arm))

    def upper_quartile(self, arm: str) -> float | None:
        """Return the upper quartile of the times of an arm."""
        walls = self._counted.get(arm) or self._survey.get(arm)
        return walls[(3 * len(walls)) // 4] if walls else None

    def longest(self) -> float | None:
        """Return the longest of these typical times."""
        found = (self.typical(arm) for arm in {*self._counted, *self._survey})
        return max((wall_s for wall_s in found if wall_s is not None), default=None)

    def successful(self, arm: str) -> float | None:
        """Return the median time of an arm's successful launches, without the survey."""
        return median_of_sorted(self._successful.get(arm))

    def first(self, arm: str, *, whole: bool) -> float | None:
        """Return the longest time of an arm's successful first launches of each stage."""
        known = self._first_whole if whole else self._first
        return max(known.get(arm, {}).values(), default=None)


def median_of_sorted(ordered: list[float] | None) -> float | None:
    """Return the median of ascending values; ``None`` without any."""
    return quantile_of_sorted(ordered, 0.5) if ordered else None
