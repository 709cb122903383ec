r"""Confidence sequence: an interval of a mean that is valid at every interim analysis.

For any number of interim analyses and any stopping time, the probability that the true mean is
*ever* outside the interval is at most ``alpha``. So a study may stop as soon as its interval
decides.

The t mixture. Let ``y`` be n values less a hypothetical mean, t their t statistic, and
r = t^2 / (n - 1). Under "no effect" y is Normal(0, s^2); under the alternative the effect
mean / s is Normal(0, g). With the right-Haar prior 1/s on both sides (Lai 1976, Annals of
Statistics 4:265; Gaussian in place of his flat mixture: Wang and Ramdas, arXiv 2310.03722;
the g-prior Bayes factor of Lindon et al., arXiv 2210.08589) the covariance under the alternative
is s^2 (I + g 11'), with determinant 1 + n g and inverse I - g/(1 + n g) 11'. Integrating s out
leaves (y'V^-1 y)^(-n/2), and dividing by y'y = S(1 + r), where S is the sum of squares about the
mean and n mean^2 = S r, gives

    E_n = (1 + n g)^(-1/2) * ((1 + r) / (1 + r / (1 + n g)))^(n/2),   E_1 = 1.

That is a ratio of densities of the scale-invariant data, hence a martingale of mean 1, and by
Ville's inequality P(some n: E_n >= 1/level) <= level for Gaussian values of any spread.
E_n < 1/level is r < (c - 1) / (1 - c / (1 + n g)) with c = ((1 + n g) / level^2)^(1/n), or no
bound at all while c >= 1 + n g.

The level. No claim is made before a fixed number of values, so early excursions do not count,
and the process jumps past its limit instead of touching it: at ``level`` = alpha the true rate is
well below alpha. ``level`` is therefore larger than alpha, by a table from importance sampling
under the mixture (``P0(hit) = E1[1/E at the hit]``, plus level * P1(no hit so far) for all interim
analyses that were not simulated), less 8 % for safety. ``python -m benchmarks.verdicts --levels``
recomputes the table.

Values need not be Gaussian if arms have identical distributions and random order: their log-ratios
are symmetric, and tails heavier than Gaussian make t smaller. The only worse shape is two tight
levels, for example if the second launch in a block is always slower by the same amount. So a mean
half-way between two tight levels is not excluded before the sign test excludes it too. And no claim
is made before ``min_values(alpha)`` values, from which on all values are rarely on one side.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal

from assay.stats.interval import UNBOUNDED, Interval

PRIOR_VARIANCE = 4.0
"""Variance of the effect, in units of the spread of one value, under the alternative.

