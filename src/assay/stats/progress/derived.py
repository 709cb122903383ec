"""Metrics derived from a series: time to a value, value at a step, and final value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.records.workload import Goal
from assay.stats.progress.periods import running_median
from assay.stats.progress.reports import Reports

WINDOW = 5
"""Reports of the running median."""


@dataclass(frozen=True, slots=True)
class TimeTo:
    """Time until a value was reached.

    Attributes:
        seconds: time since the start of the launch; that of the last report if ``censored``.
        censored: true if the value was never reached, so that the true time is longer.
    """

    seconds: float
    censored: bool


@dataclass(frozen=True, slots=True)
class ValueAt:
    """Value at a step.

    Attributes:
        value: value of the nearest report.
        distance_steps: step of this report less the demanded one.
    """

    value: float
    distance_steps: float


def time_to(reports: Reports, limit: float, goal: Goal, window: int = WINDOW) -> TimeTo | None:
    """Return the time until the running median of the values reaches a limit.

    The first crossing of a noisy curve is early, so the median of the last reports counts. The time
    is that of the last report of the first window whose median is good enough.

    Args:
        reports: reports of one launch.
        limit: value to reach.
        goal: lower for values at most ``limit``, higher for values of at least ``limit``.
        window: number of reports of the running median.

    Returns:
        The time; ``None`` without reports.
    """
    n = len(reports)
    if not n:
        return None
    size = min(window, n)
    medians = running_median(reports.values, size | 1)
    half = min((size | 1) // 2, (n - 1) // 2)
    reached = medians <= limit if goal is Goal.LOWER else medians >= limit
    reached[:half] = False  # the ends repeat the first whole window
    at = np.flatnonzero(reached)
    if not len(at):
        return TimeTo(float(reports.times_s[-1]), censored=True)
    return TimeTo(float(reports.times_s[min(int(at[0]) + half, n - 1)]), censored=False)


def value_at(reports: Reports, step: float) -> ValueAt | None:
    """Return the value of the report nearest to a step, the earlier one of two.

    Args:
        reports: reports of one launch.
        step: demanded step.

    Returns:
        The value; ``None`` without reports.
    """
    if not len(reports):
        return None
    at = int(np.abs(reports.steps - step).argmin())
    return ValueAt(float(reports.values[at]), float(reports.steps[at]) - step)


def final_value(reports: Reports) -> float | None:
    """Return the last value; ``None`` without reports.

    Args:
        reports: reports of one launch.
    """
    return float(reports.values[-1]) if len(reports) else None
