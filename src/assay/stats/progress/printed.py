"""Form of printed speeds: of one interval, smoothed, or a running mean since the begin.

A running mean keeps the warm-up for ever, and a smoothed rate keeps it longer than the program. So
differences of step and time replace both.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.records.progress import RateForm
from assay.stats.progress.reports import Array, Reports, has_usable_times

_MIN_REPORTS = 8
_ROUNDING = 0.01
"""Relative deviation that rounding of printed values and of times explains."""
_MAX_ROUNDING = 0.05
"""Largest such deviation of values with few digits."""
_BETTER = 0.5
"""Largest deviation from a running mean, as a share of that from any simpler form."""
_MAX_DEVIATION = 1.0
"""Largest deviation (natural logarithm) that counts, so that no single pause decides."""
_SMOOTH_CORRELATION = 0.95
"""Smallest correlation of a change of the value with its distance from the rate of the interval."""
_MAX_SMOOTHING = 0.9
"""Largest weight of the newest interval in a smoothed value."""
_MIN_RUN = 5
"""Smallest number of successive intervals that are no pause, but a lasting change."""
_RUN_SHARE = 0.1
"""Smallest share of the intervals of a lasting change, if that is more than ``_MIN_RUN``."""
_RUN_AGREEMENT = 0.8
"""Share of the intervals of a lasting change that deviate in its direction."""
_CHANGE = 1.25
"""Factor from which on a deviation of the work of a step counts as a change of it."""


class PrintedForm(enum.StrEnum):
    """Relation of printed values to the times of their reports."""

    INTERVAL = "interval"
    """Speed of the interval before the report."""
    SMOOTHED = "smoothed"
    """Exponential mean over intervals."""
    CUMULATIVE = "cumulative"
    """Mean since the begin of the program's work."""
    UNRELATED = "unrelated"
    """No relation was sought: the times are useless, or the value is no speed."""
    CONTRADICTED = "contradicted"
    """The times disagree with the values, which do not show the time of a step."""


def printed_form(reports: Reports, form: RateForm, restarts: Sequence[float] = ()) -> PrintedForm:
    """Return the relation of printed values to steps and times.

    A value is a running mean if ``rate = steps since t0 / (time - t0)`` holds within rounding, with
    t0 from least squares. It has to explain the values better than the rate of the interval does,
    and better than a constant does: a constant speed is all forms at once, and counts as that of
    intervals.

    Args:
        reports: reports of one launch, from its first one on.
        form: rate or duration; a level has no relation to time.
        restarts: steps after which the program counts from one again, as at the begin of an epoch.
            A running mean may restart there.
    """
    if form is RateForm.LEVEL or len(reports) < _MIN_REPORTS or not has_usable_times(reports):
        return PrintedForm.UNRELATED
    if not (reports.values > 0).all():
        return PrintedForm.UNRELATED
    rates = reports.values if form is RateForm.RATE else 1.0 / reports.values
    own = _deviations_from_interval(reports, rates)
    simpler = min(_mean(own), _mean(_deviations_from_constant(rates)))
    if _mean(own) <= _ROUNDING:
        return PrintedForm.INTERVAL
    running = _deviations_from_mean(reports, rates, restarts)
    if running is not None:
        is_close = float(np.median(running)) <= _rounding(reports.values)
        if is_close and _mean(running) < _BETTER * simpler:
            return PrintedForm.CUMULATIVE
    if _is_smoothed(reports, rates):
        return PrintedForm.SMOOTHED
    return PrintedForm.INTERVAL if float(np.median(own)) <= 0.2 else PrintedForm.CONTRADICTED


def work_changes(reports: Reports, form: RateForm) -> bool:
    """Return whether the work of a step, by values and times, changes for a while.

    The values then do not show the time of a step, as those of a program that always prints the
    same rate while its steps become slower. Pauses, which such values lack as well, are shorter.

    Args:
        reports: reports of the steady part of a launch.
        form: rate or duration.
    """
    if len(reports) <= _MIN_RUN or not (reports.values > 0).all():
        return False
    rates = reports.values if form is RateForm.RATE else 1.0 / reports.values
    seconds = np.diff(reports.times_s) / np.diff(reports.steps)
    logs = np.log(rates[1:] * np.maximum(seconds, 1e-12))
    logs -= np.median(logs)
    run = max(_MIN_RUN, math.ceil(_RUN_SHARE * len(logs)))
    needed = _RUN_AGREEMENT * run - 1e-9
    limit = math.log(_CHANGE)
    for beyond in (logs > limit, logs < -limit):
        if (np.convolve(beyond, np.ones(run), "valid") >= needed).any():
            return True
    return False


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


