"""The mean curve of step times over several launches, without dips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.stats.progress.change_points import MAX_POINTS
from assay.stats.progress.launch_curve import LaunchCurve
from assay.stats.progress.long_run import long_run_variance_of_tail
from assay.stats.progress.periods import robust_sd, running_median
from assay.stats.progress.reports import Array

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
        point_variance: variance by which a single point differs from its neighbours, or the
            long-run variance if that is larger. An error of one time stamp moves two neighbours in
            opposite directions, which cancels in the long run, but not in a single point.
        freedom: degrees of freedom of this variance.
    """

    edges: Array
    values: Array
    weights: Array
    variance: float
    point_variance: float
    freedom: int


def pooled_curve(
    launches: Sequence[LaunchCurve], period_steps: float | None = None
) -> Curve | None:
    """Return the mean of the log curves of some launches, each less its second half.

    Launches may report at different steps. The curve ends at their median length. Shorter launches
    are left out: their second half says little of their level, so the curve would jump where they
    end. Dips of the speed are replaced by the running median of their neighbourhood.

    Args:
        launches: launches of one arm.
        period_steps: known period in steps. If it is that of a wave and not of single dips, one
            point covers a period.

    Returns:
        The curve; ``None`` if no launch has eight intervals.
    """
    long_enough = [launch for launch in launches if len(launch) > MIN_INTERVALS]
    if not long_enough:
        return None
    last_step = float(np.median([launch.reports.steps[-1] for launch in long_enough]))
    usable = [
        launch for launch in long_enough if launch.reports.steps[-1] >= _LIKE_LENGTH * last_step
    ]
    is_wave = period_steps is not None and not any(one.has_spikes for one in usable)
    edges = _edges(usable, last_step, period_steps if is_wave else None)
    if len(edges) <= MIN_INTERVALS:
        return None
    total, weights = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
    estimates, distances = [], []
    for launch in usable:
        first, last = _covered(edges, launch)
        if last - first < MIN_INTERVALS:
            continue
        values = _log_curve(edges[first : last + 1], launch)
        second_half = values[len(values) // 2 :]
        total[first:last] += values - second_half.mean()
        weights[first:last] += 1.0
        distances.append(float(np.square(np.diff(values)).mean()) / 2)
        estimate = long_run_variance_of_tail(second_half)
        if estimate is not None:
            estimates.append(estimate)
    if not estimates:
        return None
    freedom = sum(one.freedom for one in estimates)
    variance = sum(one.variance * one.freedom for one in estimates) / freedom
    kept = np.flatnonzero(weights)
    span = slice(int(kept[0]), int(kept[-1]) + 1)
    return Curve(
        edges[span.start : span.stop + 1],
        total[span] / np.maximum(weights[span], 1.0),
        np.maximum(weights[span], 1e-9),
        variance,
        max(variance, sum(distances) / len(distances)),
        freedom,
    )


def _edges(launches: Sequence[LaunchCurve], last: float, period_steps: float | None) -> Array:
    """Return a grid of at most ``MAX_POINTS`` intervals from the first to the last step."""
    width = max(float(np.median(launch.widths)) for launch in launches)
    first = min(float(launch.reports.steps[0]) for launch in launches)
    if period_steps is not None and (last - first) / period_steps > 2 * MIN_INTERVALS:
        width = period_steps
    width *= max(1, math.ceil((last - first) / width / MAX_POINTS - 1e-9))
    return np.asarray(first + width * np.arange(math.floor((last - first) / width + 1e-6) + 1))


def _covered(edges: Array, launch: LaunchCurve) -> tuple[int, int]:
    """Return the first and last edge within a launch."""
    slack = 1e-6 * (edges[1] - edges[0])
    first = int(np.searchsorted(edges, launch.reports.steps[0] - slack))
    last = int(np.searchsorted(edges, launch.reports.steps[-1] + slack)) - 1
    return first, last


def _log_curve(edges: Array, launch: LaunchCurve) -> Array:
    """Return the logarithm of the step time between the edges, without outliers."""
    elapsed = np.concatenate(([0.0], np.cumsum(launch.smooth * launch.widths)))
    values = np.log(np.diff(np.interp(edges, launch.reports.steps, elapsed)) / np.diff(edges))
    middle = running_median(values)
    reach = _OUTLIER_DEVIATIONS * robust_sd(values - middle)
    return np.clip(values, middle - reach, middle + reach) if reach > 0.0 else values
