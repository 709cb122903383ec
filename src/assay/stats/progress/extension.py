"""Extension of launches that were too short to show the end of a slow warm-up.

A short launch cannot show a slow tail. So launches grow while the last third of their steady part
still has a slope beyond two standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.stats.progress.curves import pooled_curve
from assay.stats.progress.launch_curve import LaunchCurve

GROWTH = 2.0
"""Factor on the steps of a launch that was too short."""
_LONG = 0.75
"""Share of the longest launch from which on a launch counts as long."""
_LAST_PART = 2 / 3
"""Share of a launch before its last third."""
_NEGLIGIBLE = 0.002
"""Relative change over the last third that is negligible."""
_DEVIATIONS = 2.0
"""Standard errors of the slope from which on it counts."""
_MIN_POINTS = 6
"""Smallest number of points that show a slope."""


def still_changes(
    launches: Sequence[LaunchCurve], warmup_steps: float, period_steps: float | None = None
) -> bool:
    """Return whether the speed of the longest launches still changed at their end.

    Args:
        launches: launches of one arm, or of several arms.
        warmup_steps: last step of the known warm-up.
        period_steps: known period of dips, in steps.
    """
    known = [one for one in launches if len(one)]
    if not known:
        return False
    longest = max(float(one.reports.steps[-1]) for one in known)
    curve = pooled_curve(
        [one for one in known if one.reports.steps[-1] >= _LONG * longest], period_steps
    )
    if curve is None:
        return False
    begin = max(
        int(np.searchsorted(curve.edges, warmup_steps - 1e-6)),
        round(_LAST_PART * len(curve.values)),
    )
    values, weights = curve.values[begin:], curve.weights[begin:]
    if len(values) < _MIN_POINTS:
        return False
    places = np.arange(len(values), dtype=np.float64)
    places -= np.average(places, weights=weights)
    squares = float(weights @ (places * places))
    slope = abs(float(weights @ (places * values))) / squares
    error = math.sqrt(curve.variance / squares)
    return slope * len(values) > max(_NEGLIGIBLE, _DEVIATIONS * error * len(values))


def extended_steps(
    launches: Sequence[LaunchCurve], warmup_steps: float, period_steps: float | None = None
) -> float:
    """Return the steady steps of launches twice as long as the longest so far.

    Args:
        launches: launches so far, at least one with reports.
        warmup_steps: last step of the known warm-up.
        period_steps: period of dips, in steps; the result is a multiple of it.
    """
    longest = max(float(one.reports.steps[-1]) for one in launches if len(one))
    unit = period_steps or 1.0
    return unit * max(1.0, math.ceil((GROWTH * longest - warmup_steps) / unit - 1e-6))
