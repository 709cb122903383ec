"""Reports of a launch as arrays of steps, times and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from assay.records.progress import RateForm

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_BURST_SHARE = 0.5
"""Share of near-zero intervals from which on time stamps are those of a buffer."""
_NEAR_ZERO = 0.05
"""Share of the mean interval per step below which an interval counts as near zero."""


@dataclass(frozen=True, slots=True)
class Reports:
    """Reports of one launch, in the order of time.

    Attributes:
        steps: step of each report, strictly increasing.
        times_s: time since the start of the launch, in seconds, never decreasing.
        values: value of each report, in the unit of the metric.
    """

    steps: Array
    times_s: Array
    values: Array

    def __len__(self) -> int:
        return len(self.steps)

    def between(self, begin_step: float, end_step: float) -> Reports:
        """Return the reports from one step to another, both included."""
        first, last = np.searchsorted(self.steps, (begin_step - 1e-6, end_step + 1e-6))
        kept = slice(int(first), int(last))
        return Reports(self.steps[kept], self.times_s[kept], self.values[kept])


class ReportedSeries(Protocol):
    """Series of reports: that of a sample, or the one that is recorded while a launch runs."""

    @property
    def steps(self) -> Sequence[float]:
        """Step of each report."""
        ...

    @property
    def times_s(self) -> Sequence[float]:
        """Time of each report since the start of the launch, in seconds."""
        ...

    @property
    def values(self) -> Sequence[float]:
        """Value of each report."""
        ...


def reports_of(series: ReportedSeries) -> Reports:
    """Return the reports of a series in a form fit for statistics.

    Reports with a step, time or value that is not finite are left out. Where the clock runs
    backwards, the time stays. Where the step falls, as at the begin of an epoch that counts from
    one, the count continues with the usual distance. Of several reports of one step the last
    counts.

    Args:
        series: the series of one launch and one process.
    """
    raw = np.array([series.steps, series.times_s, series.values], dtype=np.float64)
    steps, times_s, values = raw[:, np.isfinite(raw).all(axis=0)]
    if len(steps) < 2:
        return Reports(steps, times_s, values)
    times_s = np.maximum.accumulate(times_s)
    moves = np.diff(steps)
    if (moves < 0).any():
        forward = moves[moves > 0]
        usual = float(np.median(forward)) if len(forward) else 1.0
        moves = np.where(moves < 0, usual, moves)
        steps = steps[0] + np.concatenate(([0.0], np.cumsum(moves)))
    kept = np.append(np.diff(steps) > 0, True)  # rounding may undo a tiny move
    return Reports(steps[kept], times_s[kept], values[kept])


def step_times(reports: Reports, form: RateForm = RateForm.RATE) -> Array:
    """Return the time per step of each interval between two reports, in seconds.

    A program that buffers its output prints many reports at once, and their times are useless.
    Then the values count: the reciprocal of a rate, or a duration, in the unit of the metric.

    Args:
        reports: at least two reports.
        form: meaning of the values.

    Returns:
        One positive number less than there are reports.
    """
    seconds = np.diff(reports.times_s) / np.diff(reports.steps)
    mean = float(seconds.mean()) if len(seconds) else 0.0
    near_zero = seconds < _NEAR_ZERO * mean
    if mean <= 0.0 or near_zero.mean() > _BURST_SHARE:
        values = reports.values[1:]
        if form is RateForm.RATE and (values > 0).all():
            return np.asarray(1.0 / values)
        if form is RateForm.DURATION and (values > 0).all():
            return values
        return np.ones_like(values)
    return np.maximum(seconds, 1e-3 * mean) if near_zero.any() else seconds


def has_usable_times(reports: Reports) -> bool:
    """Return whether the times are those of single reports, not those of a flushed buffer."""
    if len(reports) < 2:
        return False
    seconds = np.diff(reports.times_s) / np.diff(reports.steps)
    mean = float(seconds.mean())
    return mean > 0.0 and float((seconds < _NEAR_ZERO * mean).mean()) <= _BURST_SHARE
