"""Form of printed speeds: of one interval, smoothed, or a running mean since the begin.

A running mean keeps the warm-up for ever, and a smoothed rate keeps it longer than the program. So
differences of step and time replace both.
"""

from __future__ import annotations

import enum

import numpy as np

from assay.records.progress import RateForm
from assay.stats.progress.reports import Array, Reports, has_usable_times

_MIN_REPORTS = 8
_ROUNDING = 0.01
"""Relative deviation that rounding of printed values explains."""
_BETTER = 0.5
"""Largest deviation from a running mean, as a share of that from the rate of the interval."""
_SMOOTH_CORRELATION = 0.95
"""Smallest correlation of a change of the value with its distance from the rate of the interval."""
_MAX_SMOOTHING = 0.9
"""Largest weight of the newest interval in a smoothed value."""


class PrintedForm(enum.StrEnum):
    """Relation of printed values to the times of their reports."""

    INTERVAL = "interval"
    """Speed of the interval before the report."""
    SMOOTHED = "smoothed"
    """Exponential mean over intervals."""
    CUMULATIVE = "cumulative"
    """Mean since the begin of the program's work."""
    UNRELATED = "unrelated"
    """No relation was found: the times are useless or the value means something else."""


def printed_form(reports: Reports, form: RateForm) -> PrintedForm:
    """Return the relation of printed values to steps and times.

    A value is a running mean if ``rate = steps since t0 / (time - t0)`` holds within rounding, with
    t0 from least squares. A constant speed is all forms at once, and counts as that of intervals.

    Args:
        reports: reports of one launch, from its first one on.
        form: rate or duration; a level has no relation to time.
    """
    if form is RateForm.LEVEL or len(reports) < _MIN_REPORTS or not has_usable_times(reports):
        return PrintedForm.UNRELATED
    if not (reports.values > 0).all():
        return PrintedForm.UNRELATED
    rates = reports.values if form is RateForm.RATE else 1.0 / reports.values
    own = _deviation_from_interval(reports, rates)
    if own <= _ROUNDING:
        return PrintedForm.INTERVAL
    running = _deviation_from_mean(reports, rates)
    if running <= _ROUNDING and running < _BETTER * own:
        return PrintedForm.CUMULATIVE
    if _is_smoothed(reports, rates):
        return PrintedForm.SMOOTHED
    return PrintedForm.INTERVAL if own <= 0.2 else PrintedForm.UNRELATED


def work_per_step(reports: Reports, form: RateForm) -> float | None:
    """Return the factor between printed values and steps per second or seconds per step.

    For a rate it is the work of one step, such as the samples of a batch.

    Args:
        reports: reports whose values are related to their times.
        form: rate or duration.

    Returns:
        The median over the intervals; ``None`` for fewer than two reports.
    """
    if len(reports) < 2:
        return None
    seconds = np.diff(reports.times_s) / np.diff(reports.steps)
    good = seconds > 0
    if not good.any():
        return None
    values = reports.values[1:][good]
    scale = values * seconds[good] if form is RateForm.RATE else values / seconds[good]
    return float(np.median(scale))


def work_of_mean(reports: Reports, form: RateForm) -> float | None:
    """Return the same factor for printed running means, from least squares.

    Args:
        reports: reports of one launch, from its first one on.
        form: rate or duration.
    """
    rates = reports.values if form is RateForm.RATE else 1.0 / reports.values
    slope, _ = _line(reports.steps / rates, reports.times_s)
    if slope <= 0.0:
        return None
    return slope if form is RateForm.RATE else 1.0 / slope


def _deviation_from_interval(reports: Reports, rates: Array) -> float:
    """Return the typical relative deviation of values from the rate of their interval."""
    seconds = np.diff(reports.times_s) / np.diff(reports.steps)
    logs = np.log(rates[1:] * np.maximum(seconds, 1e-12))
    return float(np.median(np.abs(logs - np.median(logs))))


def _deviation_from_mean(reports: Reports, rates: Array) -> float:
    """Return the typical relative deviation of values from the mean rate since some t0."""
    done = reports.steps / rates
    slope, begin = _line(done, reports.times_s)
    elapsed = reports.times_s - begin
    if slope <= 0.0 or not (elapsed > 0).all():
        return np.inf
    return float(np.median(np.abs(slope * done / elapsed - 1.0)))


def _line(x: Array, y: Array) -> tuple[float, float]:
    """Return slope and intercept of the least-squares line; zero slope if x is constant."""
    centred = x - x.mean()
    squares = float(centred @ centred)
    slope = float(centred @ y) / squares if squares > 0.0 else 0.0
    return slope, float(y.mean() - slope * x.mean())


def _is_smoothed(reports: Reports, rates: Array) -> bool:
    """Return whether each value moves by a fixed share towards the rate of its interval."""
    speeds = np.diff(reports.steps) / np.maximum(np.diff(reports.times_s), 1e-12)
    scale = float(np.median(rates[1:] / speeds))
    change, distance = np.diff(rates), scale * speeds - rates[:-1]
    with np.errstate(over="ignore", invalid="ignore"):  # values up to 1e308 may be printed
        squares = float(distance @ distance) * float(change @ change)
        if not 0.0 < squares < np.inf:
            return False
        weight = float(change @ distance) / float(distance @ distance)
        correlation = float(change @ distance) / np.sqrt(squares)
    return bool(correlation > _SMOOTH_CORRELATION and 0.0 < weight < _MAX_SMOOTHING)
