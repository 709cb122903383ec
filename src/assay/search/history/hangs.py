"""Endless: launches that do not end, and how long is waited for them."""

from __future__ import annotations

from assay.records import StudySpec
from assay.search.history.history import History
from assay.search.history.losses import had_full_time, is_hung

FIRST_LAUNCH_FACTOR = 20.0
"""A launch may take this multiple of the longest first launch of its arm: a program whose slowest
launches take ten times its median is not stopped."""
MIN_HANG_TIMEOUT_S = 10.0
"""So long any launch may take."""


def hang_timeout_s(spec: StudySpec, history: History, arm: str) -> float | None:
    """Return after how long a launch of an arm is taken not to end.

    That is ``--timeout`` where it was given. An arm that never ended well has no limit but the
    budget's.

    Args:
        spec: of the study.
        history: its samples.
        arm: name of the arm.
    """
    if spec.workload.timeout_s is not None:
        return spec.workload.timeout_s
    first_s = history.first_wall_s(arm)
    return None if first_s is None else max(MIN_HANG_TIMEOUT_S, FIRST_LAUNCH_FACTOR * first_s)


def count_hangs(history: History, arm: str) -> tuple[int, int]:
    """Return how many launches of an arm did not end, and how many had the time to."""
    mine = [s for s in history.launches_of(arm) if had_full_time(s)]
    return sum(map(is_hung, mine)), len(mine)
