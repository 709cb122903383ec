"""Spread: the ratio of the between-launch variation of two arms.

The spread of a handful of launches is their p90 - p10. Blocks are taken in batches; each batch
gives one log-ratio of the spreads of both arms, and the mean of these has an interval that is valid
at every interim analysis (``confidence_sequence``), since batches are as independent as blocks are.
For two distributions of one shape the mean log-ratio is that of their scales, whatever the batch;
where shapes differ it is that of p90 - p10 within a batch. Drift slower than a batch cancels.

Batches of five: the information of a block on a Gaussian scale is within a tenth of its maximum at
five to ten blocks in a batch, and smaller batches reach the least number of values for a claim
sooner.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.records.claim import SpreadVerdict
from assay.stats.confidence_sequence import last_digit, mean_sequence
from assay.stats.interval import UNBOUNDED, Interval
from assay.stats.quantile import quantile

BATCH_BLOCKS = 5
"""Number of blocks in a batch, which gives one spread."""

EQUIVALENCE_RATIO = 1.25
"""Factor below which spreads are equivalent."""


@dataclass(frozen=True, slots=True)
class SpreadEffect:
    """Spread of B over that of A.

    Attributes:
        ratio: exp(mean of the log-ratios of the batches); ``None`` without a whole batch.
        lo, hi: interval of the ratio, valid at every interim analysis; 0 and infinity are open
            ends.
        batches: number of batches.
        verdict: *tighter* or *wider* if the interval excludes 1, *same* if it lies within a factor
            of ``EQUIVALENCE_RATIO`` of 1, else *unclear*.
    """

    ratio: float | None
    lo: float
    hi: float
    batches: int
    verdict: SpreadVerdict


def spread_effect(
    a: Sequence[float], b: Sequence[float], *, alpha: float = 0.05, batch: int = BATCH_BLOCKS
) -> SpreadEffect:
    """Return the effect of B on the spread, from values of the same blocks.

    Args:
        a, b: finite values of both arms, one for each block, in block order, same unit; blocks
            beyond the last whole batch are left out.
        alpha: accepted probability that the truth is ever outside the interval.
        batch: number of blocks in a batch.

    Raises:
        ValueError: unequal lengths, a non-finite value, or ``alpha`` is not between 0 and 1.
    """
    if len(a) != len(b):
        raise ValueError(f"arm A has {len(a)} values and arm B {len(b)}: both need one per block")
    floor = max((_step(arm) for arm in (a, b) if arm), default=0.0)
    ratios = [
        math.log(_spread(b[at : at + batch], floor) / _spread(a[at : at + batch], floor))
        for at in range(0, len(a) - batch + 1, batch)
        if floor > 0.0
    ]
    if not ratios:
        return SpreadEffect(None, 0.0, math.inf, 0, SpreadVerdict.UNCLEAR)
    interval = mean_sequence(ratios, alpha) if len(ratios) > 1 else UNBOUNDED
    return SpreadEffect(
        ratio=math.exp(math.fsum(ratios) / len(ratios)),
        lo=_exp(interval.lo),
        hi=_exp(interval.hi),
        batches=len(ratios),
        verdict=_judge(interval),
    )


def batch_spread(values: Sequence[float]) -> float:
    """Return p90 - p10 of at least one value, bounded below by the measurement step.

    If all values are equal, the result is their last digit.
    """
    return _spread(values, _step(values))


def _judge(interval: Interval) -> SpreadVerdict:
    if interval.hi < 0.0:
        return SpreadVerdict.TIGHTER
    if interval.lo > 0.0:
        return SpreadVerdict.WIDER
    near = math.log(EQUIVALENCE_RATIO)
    if -near <= interval.lo and interval.hi <= near:
        return SpreadVerdict.SAME
    return SpreadVerdict.UNCLEAR


def _spread(values: Sequence[float], floor: float) -> float:
    """Return p90 - p10, at least the measurement step ``floor``."""
    return max(quantile(values, 0.9) - quantile(values, 0.1), floor)


def _step(values: Sequence[float]) -> float:
    """Return the smallest difference between values; the last digit if all are equal."""
    ordered = sorted(values)
    tiny = 1e-12 * max(map(abs, ordered))
    steps = [y - x for x, y in itertools.pairwise(ordered) if y - x > tiny]
    return min(steps) if steps else last_digit(ordered)


def _exp(value: float) -> float:
    return math.inf if value > 700.0 else math.exp(value)
