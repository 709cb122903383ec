r"""End of a launch of the search that is plainly worse than the incumbent.

Looks at 1, 2, 4, 8, 16 and 32 periods of the steady part. X_k is the mean of k periods, m the mean
of r launches of the incumbent with K periods each, sigma_B^2 the variance between launches and
s_W^2 that of the mean of a period. A launch ends if it is worse by more than

    z(1 - alpha / 6) sqrt(sigma_B^2 (1 + 1 / r) + s_W^2 / k + s_W^2 / (r K)).

The union bound over the six looks keeps the rate of identical configurations that are ended at or
below alpha. Without the variance between launches, half of them would end: more steps never average
out the state of a launch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import msgspec
import numpy as np

from assay.records.progress import EndRule, Incumbent, RateForm, SteadyPart
from assay.records.workload import Goal
from assay.stats.progress.launch_curve import LaunchCurve
from assay.stats.progress.launch_spread import predictive_spread
from assay.stats.progress.reports import Array, Reports
from assay.stats.progress.steady import steady_part
from assay.stats.progress.value import launch_value
from assay.stats.progress.warm_up import WarmUp

LOOKS = (1, 2, 4, 8, 16, 32)
"""Numbers of periods at which a launch is compared."""
MIN_BLOCKS = 3
"""Smallest number of blocks that tell the standard deviation between launches well enough."""
ALPHA = 0.05
"""Accepted probability that a launch of an identical configuration ends early."""
_WARM_UP_FACTOR = 2.0
"""Factor on the threshold during the warm-up."""
_QUANTILE = NormalDist().inv_cdf(1.0 - ALPHA / len(LOOKS))


@dataclass(frozen=True, slots=True)
class EarlyValue:
    """Uncertainty of the value of a launch that ended early.

    Attributes:
        variance: variance of its logarithm, between launches and within; 0 for a bound.
        bound: true if the value is only a bound: the launch ended during its warm-up, and a steady
            value would be at most as good.
    """

    variance: float
    bound: bool


def incumbent_of(
    logs: Sequence[float],
    steady_steps: float,
    unit_steps: float,
    posterior: Array,
    step_variance: float,
) -> Incumbent:
    """Return the record of the incumbent for the launches of other configurations.

    The standard deviation between launches is raised for its own uncertainty. With fewer than
    ``MIN_BLOCKS`` blocks that does not suffice on noisy machines: do not end launches early then.

    Args:
        logs: logarithms of the values of its launches.
        steady_steps: mean number of their steady steps.
        unit_steps: period, or batch without dips, in steps.
        posterior: probabilities of the standard deviation between launches.
        step_variance: long-run variance of a step relative to the mean.

    Raises:
        ValueError: the incumbent has no launch.
    """
    if not logs:
        raise ValueError("the incumbent needs a finished launch")
    return Incumbent(
        value=math.exp(sum(logs) / len(logs)),
        launches=len(logs),
        periods=steady_steps / unit_steps,
        launch_sd=predictive_spread(posterior, _QUANTILE),
        unit_steps=unit_steps,
        batch_sd=math.sqrt(step_variance / unit_steps),
    )


def threshold(incumbent: Incumbent, periods: int) -> float:
    """Return the smallest difference of logarithms that ends a launch.

    Args:
        incumbent: value and variances of the incumbent.
        periods: number of periods of the launch, k.
    """
    within = incumbent.batch_sd**2
    variance = (
        incumbent.launch_sd**2 * (1.0 + 1.0 / incumbent.launches)
        + within / periods
        + within / (incumbent.launches * incumbent.periods)
    )
    return _QUANTILE * math.sqrt(variance)


def disadvantage(value: float, incumbent: float, goal: Goal) -> float:
    """Return the logarithm of how much worse a value is than the incumbent's; negative if better.

    Args:
        value, incumbent: positive values in one unit.
        goal: direction of better values.
    """
    ratio = math.log(value / incumbent)
    return ratio if goal is Goal.LOWER else -ratio


def is_worse(
    rule: EndRule,
    curve: LaunchCurve,
    *,
    goal: Goal,
    form: RateForm = RateForm.RATE,
) -> bool:
    """Return whether a launch is plainly worse than the incumbent at the last look so far.

    Args:
        rule: rule with incumbent and warm-up; without one of them no launch is worse.
        curve: step times so far.
        goal: direction of better values.
        form: meaning of the values.
    """
    incumbent = rule.incumbent
    if incumbent is None or rule.warmup_steps is None:
        return False
    unit = incumbent.unit_steps
    done = (float(curve.reports.steps[-1]) - rule.warmup_steps) / unit
    look = max((look for look in LOOKS if look <= done + 1e-6), default=0)
    if not look:
        return False
    warm_up = WarmUp(rule.warmup_steps, rule.period_steps, True)
    part = steady_part(curve, warm_up, steady_steps=look * unit)
    if part is None:
        return False
    value = launch_value(curve, part, form).value
    if value <= 0.0 or not math.isfinite(value):
        return False
    return disadvantage(value, incumbent.value, goal) > threshold(incumbent, look)


def is_worse_in_warm_up(
    rule: EndRule,
    curve: LaunchCurve,
    *,
    goal: Goal,
) -> bool:
    """Return whether a launch is plainly worse than the incumbent before its warm-up is over.

    Args:
        rule: rule with warm-up, incumbent, and the curve of the incumbent's warm-up; without one of
            them no launch is worse.
        curve: step times so far.
        goal: direction of better values.
    """
    if rule.warmup_steps is None or not len(curve):
        return False
    if float(curve.reports.steps[-1]) >= rule.warmup_steps:
        return False
    return bound_during_warm_up(curve.reports, rule.incumbent, goal=goal) is not None


def value_of_ended(part: SteadyPart, incumbent: Incumbent) -> EarlyValue:
    """Return the uncertainty of the value of a launch that ended early.

    Args:
        part: its steady part.
        incumbent: variances that the launch was compared with.
    """
    if part.bound:
        return EarlyValue(0.0, bound=True)
    periods = max((part.end_step - part.begin_step) / incumbent.unit_steps, 1.0)
    return EarlyValue(incumbent.launch_sd**2 + incumbent.batch_sd**2 / periods, bound=False)


def weight_of_ended(part: SteadyPart, incumbent: Incumbent) -> float:
    """Return the weight of a launch that ended early, in launches as long as the incumbent's.

    Args:
        part: its steady part.
        incumbent: variances that the launch was compared with.
    """
    own = value_of_ended(part, incumbent)
    if own.bound:
        return 1.0
    usual = incumbent.launch_sd**2 + incumbent.batch_sd**2 / incumbent.periods
    return min(1.0, usual / own.variance)


def bound_during_warm_up(
    reports: Reports, incumbent: Incumbent | None, *, goal: Goal
) -> float | None:
    """Return a bound for a launch that is plainly worse than the incumbent during its warm-up.

    The launch is compared with the mean curve of the incumbent over the same steps, which removes
    the warm-up that both have. These are further looks, and a warm-up may depend on the
    configuration, so there is a factor of two on top of the threshold.

    Args:
        reports: reports so far.
        incumbent: its value, its variances and the curve of its warm-up.
        goal: direction of better values.

    Returns:
        Value that a steady launch would reach at best; ``None`` if the launch is not plainly worse,
        or too short.
    """
    if incumbent is None or not incumbent.curve_steps or not len(reports):
        return None
    first = max(float(reports.steps[0]), incumbent.curve_steps[0])
    last = min(float(reports.steps[-1]), incumbent.curve_steps[-1])
    periods = int((last - first) / incumbent.unit_steps + 1e-6)
    if periods < 1:
        return None
    span = (first, first + periods * incumbent.unit_steps)
    mine = float(np.diff(np.interp(span, reports.steps, reports.times_s))[0])
    theirs = float(np.diff(np.interp(span, incumbent.curve_steps, incumbent.curve_s))[0])
    if mine <= 0.0 or theirs <= 0.0:
        return None
    slower = math.log(mine / theirs)
    if slower <= _WARM_UP_FACTOR * threshold(incumbent, periods):
        return None
    return incumbent.value * math.exp(slower if goal is Goal.LOWER else -slower)


def as_bound(
    value: float, part: SteadyPart, reports: Reports, rule: EndRule, goal: Goal
) -> tuple[float, SteadyPart]:
    """Return value and steady part of a launch that ended early, before its warm-up was over.

    Args:
        value: value over the second half of its reports, which are not steady.
        part: that half.
        reports: reports of the launch.
        rule: its rule.
        goal: direction of better values.

    Returns:
        The bound that the comparison gives, and the part marked as such; both as they are if the
        launch reached its steady part.
    """
    if rule.warmup_steps is None or float(reports.steps[-1]) >= rule.warmup_steps:
        return value, part
    bound = bound_during_warm_up(reports, rule.incumbent, goal=goal)
    return value if bound is None else bound, msgspec.structs.replace(part, bound=True)
