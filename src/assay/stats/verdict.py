"""Verdict: classification of an effect as faster, slower, same or unclear."""

from __future__ import annotations

import math

from assay.records.claim import Verdict
from assay.records.study import DEFAULT_MARGIN
from assay.records.workload import Goal
from assay.stats.confidence_sequence import half_width
from assay.stats.paired import Effect
from assay.stats.smallest_count import smallest_count

__all__ = ["DEFAULT_MARGIN", "Verdict", "is_beyond_margin", "blocks_needed", "decide"]


def decide(effect: Effect, *, goal: Goal = Goal.LOWER, margin: float = DEFAULT_MARGIN) -> Verdict:
    """Return the verdict on B.

    The verdict is *same* if the interval lies within 1 +- margin; else *faster* or *slower*, by the
    direction of the metric, if it excludes 1; else *unclear*.

    Args:
        effect: B over A.
        goal: direction in which the metric improves.
        margin: smallest difference of interest, relative; 0 switches *same* off.

    Raises:
        ValueError: ``margin`` is not from 0 to 1.
    """
    _check_margin(margin)
    if margin > 0.0 and effect.lo >= 1.0 - margin and effect.hi <= 1.0 + margin:
        return Verdict.SAME
    if effect.hi < 1.0:
        return Verdict.FASTER if goal is Goal.LOWER else Verdict.SLOWER
    if effect.lo > 1.0:
        return Verdict.SLOWER if goal is Goal.LOWER else Verdict.FASTER
    return Verdict.UNCLEAR


def is_beyond_margin(lo: float, hi: float, *, margin: float = DEFAULT_MARGIN) -> bool:
    """Return whether the whole interval of a ratio lies outside 1 +- margin.

    Args:
        lo, hi: ends of the interval; 0 and infinity are open.
        margin: smallest difference of interest, relative.

    Raises:
        ValueError: ``margin`` is not from 0 to 1.
    """
    _check_margin(margin)
    return lo > 1.0 + margin or hi < 1.0 - margin


def blocks_needed(
    effect: Effect, *, margin: float = DEFAULT_MARGIN, doubt: float = 0.0
) -> int | None:
    """Estimate the total number of blocks that would decide at the present ratio and spread.

    The result is the first n at which the interval about the present ratio would exclude 1 or lie
    within 1 +- margin. The ratio is uncertain in an unclear comparison, so the true number may
    be half or twice the estimate. For medians of uncensored pairs the estimate uses the interval of
    the mean at the same spread.

    Args:
        effect: B over A.
        margin: smallest difference of interest, relative.
        doubt: number of standard errors by which the effect may differ; the result is the minimum
            over that range.

    Returns:
        At least the present number of blocks. ``None`` if it is unknown: fewer than two pairs, no
        spread, no estimate, or a measurement that is too coarse.

    Raises:
        ValueError: ``margin`` is not from 0 to 1.
    """
    _check_margin(margin)
    if effect.ratio is None or effect.bound_only or effect.sd is None:
        return None
    centre, sd = math.log(effect.ratio), effect.sd
    if effect.method == "median":
        sd *= math.sqrt(math.pi / 2.0)  # the median of Gaussian values is that much less precise
    reach = doubt * sd / math.sqrt(effect.blocks)
    nearest = math.copysign(max(0.0, abs(centre) - reach), centre)
    same = min(math.log1p(margin) - nearest, nearest - math.log1p(-margin))
    room = max(abs(centre) + reach, same)

    def decided(n: int) -> bool:
        return half_width(n, sd, effect.alpha, resolution=effect.resolution) < room

    return smallest_count(decided, max(effect.blocks, 1))


def _check_margin(margin: float) -> None:
    if not 0.0 <= margin < 1.0:
        raise ValueError(f"a margin must be at least 0 and below 1, not {margin}")
