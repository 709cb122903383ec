"""What a recording of identical launches tells: noise, assay's own errors, and what can be shown.

The studies that are made out of it are looked at by the rules of real ones (``stats.peeking``).
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.records.calibration import Calibration, FalseVerdicts, SmallestGain
from assay.records.claim import Claim, Verdict
from assay.records.study import DEFAULT_MARGIN
from assay.search.history.looks import is_look_due
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.stats.confidence_sequence import MIN_CLAIM_VALUES, moments
from assay.stats.drift import drift_ratio
from assay.stats.peeking import simulate_looks
from assay.stats.quantile import quantile
from assay.stats.resample import resampled
from assay.stats.sequence import CLAIM, moments
from assay.stats.verdict import MARGIN
from assay.wording.calibration import different_arms_note, few_blocks_note

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

MIN_BLOCKS = 20
"""Blocks below which nothing is made out of a recording."""
SIMULATED_STUDIES = 1000
"""Studies by which assay's own errors are counted."""
MAX_STUDY_BLOCKS = 200
"""The longest of them."""
BUDGETS_S = (60.0, 300.0, 1200.0)
"""For which the smallest gain is told."""
POWER = 0.9
POWER_STUDIES = 200
MAX_SIMULATED_BLOCKS = 5000
"""Longer studies are not made: what is told of them is what these show."""
GAINS = tuple(0.001 * 1.1**k for k in range(66))
"""Shares of time that are tried: 0.1 % to a half, each a tenth larger than the last."""


def calibration_of(
    recorded: Sequence[tuple[float, float]],
    *,
    alpha: float = 0.05,
    margin: float = DEFAULT_MARGIN,
    seed: int = 0,
    budgets_s: Sequence[float] = BUDGETS_S,
) -> Calibration | None:
    """The figures of a recording.

    Args:
        recorded: the two values of each block in seconds, positive, in order.
        alpha: share of wrong claims accepted.
        margin: ratio differences below it count as none.
        seed: of the studies that are made.
        budgets_s: for which the smallest gain is told.

    Returns:
        ``None`` below two blocks.
    """
    if len(recorded) < 2:
        return None
    values = [value for block in recorded for value in block]
    logs = [math.log(value) for value in values]
    median = quantile(values, 0.5)
    _, sd = moments(logs)
    second, ratio_sd = moments([math.log(b / a) for a, b in recorded])
    enough = len(recorded) >= MIN_BLOCKS
    log_blocks = [(math.log(a), math.log(b)) for a, b in recorded]
    return Calibration(
        median=median,
        sd_log=sd,
        ratio_sd_log=ratio_sd,
        position=math.exp(second),
        drift=drift_ratio(values),
        autocorrelation=autocorrelation(logs),
        false_verdicts=false_verdicts(log_blocks, alpha, margin, seed) if enough else None,
        gains=smallest_gains(log_blocks, budgets_s, median, alpha, seed) if enough else (),
    )


def calibration_notes(floor: Claim | None, blocks: int) -> list[str]:
    """What weakens a calibration.

    Args:
        floor: the claim on the two identical arms.
        blocks: that were recorded undisturbed.
    """
    notes = []
    if blocks < MIN_BLOCKS:
        notes.append(few_blocks_note(blocks, MIN_BLOCKS))
    if floor is not None and floor.verdict in (Verdict.FASTER, Verdict.SLOWER):
        notes.append(different_arms_note(floor))
    return notes


def autocorrelation(logs: Sequence[float]) -> float | None:
    """Of each value with the next; ``None`` below three values, or where none vary."""
    mean, sd = moments(logs)
    if len(logs) < 3 or sd == 0.0:
        return None
    away = [value - mean for value in logs]
    products = (x * y for x, y in itertools.pairwise(away))
    return math.fsum(products) / math.fsum(x * x for x in away)


def false_verdicts(
    log_blocks: Sequence[tuple[float, float]], alpha: float, margin: float, seed: int
) -> FalseVerdicts:
    """How often identical arms are told apart that are looked at after every block."""
    blocks = min(len(log_blocks), MAX_STUDY_BLOCKS)
    a, b = resample(log_blocks, SIMULATED_STUDIES, blocks, seed)
    endings = simulate_looks(a, b, alpha=alpha, margin=margin, coverage=False)
    share = sum(ending.differs for ending in endings) / SIMULATED_STUDIES
    # One study in all stands for the error where there was none.
    variance = max(share * (1.0 - share), 1.0 / SIMULATED_STUDIES)
    return FalseVerdicts(
        share=share,
        error=math.sqrt(variance / SIMULATED_STUDIES),
        studies=SIMULATED_STUDIES,
        blocks=blocks,
    )


def smallest_gains(
    log_blocks: Sequence[tuple[float, float]],
    budgets_s: Sequence[float],
    median_s: float,
    alpha: float,
    seed: int,
) -> tuple[SmallestGain, ...]:
    """The smallest gain that is shown within each budget, by a program of this duration.

    A gain is put in by making one arm so much faster; a study shows it where it says *faster* by
    then. No margin counts as none: to be shown, a gain below it takes a ``--margin`` as small. The
    warm-up launch of each arm is taken off the budget.
    """
    launch_s = median_s + LAUNCH_OVERHEAD_S
    found = []
    for budget_s in budgets_s:
        blocks = max(0, math.floor((budget_s - 2 * launch_s) / (2 * launch_s)))
        made = min(blocks, MAX_SIMULATED_BLOCKS)
        gain = None
        if made >= MIN_CLAIM_VALUES:
            a, b = resample(log_blocks, POWER_STUDIES, made, seed)
            gain = _smallest_gain(a, b, alpha)
        cut = made if made < blocks else None
        found.append(
            SmallestGain(budget_s=budget_s, blocks=blocks, simulated_blocks=cut, gain=gain)
        )
    return tuple(found)


def _smallest_gain(a: Matrix, b: Matrix, alpha: float) -> float | None:
    """By bisection: a larger gain is shown at least as often."""
    looks = [n for n in range(1, a.shape[1] + 1) if is_look_due(n)]

    def shown(gain: float) -> bool:
        faster = b + math.log1p(-gain)
        endings = simulate_looks(a, faster, alpha=alpha, margin=0.0, looks=looks, coverage=False)
        return sum(e.verdict is Verdict.FASTER for e in endings) >= POWER * len(endings)

    at = bisect.bisect_left(GAINS, True, key=shown)
    return GAINS[at] if at < len(GAINS) else None
