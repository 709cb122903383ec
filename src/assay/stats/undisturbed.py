"""One effect from two intervals: over the undisturbed blocks and over all blocks.

A disturbance that does not follow the random order within blocks cannot favour an arm, so the
log-ratios of identical arms are symmetric with it and without it. Two intervals are therefore
valid: that of the undisturbed blocks, which is narrower if few blocks were disturbed, and that of
all blocks, which is narrower if most were. As soon as the two differ, each uses half of the error
rate. By the union bound both are then valid together, at every interim analysis, and assay may
report the
narrower one.

No error rate is lost before the first disturbed block, where both intervals are the same. In terms
of e-values (see ``assay.stats.confidence_sequence``): the mean of the martingale over undisturbed
blocks and the martingale over all blocks is a martingale, and the pair of intervals excludes no
value that the mean of the two does not exclude.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.records.workload import Goal
from assay.stats.paired import Effect, Observation, effect
from assay.stats.planned_analysis import Analysis

ALPHA_SHARE = 0.5
"""Share of the error rate for each of the two intervals."""


@dataclass(frozen=True, slots=True)
class BlockEffect:
    """An effect, with its number of disturbed blocks.

    Attributes:
        effect: B over A.
        disturbed: pairs among ``effect.blocks`` from disturbed blocks.
    """

    effect: Effect
    disturbed: int


def effect_of_blocks(
    a: Sequence[Observation | None],
    b: Sequence[Observation | None],
    disturbed: Sequence[bool],
    *,
    goal: Goal = Goal.LOWER,
    alpha: float = 0.05,
    resolution: float | None = None,
    median: bool = False,
    analysis: Analysis = Analysis.ANY,
) -> BlockEffect:
    """Estimate the effect of B against A from blocks some of which were disturbed.

    Args:
        a, b: one observation for each block (see ``assay.stats.paired.effect``).
        disturbed: whether each block was disturbed, decided independently of arms and values.
        goal, resolution, median, analysis: see ``assay.stats.paired.effect``.
        alpha: accepted probability that the truth is ever outside the interval.

    Returns:
        The effect over all blocks if no pair was disturbed; else the effect with the narrower
        interval; the effect over all blocks if neither interval is bounded.
    """

    def over(
        left: Sequence[Observation | None], right: Sequence[Observation | None], level: float
    ) -> Effect:
        return effect(
            left,
            right,
            goal=goal,
            alpha=level,
            resolution=resolution,
            median=median,
            analysis=analysis,
        )

    lost = sum(
        out and x is not None and y is not None for x, y, out in zip(a, b, disturbed, strict=True)
    )
    if not lost:
        return BlockEffect(over(a, b, alpha), 0)
    whole = over(a, b, ALPHA_SHARE * alpha)
    kept = [at for at, out in enumerate(disturbed) if not out]
    quiet = over([a[at] for at in kept], [b[at] for at in kept], ALPHA_SHARE * alpha)
    if quiet.ratio is None or _width(whole) <= _width(quiet):
        return BlockEffect(whole, lost)
    return BlockEffect(quiet, 0)


def _width(found: Effect) -> tuple[int, float]:
    """Return the sort key of an interval: number of open ends, then logarithmic width."""
    ends = (found.lo > 0.0, math.isfinite(found.hi))
    return 2 - sum(ends), math.log(found.hi / found.lo) if all(ends) else 0.0
