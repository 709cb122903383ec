"""Interference between parallel launches, and whether a search tolerates it.

Programs on disjoint CPUs still share caches, memory, power and disks. Before a search launches in
parallel, the default runs alone and in parallel with copies of itself, in a few blocks. A
confirmation always runs alone, so that no claim depends on this result.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from assay.records import Arm, Goal, Interference, Sample, Stage, StudySpec
from assay.search.history.history import DEFAULT_ARM, History
from assay.stats.interval import ratio_ends
from assay.wording.launch_notes import (
    NO_ROOM_FOR_INTERFERENCE,
    SIDE_BY_SIDE_ARM,
    TOO_FEW_VALUES,
    noisier_side_by_side,
    one_at_a_time_note,
    slower_side_by_side,
)

PARALLEL_ARM = Arm(name=SIDE_BY_SIDE_ARM, configuration=DEFAULT_ARM.configuration)
"""The default running in all slots in parallel."""
BLOCKS = 5
"""Number of blocks in which it runs once alone and once in all slots."""
MIN_PAIRS = 4
"""Minimum number of these blocks with both values."""
CONFIDENCE = 0.95
MAX_SLOWDOWN = 0.10
"""Slowdown of the default above which a search runs one launch at a time,"""
MAX_NOISE_RATIO = 2.0
"""or factor on the noise of single launches above which it does,"""
MAX_MARGIN_SHARE = 0.5
"""unless the noise is within this share of the margin."""


def interference_of(spec: StudySpec, history: History) -> Interference | None:
    """Return the measured interference and its consequence; ``None`` for a serial study."""
    if spec.parallel is None:
        return None
    blocks = history.complete(Stage.INTERFERENCE)
    gaps = _gaps(history, blocks)
    if len(gaps) < MIN_PAIRS:
        return Interference(
            concurrent_launches=spec.parallel,
            blocks=len(gaps),
            sequential_reason=_why_unknown(spec, history),
        )
    alone, parallel = (_noise(history, arm) for arm in (DEFAULT_ARM, PARALLEL_ARM))
    low, high = _ends(gaps)
    sign = 1.0 if history.goal is Goal.LOWER else -1.0
    return Interference(
        concurrent_launches=spec.parallel,
        blocks=len(gaps),
        ratio=math.exp(statistics.fmean(gaps)),
        ci=ratio_ends(math.exp(low), math.exp(high)),
        exclusive_sd_log=alone,
        concurrent_sd_log=parallel,
        noise_ratio=parallel / alone if alone > 0.0 else None,
        sequential_reason=_refusal(
            sign * (low if sign > 0 else high), alone, parallel, spec.margin
        ),
    )


def _gaps(history: History, blocks: Sequence[int]) -> list[float]:
    """Return log(parallel / alone) of each block with both values."""
    pairs = zip(
        history.observations(Stage.INTERFERENCE, DEFAULT_ARM.name, blocks),
        history.observations(Stage.INTERFERENCE, PARALLEL_ARM.name, blocks),
        strict=True,
    )
    return [
        math.log(parallel.value / alone.value)
        for alone, parallel in pairs
        if alone is not None
        and parallel is not None
        and not alone.censored
        and not parallel.censored
    ]


def _ends(gaps: Sequence[float]) -> tuple[float, float]:
    """Return Student's interval of the mean: the number of blocks is fixed in advance."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(len(gaps) - 1, 0.5 + CONFIDENCE / 2))
    half = quantile * statistics.stdev(gaps) / math.sqrt(len(gaps))
    mean = statistics.fmean(gaps)
    return mean - half, mean + half


def _noise(history: History, arm: Arm) -> float:
    """Return the noise of single launches of an arm: standard deviation of the logarithm."""
    samples = (s for s in history.samples if _is_of(s, arm))
    found = (history.observation(sample) for sample in samples)
    return statistics.stdev([math.log(o.value) for o in found if o is not None])


def _is_of(sample: Sample, arm: Arm) -> bool:
    return sample.launch.stage is Stage.INTERFERENCE and sample.launch.arm == arm.name


def _refusal(slower: float, alone: float, parallel: float, margin: float) -> str | None:
    """Return the reason against parallel launches.

    Args:
        slower: certain slowdown of the default, as a logarithm.
        alone, parallel: noise of single launches.
        margin: ratio differences below it count as none.
    """
    if slower > math.log1p(MAX_SLOWDOWN):
        return slower_side_by_side(math.exp(slower), MAX_SLOWDOWN)
    if parallel > MAX_NOISE_RATIO * alone and parallel > MAX_MARGIN_SHARE * margin:
        return noisier_side_by_side(parallel / alone if alone else None, MAX_NOISE_RATIO)
    return None


def _why_unknown(spec: StudySpec, history: History) -> str:
    if len(history.blocks(Stage.INTERFERENCE)) < BLOCKS:
        return NO_ROOM_FOR_INTERFERENCE
    return TOO_FEW_VALUES


def interference_notes(found: Interference | None) -> list[str]:
    """Return a note if launches ran serially although parallel launches were requested."""
    if found is None or found.sequential_reason is None:
        return []
    return [one_at_a_time_note(found.sequential_reason)]
