"""Hangs: launches that do not end, and their time-out."""

from __future__ import annotations

from assay.records import StudySpec
from assay.search.history.history import History

FIRST_LAUNCH_FACTOR = 20.0
"""Time-out as a multiple of the longest first launch of an arm: programs whose slowest launches
take ten times the median must not be stopped."""
MIN_HANG_TIMEOUT_S = 10.0
"""Minimum time-out of a launch, in seconds."""


def hang_timeout_s(spec: StudySpec, history: History, arm: str) -> float | None:
    """Return the time-out of a launch of an arm, in seconds.

    It is ``--timeout`` if given. An arm without a successful launch has no time-out except the
    budget.

    Args:
        spec: specification of the study.
        history: history of the study.
        arm: name of the arm.
    """
    if spec.workload.timeout_s is not None:
        return spec.workload.timeout_s
    # A first look that assay ended shows nothing about the length of a whole launch.
    first_s = history.first_wall_s(arm, whole=spec.until is None)
    return None if first_s is None else max(MIN_HANG_TIMEOUT_S, FIRST_LAUNCH_FACTOR * first_s)


def count_hangs(history: History, arm: str) -> tuple[int, int]:
    """Return the number of hung launches of an arm, and of launches with the full time-out."""
    counts = history.counts_of(arm)
    return counts.hung, counts.full_time
