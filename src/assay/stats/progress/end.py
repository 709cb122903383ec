"""Decision to end a running launch, from its reports so far."""

from __future__ import annotations

import enum

import numpy as np

from assay.records.progress import EndRule, RateForm
from assay.records.workload import Goal
from assay.stats.progress.early_stop import is_worse, is_worse_in_warm_up
from assay.stats.progress.launch_curve import LaunchCurve
from assay.stats.progress.warm_up import pooled_warm_up

FIRST_LOOK_PERIODS = 2
"""Whole periods after the warm-up that end a first look."""
FIRST_LOOK_WARM_UPS = 9
"""Steady steps that end a first look without periodic dips, as a multiple of the warm-up."""
MIN_REPORTS = 20
"""Smallest number of reports of a first look."""
MIN_PLAIN_REPORTS = 120
"""Number of reports of a first look without periodic dips, unless the program reports slowly."""
SLOW_FACTOR = 10
"""Time of the steady part, in units of that of start and warm-up, that replaces this number."""
_SECOND_DIP = 2.1
"""Multiple of the step of a single dip by which a second one would be seen."""
CHECK_GROWTH = 1.2
"""Growth of the number of reports after which a first look is checked again."""


class EndReason(enum.StrEnum):
    """Reason for which a running launch ends."""

    ENOUGH = "enough"
    """Its steady part is as long as the rule demands, or known in a first look."""
    WORSE = "worse"
    """It is worse than the incumbent by more than the chance of an error allows."""
    TIME = "time"
    """Its time is over."""


def reason_to_end(
    rule: EndRule,
    curve: LaunchCurve,
    elapsed_s: float,
    *,
    goal: Goal = Goal.HIGHER,
    form: RateForm = RateForm.RATE,
) -> EndReason | None:
    """Return the reason to end a running launch, or ``None`` while it should go on.

    Args:
        rule: rule of the launch.
        curve: step times of its reports so far.
        elapsed_s: time since its start, in seconds.
        goal: direction of better values.
        form: meaning of the values.
    """
    if rule.max_s is not None and elapsed_s >= rule.max_s:
        return EndReason.TIME
    reports = curve.reports
    if len(reports) < 2:
        return None
    if rule.incumbent is not None and (
        is_worse(rule, curve, goal=goal, form=form) or is_worse_in_warm_up(rule, curve, goal=goal)
    ):
        return EndReason.WORSE
    if rule.steady_steps is None:
        looking = rule.first_look and first_look_suffices(curve)
        return EndReason.ENOUGH if looking else None
    warm_up_steps = rule.warmup_steps
    if warm_up_steps is None:
        own = pooled_warm_up([curve], rule.period_steps)
        if own is None or not own.settled:
            return None
        warm_up_steps = own.steps
    first = int(np.searchsorted(reports.steps, warm_up_steps - 1e-6))
    if first >= len(reports):
        return None
    steady = float(reports.steps[-1] - reports.steps[first])
    return EndReason.ENOUGH if steady >= rule.steady_steps - 1e-6 else None


def next_check(reports: int) -> int:
    """Return the number of reports at which a launch without known warm-up is checked again.

    Args:
        reports: number of reports at the last check; 0 before the first.
    """
    return max(MIN_REPORTS, round(reports * CHECK_GROWTH))


def first_look_suffices(curve: LaunchCurve) -> bool:
    """Return whether the warm-up and the periods of a program are known.

    With periodic dips two whole periods after the warm-up suffice, or four if no warm-up is seen,
    since the launch may still be in its midst. After a single dip the look continues to twice its
    step, where a second one would be. Without dips three conditions hold: the steady part has nine
    times as many steps as the warm-up; it takes as long as start and warm-up together; there are
    120 reports, or it takes ten times as long.

    Args:
        curve: step times of the first launch so far.
    """
    reports = curve.reports
    if len(reports) < MIN_REPORTS:
        return False
    found = pooled_warm_up([curve])
    if found is None or not found.settled:
        return False
    last = float(reports.steps[-1])
    first = float(reports.steps[0])
    if found.period_steps is not None:
        periods = FIRST_LOOK_PERIODS * (1 if found.steps > first else 2)
        return last - found.steps >= periods * found.period_steps - 1e-6
    late = curve.last_spike
    if late is not None and late > found.steps and last < _SECOND_DIP * late:
        return False
    begin = int(np.searchsorted(reports.steps, found.steps - 1e-6))
    begin_s = float(reports.times_s[begin])
    steady_s = float(reports.times_s[-1]) - begin_s
    enough = len(reports) >= MIN_PLAIN_REPORTS or steady_s >= SLOW_FACTOR * begin_s
    long_enough = last - found.steps >= FIRST_LOOK_WARM_UPS * (found.steps - first)
    return enough and long_enough and steady_s >= begin_s
