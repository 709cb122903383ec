"""The mean curve of step times over several launches, without dips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.records.progress import RateForm
from assay.stats.progress.change_points import MAX_POINTS
from assay.stats.progress.long_run import long_run_variance
from assay.stats.progress.periods import find_dips, robust_sd, running_median
from assay.stats.progress.reports import Array, Reports, step_times

MIN_INTERVALS = 8
"""Smallest number of intervals that make a curve."""
_LIKE_LENGTH = 0.75
"""Share of the median length below which a launch is left out."""
_OUTLIER_DEVIATIONS = 4.0
"""Distance from the running median, in robust standard deviations, to which points are moved."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Step time over steps, pooled over launches.

    Attributes:
        edges: steps between the points, one more than there are points.
        values: logarithm of the step time, less that of the second half of each launch.
        weights: number of launches of each point.
        variance: long-run variance of one point of one launch.
        freedom: degrees of freedom of this variance.
    """

    edges: Array
    values: Array
    weights: Array
    variance: float
    freedom: int


def pooled_curve(
    launches: Sequence[Reports],
    period_steps: float | None = None,
    form: RateForm = RateForm.RATE,
) -> Curve | None:
    """Return the mean of the log curves of some launches, each less its second half.

    Launches may have different lengths and report at different steps. Dips of the speed are
    replaced by the running median of their neighbourhood.

    Args:
        launches: launches of one arm.
        period_steps: known period in steps. If it is that of a wave and not of single dips, one
            point covers a period.
        form: meaning of the values.

    Returns:
        The curve; ``None`` if no launch has eight intervals.
    """
    usable = _of_like_length([launch for launch in launches if len(launch) > MIN_INTERVALS])
    if not usable:
        return None
    smooth = [_without_dips(launch, form) for launch in usable]
    is_wave = period_steps is not None and not any(spikes for _, spikes in smooth)
    edges = _edges(usable, period_steps if is_wave else None)
    if len(edges) <= MIN_INTERVALS:
        return None
    total, weights = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
    estimates = []
    for launch, (seconds, _) in zip(usable, smooth, strict=True):
        first, last = _covered(edges, launch)
        if last - first < MIN_INTERVALS:
            continue
        values = _log_curve(edges[first : last + 1], launch, seconds)
        second_half = values[len(values) // 2 :]
        total[first:last] += values - second_half.mean()
        weights[first:last] += 1.0
        estimate = long_run_variance(second_half)
        if estimate is not None:
            estimates.append(estimate)
    if not estimates:
        return None
    freedom = sum(one.freedom for one in estimates)
    kept = np.flatnonzero(weights)
    span = slice(int(kept[0]), int(kept[-1]) + 1)
    return Curve(
        edges[span.start : span.stop + 1],
        total[span] / np.maximum(weights[span], 1.0),
        np.maximum(weights[span], 1e-9),
        sum(one.variance * one.freedom for one in estimates) / freedom,
        freedom,
    )


def _of_like_length(launches: Sequence[Reports]) -> list[Reports]:
    """Return the launches of about the median length, cut to it, without the shorter ones.

    The second half of a short launch says little of its level, and where it ends the mean curve
    would jump by this error.
    """
    if not launches:
        return []
    length = float(np.median([launch.steps[-1] for launch in launches]))
    return [
        launch.between(0.0, length)
        for launch in launches
        if launch.steps[-1] >= _LIKE_LENGTH * length
    ]


def _edges(launches: Sequence[Reports], period_steps: float | None) -> Array:
    """Return a grid of at most ``MAX_POINTS`` intervals from the first to the last step."""
    longest = max(launches, key=lambda launch: launch.steps[-1] - launch.steps[0])
    width = float(np.median(np.diff(longest.steps)))
    first, last = float(longest.steps[0]), float(longest.steps[-1])
    if period_steps is not None and (last - first) / period_steps > 2 * MIN_INTERVALS:
        width = period_steps
    width *= max(1, math.ceil((last - first) / width / MAX_POINTS))
    return np.asarray(first + width * np.arange(math.floor((last - first) / width + 1e-6) + 1))


def _covered(edges: Array, launch: Reports) -> tuple[int, int]:
    """Return the first and last edge within a launch."""
    slack = 1e-6 * (edges[1] - edges[0])
    first = int(np.searchsorted(edges, launch.steps[0] - slack))
    last = int(np.searchsorted(edges, launch.steps[-1] + slack)) - 1
    return first, last


def _without_dips(launch: Reports, form: RateForm) -> tuple[Array, bool]:
    """Return the step times with dips replaced, and whether there were any."""
    seconds = step_times(launch, form)
    dips = find_dips(launch.steps[1:], seconds).spikes
    if not dips.any():
        return seconds, False
    return np.asarray(np.where(dips, running_median(seconds), seconds)), True


def _log_curve(edges: Array, launch: Reports, seconds: Array) -> Array:
    """Return the logarithm of the step time between the edges, without outliers."""
    elapsed = np.concatenate(([0.0], np.cumsum(seconds * np.diff(launch.steps))))
    values = np.log(np.diff(np.interp(edges, launch.steps, elapsed)) / np.diff(edges))
    middle = running_median(values)
    reach = _OUTLIER_DEVIATIONS * robust_sd(values - middle)
    return np.clip(values, middle - reach, middle + reach) if reach > 0.0 else values