def work_of_mean(reports: Reports, form: RateForm, restarts: Sequence[float] = ()) -> float | None:
    """Return the same factor for printed running means, from least squares.

    Args:
        reports: reports of one launch, from its first one on.
        form: rate or duration.
        restarts: as for ``printed_form``.
    """
    rates = reports.values if form is RateForm.RATE else 1.0 / reports.values
    fitted = _running_mean(reports, rates, restarts)
    if fitted is None:
        return None
    return fitted.slope if form is RateForm.RATE else 1.0 / fitted.slope


@dataclass(frozen=True, slots=True)
class _RunningMean:
    """Fit of running means.

    Attributes:
        slope: factor between printed rates and steps per second.
        deviations: relative deviation of each report that tells, as absolute logarithm.
    """

    slope: float
    deviations: Array


def _running_mean(reports: Reports, rates: Array, restarts: Sequence[float]) -> _RunningMean | None:
    """Return the better fit of running means since the begin, or since each restart."""
    whole = _fitted_mean(reports, rates, ())
    if not len(restarts):
        return whole
    parts = _fitted_mean(reports, rates, restarts)
    known = [one for one in (parts, whole) if one is not None]
    return min(known, key=lambda one: _mean(one.deviations), default=None)


def _fitted_mean(reports: Reports, rates: Array, restarts: Sequence[float]) -> _RunningMean | None:
    """Return the fit of running means that start again after each restart.

    One slope holds for all parts; each part has its own begin.
    """
    part = np.searchsorted(np.asarray(restarts), reports.steps - 1e-6)
    before = np.concatenate(([0.0], restarts))[part]
    done = (reports.steps - before) / rates
    sizes = np.maximum(np.bincount(part), 1)
    mean_x, mean_y = (
        (np.bincount(part, weights=one) / sizes)[part] for one in (done, reports.times_s)
    )
    x, y = done - mean_x, reports.times_s - mean_y
    squares = float(x @ x)
    slope = float(x @ y) / squares if squares > 0.0 else 0.0
    elapsed = reports.times_s - (mean_y - slope * mean_x)
    tells = sizes[part] > 2  # two reports fit any line
    if slope <= 0.0 or not tells.any() or not (elapsed[tells] > 0).all():
        return None
    return _RunningMean(slope, np.abs(np.log(slope * done[tells] / elapsed[tells])))


def _deviations_from_mean(
    reports: Reports, rates: Array, restarts: Sequence[float]
) -> Array | None:
    """Return the relative deviations of values from the best running mean."""
    fitted = _running_mean(reports, rates, restarts)
    return None if fitted is None else fitted.deviations


def _deviations_from_interval(reports: Reports, rates: Array) -> Array:
    """Return the relative deviations of values from the rates of their intervals."""
    seconds = np.diff(reports.times_s) / np.diff(reports.steps)
    return _deviations_from_constant(rates[1:] * np.maximum(seconds, 1e-12))


def _deviations_from_constant(values: Array) -> Array:
    """Return the relative deviations of positive values from their median."""
    logs = np.log(values)
    return np.asarray(np.abs(logs - np.median(logs)))


def _mean(deviations: Array) -> float:
    """Return the mean deviation, in which pauses count, but do not decide alone."""
    return float(np.minimum(deviations, _MAX_DEVIATION).mean())


def _rounding(values: Array) -> float:
    """Return the relative deviation that the number of printed digits explains."""
    distances = np.diff(np.unique(values))
    if not len(distances):
        return _ROUNDING
    half_digit = float(distances.min()) / 2 / float(np.median(values))
    return min(max(_ROUNDING, half_digit), _MAX_ROUNDING)


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
