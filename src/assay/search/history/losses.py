"""Losses: launches without a value, and whether an arm has more of them than the default."""

from __future__ import annotations

import math

from assay.records import Arm, Outcome, Sample, Stage
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.zeros import is_without_ratio

ALPHA = 0.1
"""Chance of holding failures against a winner that fails no more often than the default."""


def count_losses(history: History, arm: Arm) -> tuple[int, int]:
    """How many launches of an arm failed or did not end, the survey apart, and how many there were.

    A launch that is made again after a failure has failed all the same.
    """
    launches = history.launches_of(arm.name)
    mine = [s for s in launches if s.launch.stage is not Stage.SURVEY]
    lost = (
        (history.observation(s) is None and not is_without_ratio(history.metric.name, s))
        or is_hung(s)
        for s in mine
    )
    return sum(lost), len(mine)


def is_hung(sample: Sample) -> bool:
    """Return whether a launch did not end; what a search stops for being slow is another matter."""
    return sample.outcome is Outcome.TIMED_OUT and had_full_time(sample)


def had_full_time(sample: Sample) -> bool:
    """Return whether a launch had the time that any launch may take."""
    early = sample.launch.stage in (Stage.SURVEY, Stage.SEARCH, Stage.REDUCE)
    return not early or sample.launch.arm == DEFAULT_ARM.name


def fails_more(arm: tuple[int, int], default: tuple[int, int]) -> bool:
    """Whether an arm fails more often than the default, by Fisher's exact test at ``ALPHA``.

    A configuration that is quicker when it survives is no gain; a program that fails now and then
    in any configuration still has a best one.

    Args:
        arm, default: launches that failed, and launches.
    """
    (lost, launches), (others_lost, others) = arm, default
    failed = lost + others_lost
    total = math.comb(launches + others, failed)
    tail = sum(
        math.comb(launches, k) * math.comb(others, failed - k)
        for k in range(lost, min(failed, launches) + 1)
    )
    return lost > 0 and tail <= ALPHA * total


def may_win(history: History, arm: Arm) -> bool:
    """Tell whether an arm fails no more often than the default."""
    return not fails_more(count_losses(history, arm), count_losses(history, DEFAULT_ARM))
