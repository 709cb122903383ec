"""Wall times of launches, by arm."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Sequence

from assay.records import Outcome, Sample, Stage
from assay.stats.quantile import quantile_of_sorted

MAX_INSERTED = 64
"""Number of new values up to which each is inserted; more are sorted, as when a study resumes."""


class SortedTimes:
    """Times in ascending order, which are sorted only when they are read."""

    def __init__(self) -> None:
        self._sorted: array[float] = array("d")
        self._new: array[float] = array("d")
        self.add = self._new.append
        """Adds a time, in seconds."""

    def __bool__(self) -> bool:
        return bool(self._new) or bool(self._sorted)

    @property
    def values(self) -> Sequence[float]:
        """All times, ascending, in seconds."""
        if len(self._new) > MAX_INSERTED:
            self._sorted = array("d", sorted([*self._sorted, *self._new]))
        else:
            for time_s in self._new:
                bisect.insort(self._sorted, time_s)
        del self._new[:]
        return self._sorted


class WallTimes:
    """Wall times by arm in sorted order, for cheap medians."""

    def __init__(self) -> None:
        self._arms: dict[str, _ArmTimes] = {}

    def add(self, sample: Sample, time_s: float | None) -> None:
        """Add a sample; one without a time is left out.

        Args:
            sample: sample of a launch.
            time_s: its wall time, or that plus its termination time, in seconds.
        """
        if not time_s:
            return
        arm = sample.launch.arm
        times = self._arms.get(arm)
        if times is None:
            times = self._arms[arm] = _ArmTimes()
        times.add(sample.launch.stage, sample.outcome, time_s)

    def typical(self, arm: str) -> float | None:
        """Return the median time of an arm; its minimum if it ran only in the survey."""
        times = self._arms.get(arm, _NO_TIMES)
        if not times.counted and times.successful_survey:
            return times.successful_survey.values[0]  # a first launch may have one-time costs
        return median_of_sorted((times.counted or times.survey).values)

    def upper_quartile(self, arm: str) -> float | None:
        """Return the upper quartile of the times of an arm."""
        times = self._arms.get(arm, _NO_TIMES)
        found = (times.counted or times.survey).values
        return found[(3 * len(found)) // 4] if found else None

    def longest(self) -> float | None:
        """Return the longest of these typical times."""
        found = map(self.typical, self._arms)
        return max((wall_s for wall_s in found if wall_s is not None), default=None)

    def successful(self, arm: str) -> float | None:
        """Return the median time of an arm's successful launches, without the survey."""
        return median_of_sorted(self._arms.get(arm, _NO_TIMES).successful.values)

    def first(self, arm: str, *, whole: bool) -> float | None:
        """Return the longest time of an arm's successful first launches of each stage."""
        times = self._arms.get(arm, _NO_TIMES)
        return max((times.first_whole if whole else times.first).values(), default=None)


class _ArmTimes:
    """Times of the launches of one arm.

    Attributes:
        survey, counted: times in the survey, and in the other stages.
        successful_survey, successful: those of successful launches among them.
        first, first_whole: time of the first successful launch of each stage, and of the first one
            that assay did not end.
    """

    def __init__(self) -> None:
        self.survey, self.counted = SortedTimes(), SortedTimes()
        self.successful_survey, self.successful = SortedTimes(), SortedTimes()
        self.first: dict[Stage, float] = {}
        self.first_whole: dict[Stage, float] = {}

    def add(self, stage: Stage, outcome: Outcome, time_s: float) -> None:
        surveyed = stage is Stage.SURVEY
        (self.survey if surveyed else self.counted).add(time_s)
        if not outcome.succeeded:
            return
        (self.successful_survey if surveyed else self.successful).add(time_s)
        if stage not in self.first:
            self.first[stage] = time_s
        if outcome is Outcome.OK and stage not in self.first_whole:
            self.first_whole[stage] = time_s


_NO_TIMES = _ArmTimes()
"""Times of an arm without launches; never added to."""


def median_of_sorted(ordered: Sequence[float]) -> float | None:
    """Return the median of ascending values; ``None`` without any."""
    return quantile_of_sorted(ordered, 0.5) if ordered else None
