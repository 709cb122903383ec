"""Steady part of a launch, with the spread of its batches."""

from __future__ import annotations

import math

import numpy as np

from assay.records.progress import SteadyPart
from assay.stats.progress.launch_curve import LaunchCurve
from assay.stats.progress.long_run import MIN_BATCHES, variance_of_batch
from assay.stats.progress.reports import Reports
from assay.stats.progress.warm_up import WarmUp, pooled_warm_up

_MIN_PERIODS = 16
"""Number of periods from which on one period is a batch; below, batches divide a period."""
_SLACK = 0.02
"""Share of a period by which the last one may be short, as reports are not at its exact end."""


def steady_part(
    curve: LaunchCurve,
    warm_up: WarmUp | None = None,
    *,
    steady_steps: float | None = None,
    cumulative: bool = False,
    ended_early: bool = False,
) -> SteadyPart | None:
    """Return the steady part of a launch: whole periods after its warm-up.

    A launch that did not settle counts from its middle, and so does one with too few reports.

    Args:
        curve: step times of the launch.
        warm_up: warm-up known from earlier launches; found in this launch if absent.
        steady_steps: largest number of steps, the same for all arms of a block.
        cumulative: the program prints running means.
        ended_early: the launch was ended as plainly worse than the incumbent.

    Returns:
        The steady part; ``None`` for fewer than two reports after the warm-up.
    """
    reports = curve.reports
    own = warm_up if warm_up is not None else pooled_warm_up([curve])
    if len(reports) < 3:
        return None
    if own is None:
        own = WarmUp(float(reports.steps[0]), None, settled=False)
    steps, times_s, period = reports.steps, reports.times_s, own.period_steps
    begin_step = own.steps if own.settled else _middle(reports, period)
    begin = int(np.searchsorted(steps, begin_step - 1e-6))
    if begin >= len(steps) - 1:
        return None
    available = float(steps[-1] - steps[begin])
    if steady_steps is not None:
        available = min(available, steady_steps)
    periods = math.floor(available / period + _SLACK) if period else 0
    if period and periods:
        available = min(periods * period, float(steps[-1] - steps[begin]))
    end = _nearest(reports, float(steps[begin]) + available, begin + 1)
    spread = batch_spread(curve, begin, end, period)
    return SteadyPart(
        begin_step=float(steps[begin]),
        begin_s=float(times_s[begin]),
        end_step=float(steps[end]),
        end_s=float(times_s[end]),
        first_report_s=float(times_s[0]),
        period_steps=period,
        periods=periods if period else (spread[2] if spread else 0),
        batch_sd=spread[0] if spread else None,
        batch_steps=spread[1] if spread else 1.0,
        settled=own.settled,
        whole_periods=period is None or periods > 0,
        cumulative=cumulative,
        ended_early=ended_early,
    )


def batch_spread(
    curve: LaunchCurve, begin: int, end: int, period_steps: float | None
) -> tuple[float, float, int] | None:
    """Return the spread of the means of batches within the steady part.

    A batch is one period if there are sixteen. Otherwise batches of about sqrt(n) intervals count,
    without the dips, whose number would differ between them.

    Args:
        curve: step times of the launch.
        begin: index of the first report of the steady part.
        end: index of its last report.
        period_steps: distance of periodic dips in steps.

    Returns:
        Standard deviation of the mean of a batch relative to the mean, corrected for correlation;
        steps of a batch; number of batches. ``None`` for fewer than four batches.
    """
    n = end - begin
    steps = curve.reports.steps[begin : end + 1]
    total = float(steps[-1] - steps[0])
    if n < MIN_BATCHES or total <= 0.0:
        return None
    widths = curve.widths[begin:end]
    mean = float(curve.seconds[begin:end] @ widths) / total
    shift = 0.0
    if period_steps and total / period_steps + _SLACK >= _MIN_PERIODS:
        if curve.last_spike is not None:
            # A dip at the edge of two batches would count for both in part.
            shift = (curve.last_spike + period_steps / 2 - float(steps[0])) % period_steps
        batches, size = math.floor((total - shift) / period_steps + _SLACK), period_steps
        seconds = curve.seconds[begin:end] * widths
    else:
        batches = max(MIN_BATCHES, round(math.sqrt(n)))
        size = total / batches
        seconds = curve.smooth[begin:end] * widths
    edges = steps[0] + shift + size * np.arange(batches + 1)
    elapsed = np.concatenate(([0.0], np.cumsum(seconds)))
    means = np.diff(np.interp(edges, steps, elapsed)) / size
    return math.sqrt(variance_of_batch(means)) / mean, size, batches


def _middle(reports: Reports, period_steps: float | None) -> float:
    """Return the begin of the second half of a launch, in whole periods before its end."""
    first, last = float(reports.steps[0]), float(reports.steps[-1])
    half = (last - first) / 2
    if period_steps and half >= period_steps:
        half = period_steps * math.floor(half / period_steps + _SLACK)
    return last - half


def _nearest(reports: Reports, step: float, least: int) -> int:
    """Return the index of the report nearest to a step, not below ``least``."""
    right = int(np.searchsorted(reports.steps, step))
    if right >= len(reports):
        return len(reports) - 1
    if right > 0 and step - reports.steps[right - 1] < reports.steps[right] - step:
        right -= 1
    return max(right, least)