Chosen on the target of a 2 % gain at 1 % noise (effect 1.4): 1 to 8 need much the same number of
values, and below 2 the two-level case costs more errors."""

MIN_CLAIM_VALUES = 6
"""Minimum number of values that a claim rests on."""

_LEVELS: tuple[tuple[float, float], ...] = tuple(
    (alpha, alpha * gain)
    for alpha, gain in (
        (0.0001, 1.31),
        (0.001, 1.31),
        (0.0025, 1.33),
        (0.005, 1.37),
        (0.01, 1.43),
        (0.025, 1.57),
        (0.05, 1.73),
        (0.1, 1.94),
        (0.2, 2.25),
    )
)


def check_alpha(alpha: float) -> None:
    """Check that ``alpha`` is an error rate.

    Raises:
        ValueError: not strictly between 0 and 1.
    """
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must lie strictly between 0 and 1, not {alpha}")


def min_values(alpha: float) -> int:
    """Return the number of values from which an interval may exclude anything.

    n values of one magnitude and random sign lie all on one side with probability 2^(1-n): that
    is kept below 0.63 alpha (6 values at 5 %, 4 at 20 %, 9 at 1 %).

    Raises:
        ValueError: ``alpha`` is not between 0 and 1.
    """
    check_alpha(alpha)
    return max(2, math.ceil(1.0 - math.log2(0.63 * alpha)))


def level(alpha: float, start: int = MIN_CLAIM_VALUES) -> float:
    """Return the reciprocal limit of E_n at which the error rate is ``alpha``.

    Args:
        alpha: accepted probability that the truth is ever excluded.
        start: number of values at the first interim analysis. Below 6 it is ``alpha`` itself.

    Raises:
        ValueError: ``alpha`` is not between 0 and 1.
    """
    check_alpha(alpha)
    if start < MIN_CLAIM_VALUES or alpha < _LEVELS[0][0]:
        return alpha
    if alpha >= _LEVELS[-1][0]:
        return max(alpha, _LEVELS[-1][1])
    right = bisect_right(_LEVELS, (alpha, math.inf))
    (a0, l0), (a1, l1) = _LEVELS[right - 1], _LEVELS[right]
    share = math.log(alpha / a0) / math.log(a1 / a0)
    return l0 * math.exp(share * math.log(l1 / l0))


@functools.lru_cache(maxsize=65536)
def critical(n: int, at: float, g: float = PRIOR_VARIANCE) -> float:
    """Return the t statistic of n values at which E_n reaches ``1 / at``; infinite if none does.

    Args:
        n: number of values, at least 1.
        at: the level (see ``level``).
        g: variance of the effect under the alternative.
    """
    if n < 2:
        return math.inf
    k = 1.0 + n * g
    log_c = (math.log(k) - 2.0 * math.log(at)) / n
    if log_c >= math.log(k):
        return math.inf
    r = math.expm1(log_c) / -math.expm1(log_c - math.log(k))
    return math.sqrt((n - 1) * r)


def half_width(
    n: int, sd: float, alpha: float, *, resolution: float = 0.0, start: int | None = None
) -> float:
    """Return half the width of the interval of n values with standard deviation ``sd``.

    Args:
        n: number of values.
        sd: their standard deviation (n - 1), in any unit.
        alpha: accepted probability that the truth is ever excluded.
        resolution: step of the measurement, in the same unit. If both sides of a difference are
            rounded to it, the rounding error has a standard deviation of resolution / sqrt(6),
            which is the minimum of ``sd``; and all values may be shifted by up to the resolution,
            which is the minimum half width.
        start: values at the first interim analysis; ``min_values(alpha)`` and at least 6 if absent.

    Returns:
        Half width in the unit of ``sd``; infinite with too few values, and without any spread.
    """
    first = max(MIN_CLAIM_VALUES, min_values(alpha)) if start is None else start
    believed = max(sd, resolution / math.sqrt(6.0))
    if n < max(first, 2) or believed <= 0.0:
        return math.inf
    return max(resolution, critical(n, level(alpha, first)) * believed / math.sqrt(n))


def mean_sequence(
    values: Sequence[float],
    alpha: float = 0.05,
    *,
    resolution: float = 0.0,
    start: int | None = None,
) -> Interval:
    """Return the interval of the mean of independent values, valid at every interim analysis.

    Args:
        values: n numbers of one unit, in any order.
        alpha: accepted probability that the truth is ever excluded.
        resolution: step of the measurement, same unit (see ``half_width``). At 0, values without
            any spread give no bound: their spread was not measured.
        start: values at the first interim analysis; ``min_values(alpha)`` and at least 6 if absent.
            Below 6 the interval is wider, and its result does not support a claim.

    Returns:
        The interval, in the unit of ``values``.

    Raises:
        ValueError: a value is not finite, or ``alpha`` is not between 0 and 1.
    """
    if not all(map(math.isfinite, values)):
        raise ValueError("a mean needs finite values; use the median for censored ones")
    n = len(values)
    mean, sd = moments(values)
    half = half_width(n, sd, alpha, resolution=resolution, start=start)
    if math.isinf(half):
        return UNBOUNDED
    interval = Interval(mean - half, mean + half)
    return reach_between_levels(interval, values, alpha)


def moments(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and standard deviation (n - 1) of n numbers, in their unit.

    A spread below the rounding of floating point counts as 0. The mean of no values is 0.
    """
    n = len(values)
    if n == 0:
        return 0.0, 0.0
    mean = math.fsum(values) / n
    if n == 1:
        return mean, 0.0
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    return mean, (0.0 if sd <= 1e-13 * max(map(abs, values)) else sd)


def last_digit(values: Sequence[float]) -> float:
    """Return the finest decimal place of some finite numbers, at most 1; 0 without numbers.

    It replaces the measurement step where all values are equal: a figure printed as 0.1 has a step
    of a tenth, a count a step of one.
    """
    exponents = (Decimal(repr(float(v))).normalize().as_tuple().exponent for v in values)
    return min((10.0 ** min(0, int(e)) for e in exponents), default=0.0)


def reach_between_levels(interval: Interval, values: Sequence[float], alpha: float) -> Interval:
    """Widen to the middle of two tight levels, unless the sign test excludes it as well.

    The sign test uses alpha / 30 at each interim analysis: with the t mixture on top, the exact
    error rate of two-level values over all interim analyses is then below alpha (unit test). The
    threshold of *tight*, and the distance by which the interval extends past the middle, were
    chosen by simulation: stricter costs Gaussian data more blocks, laxer lets errors past where the
    noise is a third of the distance of the levels.
    """
    ordered = sorted(values)
    n = len(ordered)
    gap, cut = max((ordered[i] - ordered[i - 1], i) for i in range(1, n))
    low, high = ordered[:cut], ordered[cut:]
    spread = max(low[-1] - low[0], high[-1] - high[0])
    if 0.8 * spread > gap:
        return interval
    fewer = min(len(low), len(high))
    if 2.0 * _tail(n, fewer) <= alpha / 30.0:
        return interval
    middle = 0.5 * (math.fsum(low) / len(low) + math.fsum(high) / len(high))
    return interval.extended_to(middle - 0.5 * spread).extended_to(middle + 0.5 * spread)


def _tail(n: int, max_terms: int) -> float:
    """Return the exact probability of at most ``max_terms`` heads in n throws of a fair coin.

    Computed in integers, since 2^n overflows a float from 1024 throws on.
    """
    ways = total = 1
    for k in range(max_terms):
        ways = ways * (n - k) // (k + 1)
        total += ways
    return float(total / (1 << n))
