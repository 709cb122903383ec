"""End of the warm-up of a program.

Change points (see ``change_points``) of the mean log curve of several launches, with the penalty
3 ln n x long-run variance, raised where that variance rests on few values. A penalty for
independent values would find changes in correlated noise. Where neighbours differ by more, as with
errors of single time stamps, their variance replaces it. A curve pooled over launches shows slow
tails that are hidden in the noise of one launch, and a cut that is the same for all launches does
not correlate with their values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from assay.stats.progress.change_points import change_points
from assay.stats.progress.curves import Curve, pooled_curve
from assay.stats.progress.launch_curve import LaunchCurve
from assay.stats.progress.periods import find_dips

PILOT_BLOCKS = (1, 2, 4, 6)
"""Numbers of blocks after which the warm-up is determined again from all launches."""
_PENALTY = 3.0
"""Factor of ln n x long-run variance."""
_NEGLIGIBLE = 0.002
"""Relative difference of step times below which a change is negligible."""
_LAST_PART = 2 / 3
"""Share of the curve after which a change means that the program had not settled."""
_SHOWS_PERIOD = 2.5
"""Length of a launch, in periods, from which on it has to show a period."""
_MIN_MEDIAN = 3
"""Smallest number of launches whose median hides random pauses."""
_MIN_LAST_PART = 4
"""Smallest number of points of the last third that show a slope."""
MIN_TELLING_REPORTS = 3 * _MIN_LAST_PART
"""Number of reports of a launch from which on the last third shows whether it is steady."""
_SLOPE_DEVIATIONS = 2.0
"""Standard errors of the slope of the last third from which on it counts."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """End of the warm-up.

    Attributes:
        steps: last step of the warm-up, at the end of a whole period if there is one.
        period_steps: distance of periodic dips in steps; absent without such dips.
        settled: false if the speed still changed in the last third; longer launches would tell.
    """

    steps: float
    period_steps: float | None
    settled: bool


def pooled_warm_up(
    launches: Sequence[LaunchCurve], period_steps: float | None = None
) -> WarmUp | None:
    """Find the end of the warm-up from one or more launches of one arm.

    Args:
        launches: launches of one arm; more of them show slower tails.
        period_steps: known period in steps; found in the launches if absent.

    Returns:
        The end of the warm-up; ``None`` if the launches have too few reports (nine at least).
        Constant levels are steady from their first report.
    """
    if launches and all(one.constant for one in launches):
        return WarmUp(float(launches[0].reports.steps[0]), None, settled=True)
    period = pooled_period(launches) if period_steps is None else period_steps
    curve = pooled_curve(launches, period)
    if curve is None:
        return None
    places = _changes(curve)
    width = float(curve.edges[1] - curve.edges[0])
    cut = float(curve.edges[places[-1]]) if places else float(curve.edges[0])
    early = [one.early_spike for one in launches if one.early_spike is not None]
    if 2 * len(early) > len(launches) and float(np.median(early)) > cut:
        cut = round_up(float(np.median(early)), period)
    elif places:
        cut = _after_tail(curve, round_up(cut, period, width), period)
    begin = int(np.searchsorted(curve.edges, cut - 1e-6))
    settled = begin <= _LAST_PART * len(curve.values) and not _slopes(curve, begin)
    return WarmUp(cut, period, settled)


def pooled_period(launches: Sequence[LaunchCurve]) -> float | None:
    """Return the period of dips in steps.

    It is the median over the launches that show one, if at least half of those that are long enough
    do. Otherwise the median over launches of the time of each step counts: random pauses vanish in
    it, and small checkpoints remain.

    Args:
        launches: launches of one or more arms.
    """
    periods = [one.period_steps for one in launches if one.period_steps is not None]
    if periods:
        period = float(np.median(periods))
        shown = _SHOWS_PERIOD * period
        long_enough = sum(len(one) > 0 and one.reports.steps[-1] >= shown for one in launches)
        if 2 * len(periods) >= long_enough:
            return period
    return _period_of_median(launches)


def _period_of_median(launches: Sequence[LaunchCurve]) -> float | None:
    """Return the period of the median over launches, if they report at the same steps."""
    if len(launches) < _MIN_MEDIAN:
        return None
    last = int(np.median([len(one.seconds) for one in launches]))
    long_enough = [one for one in launches if len(one.seconds) >= last]
    ends = long_enough[0].reports.steps[1 : last + 1]
    same = [one for one in long_enough if np.array_equal(one.reports.steps[1 : last + 1], ends)]
    if len(same) < _MIN_MEDIAN or not last:
        return None
    relative = [one.seconds[:last] / np.median(one.seconds[:last]) for one in same]
    return find_dips(ends, np.median(relative, axis=0)).period_steps


def round_up(steps: float, period_steps: float | None, tolerance: float = 0.0) -> float:
    """Return the number of steps at the end of the period in which a step lies.

    Within the first period it is the end of a whole fraction of a period: a window of whole
    periods has the same number of dips wherever it begins, and a whole period of 500 steps for a
    warm-up of 20 would be waste.

    Args:
        steps: a number of steps.
        period_steps: period in steps; without one the number is returned.
        tolerance: distance in steps by which the number may exceed the end of a period.
    """
    if period_steps is None or steps <= 0.0:
        return steps
    unit = period_steps / max(1, math.floor(period_steps / steps + 1e-9))
    return unit * math.ceil((steps - min(tolerance, unit / 2)) / unit - 1e-9)


def common_warm_up(found: Sequence[WarmUp | None]) -> WarmUp | None:
    """Return the warm-up that counts for all arms: the longest of theirs.

    Args:
        found: the warm-up of each arm; absent ones are left out.
    """
    known = [one for one in found if one is not None]
    if not known:
        return None
    periods = [one.period_steps for one in known if one.period_steps is not None]
    period = max(periods) if periods else None
    steps = max(one.steps for one in known)
    return WarmUp(round_up(steps, period, 1.0), period, all(one.settled for one in known))


def revised_warm_up(current: WarmUp, found: WarmUp | None) -> WarmUp:
    """Return the warm-up for the next block.

    If the launches had not settled, their cut may lie anywhere, and longer launches would have to
    tell. So the current one stays, marked as not settled.

    Args:
        current: warm-up that the last block ran with.
        found: warm-up of all launches of all arms (see ``common_warm_up``).
    """
    if found is None:
        return current
    if found.settled:
        return found
    return WarmUp(current.steps, found.period_steps or current.period_steps, settled=False)


def _changes(curve: Curve) -> list[int]:
    """Return the change points of a curve, without those at the end that are negligible."""
    n = len(curve.values)
    penalty = _penalty(n, curve.freedom) * max(curve.point_variance, 1e-12)
    places = change_points(curve.values, curve.weights, penalty)
    bounds = [0, *places, n]
    means = [
        float(np.average(curve.values[a:b], weights=curve.weights[a:b]))
        for a, b in pairwise(bounds)
    ]
    while places and abs(means[-1] - means[len(places) - 1]) < _NEGLIGIBLE:
        means[-1] = means[len(places) - 1]
        places.pop()
    return places


def _after_tail(curve: Curve, cut: float, period_steps: float | None) -> float:
    """Return the step after which the tail of the warm-up is lost in the noise.

    The penalty guards against changes anywhere. Right after the last change a slow tail is likely,
    so there the next period, or a time half as long as the warm-up so far, is compared with the
    rest at two standard errors.
    """
    first = float(curve.edges[0])
    while True:
        next_cut = round_up(cut + (period_steps or (cut - first) / 2), period_steps)
        begin, middle = np.searchsorted(curve.edges, (cut - 1e-6, next_cut - 1e-6))
        values, weights = curve.values, curve.weights
        if middle - begin < 2 or middle > len(values) // 2 + 1:
            return cut
        tail, rest = slice(begin, middle), slice(middle, None)
        error = math.sqrt(curve.variance * (1.0 / weights[tail].sum() + 1.0 / weights[rest].sum()))
        before = float(np.average(values[:begin], weights=weights[:begin]))
        level = float(np.average(values[rest], weights=weights[rest]))
        excess = float(np.average(values[tail], weights=weights[tail])) - level
        if math.copysign(excess, excess * (before - level)) < max(_NEGLIGIBLE, 2.0 * error):
            return cut
        cut = next_cut


def _penalty(points: int, freedom: int) -> float:
    """Return the penalty of a change in units of the long-run variance.

    With a known variance it is 3 ln n, a limit of chi-squared. The variance is estimated, so the
    limit of F with the same probability replaces it, approximately f (exp(3 ln n / f) - 1).
    """
    return freedom * math.expm1(_PENALTY * math.log(points) / freedom)


def _slopes(curve: Curve, cut: int) -> bool:
    """Return whether the last third, or the part after a later cut, has a slope."""
    begin = max(cut, round(_LAST_PART * len(curve.values)))
    values, weights = curve.values[begin:], curve.weights[begin:]
    if len(values) < _MIN_LAST_PART:
        return True
    places = np.arange(len(values), dtype=np.float64)
    places -= np.average(places, weights=weights)
    squares = float(weights @ (places * places))
    slope = float(weights @ (places * values)) / squares
    error = math.sqrt(curve.variance / squares)
    return abs(slope) * len(values) > max(_NEGLIGIBLE, _SLOPE_DEVIATIONS * error * len(values))
