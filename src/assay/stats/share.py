r"""Confidence sequences of a proportion: the share of launches with a property.

Whether a launch satisfies a bound is a Bernoulli trial with an unknown probability p, for any
distribution of the figure. To show p > q, the likelihood of k of n launches under a mixture of
chances above q is compared with that under q itself:

    E_n = 1/2 q^(-n) [k = n]  +  1/2 * 1/(1 - q) * int_q^1 (x/q)^k ((1 - x)/(1 - q))^(n - k) dx.

The integral is an incomplete beta function. Each factor x/q or (1 - x)/(1 - q) has, for x >= q, a
mean of at most 1 under every p <= q. So E_n is a supermartingale of mean 1 for all of them, and by
Ville's inequality P(some n: E_n >= 1/alpha) <= alpha: the error rate holds for all p <= q together,
exactly, at every interim analysis (Robbins 1970, Annals of Mathematical Statistics 41:1397;
mixtures over a truncated prior as in Howard et al. 2021, Annals of Statistics 49:1055). The first
half of the prior assumes that every launch has the property: with k = n = 8 at q = 1/2, E is 156,
and 80 suffices at alpha = 1.25 %. With 1 - p, 1 - q and n - k in place of p, q and k, the same
formula shows p < q.
"""

from __future__ import annotations

import functools
import math

from assay.stats.confidence_sequence import check_alpha
from assay.stats.interval import Interval

_BISECTIONS = 60
"""Number of bisections; they determine an end to its last digit."""


@functools.lru_cache(maxsize=65536)  # of a thousand cells most have the same counts
def evidence_above(done: int, launches: int, share: float) -> float:
    """Return log E: the evidence of ``done`` in ``launches`` for a probability above ``share``.

    Args:
        done: launches with the property, 0 to ``launches``.
        launches: number of launches.
        share: the probability to be exceeded, between 0 and 1.

    Raises:
        ValueError: ``done`` or ``share`` is out of range.
    """
    if not 0 <= done <= launches or not 0.0 < share < 1.0:
        raise ValueError(f"invalid share: {done} of {launches} launches against {share}")
    from scipy.special import betainc, betaln

    left = launches - done
    upper = float(betainc(1 + left, 1 + done, 1.0 - share))
    if upper > 0.0:
        mixed = float(betaln(1 + done, 1 + left)) + math.log(upper)
        mixed -= done * math.log(share) + (left + 1) * math.log1p(-share)
    else:  # the beta distribution underflows here
        mixed = -math.inf
    always = -launches * math.log(share) if done == launches else -math.inf
    return _log_mean(mixed, always)


def shows_above(done: int, launches: int, share: float, alpha: float) -> bool:
    """Return whether the true share is above ``share``, at error rate ``alpha``."""
    check_alpha(alpha)
    return evidence_above(done, launches, share) >= -math.log(alpha)


def shows_below(done: int, launches: int, share: float, alpha: float) -> bool:
    """Return whether the true share is below ``share``, at error rate ``alpha``."""
    return shows_above(launches - done, launches, 1.0 - share, alpha)


def share_interval(min_count: int, max_count: int, launches: int, alpha: float) -> Interval:
    """Return the interval of the true share.

    Args:
        min_count, max_count: launches that certainly have the property, and that may have it.
        launches: number of launches.
        alpha: accepted probability of the truth ever lying below the interval, and of it lying
            above.
    """
    check_alpha(alpha)
    return Interval(
        _largest_exceeded(min_count, launches, alpha),
        1.0 - _largest_exceeded(launches - max_count, launches, alpha),
    )


def launches_to_show(share: float, alpha: float) -> int:
    """Return the number of launches with the property that shows a share above ``share``."""
    low = max(1, math.floor(math.log(alpha) / math.log(share)))
    while not shows_above(low, low, share, alpha):
        low += 1
    return low


def _largest_exceeded(done: int, launches: int, alpha: float) -> float:
    """Return the largest share that the true one is shown to exceed; 0 if there is none."""
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if not 0.0 < middle < 1.0:
            break
        if shows_above(done, launches, middle, alpha):
            low = middle
        else:
            high = middle
    return low


def _log_mean(a: float, b: float) -> float:
    """Return the logarithm of the mean of two numbers, from their logarithms."""
    high, low = max(a, b), min(a, b)
    if math.isinf(high):
        return high
    return high + math.log1p(math.exp(low - high)) - math.log(2.0)
