"""Effect of B against A, if each was measured on separate occasions.

All launches of one occasion share its day, its boot and the other load of the machine. So the mean
of an occasion varies by more than the scatter of its launches suggests: its variance is
``tau^2 + sigma^2 / n``. Only several occasions of one condition show ``tau``.

The variance ``S^2`` of the means of K occasions of one condition estimates ``tau^2 + mean(w)``,
where ``w`` is the part of the launches, ``sigma^2 / n``, in each. The mean of another occasion,
whose part is ``v``, has the variance ``tau^2 + v``; ``S^2 + max(0, v - mean(w))`` is on average no
less. For the difference of two occasions the two variances add up, and the quantile is Student's
with the degrees of freedom of ``S^2`` alone, which are the fewest.

This holds for normally distributed occasions. A difference of two occasions is not approximately
normal, so the tails of their distribution matter: at Student's own level, two identical conditions
with exponentially distributed occasions differ in 9 % of comparisons instead of 5 %. Therefore only
a part of alpha is spent on Student's quantile (``STUDENT_SHARE``); the rest is for other shapes.
``tests/unit/stats/test_occasions.py`` simulates the error rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.stats.confidence_sequence import check_alpha, moments
from assay.stats.interval import Interval

STUDENT_SHARE = 0.3
"""Part of alpha for Student's quantile: with it the error rate is at most 5 % even for
exponentially distributed occasions."""


@dataclass(frozen=True, slots=True)
class OccasionMean:
    """The mean logarithm of the launches of one occasion.

    Attributes:
        mean: mean of the logarithms.
        variance: variance of that mean, from the variance between launches alone.
        df: degrees of freedom of ``variance``.
    """

    mean: float
    variance: float
    df: int


@dataclass(frozen=True, slots=True)
class BetweenOccasions:
    """Variance of the means of occasions that share all but the occasion.

    Attributes:
        variance: variance of the mean of an occasion, including the part from its launches.
        launches: average of that part.
        df: degrees of freedom of ``variance``.
    """

    variance: float
    launches: float
    df: int


def occasion_mean(values: Sequence[float]) -> OccasionMean:
    """Return the mean logarithm of positive values, with its variance.

    Raises:
        ValueError: fewer than two values.
    """
    if len(values) < 2:
        raise ValueError("a variance needs at least two values")
    mean, sd = moments([math.log(value) for value in values])
    return OccasionMean(mean, sd * sd / len(values), len(values) - 1)


def published_mean(mean: float, error: float, df: int) -> OccasionMean:
    """Return the logarithm of a published mean by the delta method.

    Args:
        mean: arithmetic mean, positive.
        error: standard error of ``mean``, in its unit.
        df: degrees of freedom of ``error``.
    """
    return OccasionMean(math.log(mean), (error / mean) ** 2, df)


def between_occasions(conditions: Sequence[Sequence[OccasionMean]]) -> BetweenOccasions | None:
    """Return the variance between occasions, pooled over conditions.

    Args:
        conditions: the occasions of each condition; one with a single occasion has no information.

    Returns:
        ``None`` if no condition has two occasions.
    """
    several = [occasions for occasions in conditions if len(occasions) > 1]
    df = sum(len(occasions) - 1 for occasions in several)
    if not df:
        return None
    squares = (
        (len(occasions) - 1) * moments([occasion.mean for occasion in occasions])[1] ** 2
        for occasions in several
    )
    launches = [occasion.variance for occasions in several for occasion in occasions]
    return BetweenOccasions(
        variance=math.fsum(squares) / df, launches=math.fsum(launches) / len(launches), df=df
    )


def launch_interval(a: OccasionMean, b: OccasionMean, alpha: float) -> tuple[Interval, float]:
    """Return Welch's interval of ``b - a`` and its degrees of freedom.

    It includes the variance between launches only: the two occasions count as fixed.

    Raises:
        ValueError: ``alpha`` is not between 0 and 1.
    """
    check_alpha(alpha)
    variance = a.variance + b.variance
    df = float(a.df + b.df)
    if variance > 0.0:
        df = variance**2 / (a.variance**2 / a.df + b.variance**2 / b.df)
    return _about(b.mean - a.mean, variance, df, alpha), df


def occasion_interval(
    a: OccasionMean,
    b: OccasionMean,
    between: tuple[BetweenOccasions, BetweenOccasions],
    alpha: float,
) -> tuple[Interval, int]:
    """Return the interval of ``b - a`` that includes the variance between occasions, and its df.

    Args:
        a, b: the two occasions.
        between: variance between occasions of the condition of each; the same object if one
            estimate is valid for both.
        alpha: accepted share of wrong intervals, for a single analysis.

    Raises:
        ValueError: ``alpha`` is not between 0 and 1.
    """
    check_alpha(alpha)
    variance = sum(
        one.variance + max(0.0, side.variance - one.launches)
        for side, one in zip((a, b), between, strict=True)
    )
    df = min(one.df for one in between)
    return _about(b.mean - a.mean, variance, df, STUDENT_SHARE * alpha), df


def _about(centre: float, variance: float, df: float, alpha: float) -> Interval:
    from scipy.special import stdtrit  # here, since it takes long to load

    half = float(stdtrit(df, 1.0 - 0.5 * alpha)) * math.sqrt(variance)
    return Interval(centre - half, centre + half)
