"""Losses: launches without a value, and arms with more of them than the default."""

from __future__ import annotations

import math

from assay.records import Arm, Stage
from assay.search.history.counts.launch_counts import is_hung
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.zeros import is_without_ratio

ALPHA = 0.1
"""Error rate of rejecting a winner that fails no more often than the default."""


def count_losses(history: History, arm: Arm) -> tuple[int, int]:
    """Return the failed or hung launches of an arm and their total, without the survey.

    A repeated launch still counts as failed.
    """
    launches = history.launches_of(arm.name)
    counted = [s for s in launches if s.launch.stage is not Stage.SURVEY]
    lost = (
        (history.observation(s) is None and not is_without_ratio(history.metric.name, s))
        or is_hung(s)
        for s in counted
    )
    return sum(lost), len(counted)


def fails_more(arm: tuple[int, int], default: tuple[int, int]) -> bool:
    """Return whether an arm fails more often than the default (Fisher's exact test, ``ALPHA``).

    A configuration that is faster only when it survives is not a gain; a program that fails
    occasionally in every configuration still has a best one.

    Args:
        arm, default: failed launches and all launches of each.
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
    """Return whether an arm fails no more often than the default."""
    return not fails_more(count_losses(history, arm), count_losses(history, DEFAULT_ARM))
