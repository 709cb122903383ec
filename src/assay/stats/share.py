r"""Share: how many of all launches do something, from those that did, valid at every look.

Whether a launch keeps a bound is a throw of a coin that falls with an unknown chance p, whatever
the distribution of the figure is. To show p > q, the likelihood of k of n launches under a mixture
of chances above q is held against that under q itself:

    E_n = 1/2 q^(-n) [k = n]  +  1/2 * 1/(1 - q) * int_q^1 (x/q)^k ((1 - x)/(1 - q))^(n - k) dx.

The integral is an incomplete beta function. Each factor x/q or (1 - x)/(1 - q) has, for x >= q, a
mean of at most 1 under every p <= q. So E_n is a supermartingale of mean 1 for all of them, and by
Ville's inequality P(some n: E_n >= 1/alpha) <= alpha: the error holds for p <= q together, exactly,
at every look (Robbins 1970, Annals of Mathematical Statistics 41:1397; mixtures over a truncated
prior as in Howard et al. 2021, Annals of Statistics 49:1055). The first half of the prior says that
every launch does it: with k = n = 8 at q = 1/2 and alpha = 1.25 %, E is 80. The same with p, q, k
turned to 1 - p, 1 - q, n - k shows p < q.
"""

from __future__ import annotations

import functools
import math

from assay.stats.confidence_sequence import check_alpha
from assay.stats.interval import Interval

_STEPS = 60
"""Bisections: an end is known to its last digit then."""


@functools.lru_cache(maxsize=65536)  # of a thousand cells most have the same counts
def evidence_above(done: int, launches: int, share: float) -> float:
    """Logarithm of E: how strongly ``done`` of ``launches`` speak for a chance above ``share``.

    Args:
        done: launches that did it, 0 to ``launches``.
        launches: all.
        share: the chance that is to be exceeded, between 0 and 1.

    Raises:
        ValueError: no such number or no such share.
    """
    if not 0 <= done <= launches or not 0.0 < share < 1.0:
        raise ValueError(f"{done} of {launches} against {share} makes no sense")
    from scipy.special import betainc, betaln

    left = launches - done
    upper = float(betainc(1 + left, 1 + done, 1.0 - share))
    if upper > 0.0:
        mixed = float(betaln(1 + done, 1 + left)) + math.log(upper)
        mixed -= done * math.log(share) + (left + 1) * math.log1p(-share)
    else:  # the beta distribution lies so far below that nothing of it is left in floating point
        mixed = -math.inf
    always = -launches * math.log(share) if done == launches else -math.inf
    return _log_mean(mixed, always)


def shows_above(done: int, launches: int, share: float, alpha: float) -> bool:
    """Whether more than ``share`` of all launches do it, but for an error of ``alpha``."""
    check_alpha(alpha)
    return evidence_above(done, launches, share) >= -math.log(alpha)


def shows_below(done: int, launches: int, share: float, alpha: float) -> bool:
    """Whether fewer than ``share`` of all launches do it, but for an error of ``alpha``."""
    return shows_above(launches - done, launches, 1.0 - share, alpha)


def share_interval(least: int, most: int, launches: int, alpha: float) -> Interval:
    """Between which shares the true one lies.

    Args:
        least, most: launches that did it for certain, and that may have.
        launches: all.
        alpha: accepted chance that the truth is ever below the interval, and that it is above.
    """
    check_alpha(alpha)
    return Interval(
        _largest_exceeded(least, launches, alpha),
        1.0 - _largest_exceeded(launches - most, launches, alpha),
    )


def launches_to_show(share: float, alpha: float) -> int:
    """The fewest launches that show a chance above ``share``: all of them do it."""
    low = max(1, math.floor(math.log(alpha) / math.log(share)))
    while not shows_above(low, low, share, alpha):
        low += 1
    return low


def _largest_exceeded(done: int, launches: int, alpha: float) -> float:
    """The largest share that the true one is shown to exceed; 0 where none is."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if not 0.0 < middle < 1.0:
            break
        if shows_above(done, launches, middle, alpha):
            low = middle
        else:
            high = middle
    return low


def _log_mean(a: float, b: float) -> float:
    """Logarithm of the mean of two numbers, from their logarithms."""
    high, low = max(a, b), min(a, b)
    if math.isinf(high):
        return high
    return high + math.log1p(math.exp(low - high)) - math.log(2.0)
