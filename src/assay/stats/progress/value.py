"""Value of a launch: its speed or level over the steady part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.records.progress import RateForm, SteadyPart
from assay.stats.progress.launch_curve import LaunchCurve
from assay.stats.progress.printed import (
    PrintedForm,
    printed_form,
    work_changes,
    work_of_mean,
    work_per_step,
)
from assay.stats.progress.reports import Array, Reports, has_usable_times
from assay.stats.progress.value_form import fitting_form, follows_speed

_MAX_ADVANTAGE = 1.1
"""Largest factor by which times may show a better speed than all printed values: their jitter."""


@dataclass(frozen=True, slots=True)
class LaunchValue:
    """Value of a launch over its steady part.

    Attributes:
        value: rate, duration or level, in the unit of the printed values.
        step_s: mean time of a step without periodic dips, in seconds.
        printed: relation of the printed values to their times.
    """

    value: float
    step_s: float
    printed: PrintedForm


def launch_value(
    curve: LaunchCurve,
    part: SteadyPart,
    form: RateForm,
    printed: PrintedForm | None = None,
    restarts: Sequence[float] = (),
) -> LaunchValue:
    """Return the value of a launch over its steady part, dips included.

    A rate is throughput: the work between the first and the last steady report over the time
    between them. A duration is the mean over steps. Both come from steps and times if the printed
    values are related to them, with one factor for the work of a step. Otherwise, and if values and
    times disagree over the steady part, the printed values count: a rate is their mean over time, a
    duration their mean over steps. A level is the mean of the values, over time if the values are
    proportional to the speed of the steps. If values and times clearly show the opposite of the
    given form, that form counts.

    Args:
        curve: step times of the launch.
        part: its steady part.
        form: meaning of the values.
        printed: relation of the printed values to their times; found in the reports if absent.
        restarts: steps after which the program counts from one again (see ``printed_form``).

    Raises:
        ValueError: the steady part has fewer than two reports.
    """
    reports = curve.reports
    steady = reports.between(part.begin_step, part.end_step)
    if len(steady) < 2:
        raise ValueError("a steady part needs two reports")
    given, form = form, fitting_form(reports, form)
    if printed is None or (form is not given and printed is not PrintedForm.CONTRADICTED):
        printed = printed_form(reports, form, restarts)
    related = printed
    step_s = seconds_without_dips(curve, part)
    factor = None
    if form is not RateForm.LEVEL:
        if related is PrintedForm.CUMULATIVE:
            factor = work_of_mean(reports, form, restarts)
        elif related is PrintedForm.INTERVAL and work_changes(steady, form):
            related = PrintedForm.CONTRADICTED
        elif related in (PrintedForm.INTERVAL, PrintedForm.SMOOTHED):
            factor = work_per_step(steady, form)
    if factor is None:
        return LaunchValue(_printed_mean(steady, form), step_s, related)
    seconds = float(steady.times_s[-1] - steady.times_s[0])
    steps = float(steady.steps[-1] - steady.steps[0])
    value = factor * steps / seconds if form is RateForm.RATE else factor * seconds / steps
    if related is PrintedForm.INTERVAL and _is_better_than_printed(value, steady, form):
        related, value = PrintedForm.CONTRADICTED, _printed_mean(steady, form)
    return LaunchValue(value, step_s, related)


def _is_better_than_printed(value: float, steady: Reports, form: RateForm) -> bool:
    """Return whether a speed is better than all printed ones, which pauses cannot explain."""
    if form is RateForm.RATE:
        return value > _MAX_ADVANTAGE * float(steady.values.max())
    return value * _MAX_ADVANTAGE < float(steady.values.min())


def seconds_without_dips(curve: LaunchCurve, part: SteadyPart) -> float:
    """Return the mean time of a step without periodic dips, in seconds.

    An interval with a dip counts with the median of its neighbourhood.

    Args:
        curve: step times of the launch.
        part: steady part with at least two reports.
    """
    bounds = (part.begin_step - 1e-6, part.end_step + 1e-6)
    begin, end = np.searchsorted(curve.reports.steps, bounds)
    widths = curve.widths[begin : end - 1]
    return float(curve.smooth[begin : end - 1] @ widths / widths.sum())


def _printed_mean(steady: Reports, form: RateForm) -> float:
    """Return the mean of the printed values: over time for a rate, over steps for a duration."""
    values = steady.values[1:]
    weights: Array
    if form is RateForm.RATE and not has_usable_times(steady) and (values > 0).all():
        work = np.diff(steady.steps)  # a buffer has flushed the values: each step has equal work
        return float(work.sum() / (work / values).sum())
    if form is RateForm.LEVEL and follows_speed(steady):
        form = RateForm.RATE
    if form is RateForm.RATE:
        weights = np.diff(steady.times_s)
    elif form is RateForm.DURATION:
        weights = np.diff(steady.steps)
    else:
        return float(steady.values.mean())
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0.0 else float(values.mean())
