"""Paired comparison: the effect of B against A over blocks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.errors import InvalidInputError
from assay.records.workload import Goal
from assay.stats.confidence_sequence import last_digit, mean_sequence, moments
from assay.stats.interval import UNBOUNDED, Interval
from assay.stats.median import median_between, median_sequence
from assay.stats.planned_analysis import Analysis, planned_mean, sequence_alpha

Method = Literal["mean", "median", "none"]
"""Estimator of the ratio: exp(mean of log-ratios), exp(median of log-ratios), or none without
pairs."""


_MAX_LOG_RATIO = 700.0
"""Logarithm of the largest ratio: larger ones come from invalid values."""


class NonPositiveValueError(InvalidInputError, ValueError):
    """A value is zero, negative or not finite, so it has no logarithm."""


class UnequalBlocksError(InvalidInputError, ValueError):
    """The arms have different numbers of blocks."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The value of one arm in one block.

    Attributes:
        value: the metric, positive, in its unit; the cap if ``censored``.
        censored: the launch reached its time-out, so the true value is at least as bad as
            ``value``: above it if lower is better, below it if higher is better.
    """

    value: float
    censored: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of B against A, as the ratio B / A.

    Attributes:
        ratio: exp(mean of the paired log-ratios); with censored values exp(median); ``None``
            if neither is known.
        lo, hi: interval of the ratio, valid at every interim analysis; 0 and infinity are open
            ends.
        blocks: number of pairs.
        dropped: blocks without a pair, because a launch is missing or failed.
        censored_share: share of the pairs with a censored value.
        method: estimator of ``ratio``.
        bound: kind of bound, if ``ratio`` is only a bound of the true ratio (*at least*, *at most*,
            *unknown*); ``None`` if it is an estimate.
        sd: standard deviation of the log-ratios (n - 1), censored values at their caps; ``None``
            for fewer than two.
        alpha: accepted probability that the true ratio is ever outside ``lo`` to ``hi``.
        resolution: relative step of the measurement that was used.
    """

    ratio: float | None
    lo: float
    hi: float
    blocks: int
    dropped: int
    censored_share: float
    method: Method
    bound: Literal["at least", "at most", "unknown"] | None
    sd: float | None
    alpha: float
    resolution: float

    @property
    def bound_only(self) -> bool:
        """True if ``ratio`` is a bound and not an estimate."""
        return self.bound is not None


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Log-ratios of the usable blocks, each with a lower and an upper bound."""

    low: list[float]
    high: list[float]
    at_cap: list[float]
    dropped: int
    censored: int
    resolution: float


def _ratio(log: float) -> float:
    """Return the ratio of a logarithm, at most the largest one that is a number."""
    return math.exp(min(log, _MAX_LOG_RATIO)) if log < math.inf else math.inf


def effect(
    a: Sequence[Observation | None],
    b: Sequence[Observation | None],
    *,
    goal: Goal = Goal.LOWER,
    alpha: float = 0.05,
    resolution: float | None = None,
    median: bool = False,
    analysis: Analysis = Analysis.ANY,
) -> Effect:
    """Return the effect of B against A.

    Args:
        a: one observation for each block, in block order; ``None`` where the launch is missing or
            failed, which drops the pair.
        b: the same for the other arm.
        goal: direction in which the metric improves; it decides on which side a censored value is a
            bound.
        alpha: accepted probability that the true ratio is ever outside the interval; divide it by
            the number of intervals shown together.
        resolution: relative step of the measurement (0.001 for tenths of a second on 100 s).
            If absent, the smallest step seen between different values.
        median: estimate by the median of the log-ratios, even if no value is censored.
        analysis: kind of this analysis, if one was planned (see ``assay.stats.planned_analysis``).

    Raises:
        NonPositiveValueError: a value is zero, negative or not finite.
        UnequalBlocksError: the arms differ in length.
        ValueError: ``alpha`` is not between 0 and 1.
    """
    pairs = _pair(a, b, goal, resolution)
    n = len(pairs.low)
    by_median = median or pairs.censored > 0
    if n == 0:
        return Effect(
            None, 0.0, math.inf, 0, pairs.dropped, 0.0, "none", "unknown", None, alpha, 0.0
        )
    mean, sd = moments(pairs.at_cap)
    interval = _interval(pairs, alpha, by_median, analysis)
    ratio: float | None = _ratio(mean)
    bound: Literal["at least", "at most", "unknown"] | None = None
    if by_median:
        middle = median_between(pairs.low, pairs.high)
        if middle.width == 0.0 and 2 * pairs.censored <= n:
            ratio = _ratio(middle.lo)
        elif math.isfinite(middle.lo):
            ratio, bound = _ratio(middle.lo), "at least"
        elif math.isfinite(middle.hi):
            ratio, bound = _ratio(middle.hi), "at most"
        else:
            ratio, bound = None, "unknown"
    return Effect(
        ratio=ratio,
        lo=_ratio(interval.lo),
        hi=_ratio(interval.hi),
        blocks=n,
        dropped=pairs.dropped,
        censored_share=pairs.censored / n,
        method="median" if by_median else "mean",
        bound=bound,
        sd=sd if n > 1 else None,
        alpha=alpha,
        resolution=pairs.resolution,
    )


def measurement_step(values: Sequence[float]) -> float | None:
    """Estimate the step of a measurement from its values, relative to their median.

    The step is the smallest difference between two values above the rounding of floating point
    (1e-9). For values that were not rounded it is far below their spread, and harmless.

    Args:
        values: positive numbers of one unit.

    Returns:
        A ratio; ``None`` if all are equal.
    """
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2] if ordered else 0.0
    steps = [right - left for left, right in itertools.pairwise(ordered)]
    return min((s / middle for s in steps if s > 1e-9 * middle), default=None)


def _resolution(pairs: Sequence[tuple[Observation, Observation]]) -> float:
    """Return the coarser step of the two arms; the last digit if all values are equal."""
    arms = [[pair[side].value for pair in pairs if not pair[side].censored] for side in (0, 1)]
    steps = [
        step
        if (step := measurement_step(values)) is not None
        else last_digit([*arms[0], *arms[1]]) / values[0]
        for values in arms
        if values
    ]
    return max(steps, default=0.0)


def _interval(pairs: _Pairs, alpha: float, by_median: bool, analysis: Analysis) -> Interval:
    if not pairs.low:
        return UNBOUNDED
    at_every = sequence_alpha(alpha, analysis)
    if by_median:
        found = median_sequence(pairs.low, pairs.high, at_every)
        return Interval(found.lo - pairs.resolution, found.hi + pairs.resolution)
    if analysis is Analysis.PLANNED:
        return planned_mean(pairs.low, alpha, resolution=pairs.resolution)
    return mean_sequence(pairs.low, at_every, resolution=pairs.resolution)


def _pair(
    a: Sequence[Observation | None],
    b: Sequence[Observation | None],
    goal: Goal,
    resolution: float | None,
) -> _Pairs:
    if len(a) != len(b):
        raise UnequalBlocksError(
            f"arm A has {len(a)} blocks and arm B {len(b)}",
            "give one entry per block for each arm, None for a missing launch",
        )
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    for observation in (o for pair in both for o in pair):
        if not (math.isfinite(observation.value) and observation.value > 0.0):
            raise NonPositiveValueError(
                f"a ratio needs positive finite values, not {observation.value!r}",
                "choose a metric that is never zero, or compare it by its summary only",
            )
    low, high, at_cap = [], [], []
    for x, y in both:
        log_ratio = math.log(y.value / x.value)
        rises, falls = (y.censored, x.censored) if goal is Goal.LOWER else (x.censored, y.censored)
        low.append(-math.inf if falls else log_ratio)
        high.append(math.inf if rises else log_ratio)
        at_cap.append(log_ratio)
    if resolution is None:
        resolution = _resolution(both)
    return _Pairs(
        low=low,
        high=high,
        at_cap=at_cap,
        dropped=len(a) - len(both),
        censored=sum(x.censored or y.censored for x, y in both),
        resolution=resolution,
    )
