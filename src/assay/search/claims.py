"""Claims from paired observations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.records import Claim, Goal, Metric
from assay.stats.paired import Observation, effect
from assay.stats.sequence import CLAIM
from assay.stats.shift import shifts, spread_ratio
from assay.stats.verdict import Verdict, blocks_needed, decide

MIN_BLOCKS = CLAIM
"""No claim rests on fewer blocks than this (docs/statistics.md, rule 14)."""

ALIKE = 20
"""A figure that was the same this often is taken for constant."""


def claim(
    names: tuple[str, str],
    a: Sequence[Observation | None],
    b: Sequence[Observation | None],
    metric: Metric,
    *,
    alpha: float,
    margin: float,
) -> Claim | None:
    """What the blocks say of ``b`` against ``a``; ``None`` where no block has both.

    Args:
        names: of the two arms.
        a, b: one entry a block.
        metric: the objective.
        alpha: chance that the interval is ever wrong, already shared out among the intervals shown.
        margin: ratio differences below it count as none.

    Raises:
        BadInput: a value has no logarithm.
    """
    found = effect(a, b, goal=metric.goal, alpha=alpha)
    if found.ratio is None:
        return None
    verdict = decide(found, goal=metric.goal, margin=margin)
    if found.blocks < MIN_BLOCKS:
        verdict = Verdict.UNCLEAR
    values = [[_shown(o, metric) for o in arm if o is not None] for arm in (a, b)]
    return Claim(
        a=names[0],
        b=names[1],
        metric=metric.name,
        ratio=found.ratio,
        ci=(found.lo or None, found.hi if math.isfinite(found.hi) else None),
        verdict=verdict,
        blocks=found.blocks,
        margin=margin,
        alpha=alpha,
        method=found.method,
        blocks_needed=blocks_needed(found, margin=margin) if verdict is Verdict.UNCLEAR else None,
        bound_only=found.bound_only,
        censored_share=found.censored_share,
        spread_ratio=spread_ratio(*values),
        shift={f"p{100 * s.p:.0f}": s.ratio for s in shifts(*values) if s.ratio is not None},
    )


def _shown(observation: Observation, metric: Metric) -> float:
    """A censored value lies beyond every quantile it could enter."""
    if not observation.censored:
        return observation.value
    return math.inf if metric.goal is Goal.LOWER else 0.0


def alike(values: Sequence[float]) -> bool:
    """Whether further values would tell nothing new, however coarse the figure is."""
    return len(values) >= ALIKE and len(set(values)) == 1


def precise(found: Claim) -> bool:
    """Whether a decided claim also tells well enough how large the difference is.

    That is: half the interval is at most a quarter of the effect, or at most the margin. Where
    time-outs leave no more than a bound, further blocks would tell nothing new.
    """
    lo, hi = found.ci
    if found.verdict is Verdict.UNCLEAR:
        return False
    if found.verdict is Verdict.SAME or found.bound_only:
        return True
    if lo is None or hi is None:
        return False
    half = (math.log(hi) - math.log(lo)) / 2
    return half <= max(math.log1p(found.margin), abs(math.log(found.ratio)) / 4)
