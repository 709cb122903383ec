"""Calibration: noise of identical launches, error rate of assay, and smallest provable gain.

Resampled studies follow the rules of real ones (``stats.peeking``).
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.records.calibration import Calibration, FalseVerdicts, SmallestGain
from assay.records.claim import Claim, Verdict
from assay.search.history.interim_analyses import is_analysis_due
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.stats.confidence_sequence import MIN_CLAIM_VALUES, moments
from assay.stats.drift import drift_ratio
from assay.stats.peeking import simulate_studies
from assay.stats.quantile import quantile
from assay.stats.resample import resample
from assay.stats.verdict import DEFAULT_MARGIN
from assay.wording.calibration import different_arms_note, few_blocks_note

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

MIN_BLOCKS = 20
"""Smallest number of blocks for resampled studies."""
SIMULATED_STUDIES = 1000
"""Number of resampled studies for the error rate of assay."""
MAX_STUDY_BLOCKS = 200
"""Largest number of blocks of such a study."""
BUDGETS_S = (60.0, 300.0, 1200.0)
"""Budgets for the smallest gain, in seconds."""
POWER = 0.9
"""Share of the simulated studies that must prove a gain."""
POWER_STUDIES = 200
"""Number of simulated studies for each gain."""
MAX_SIMULATED_BLOCKS = 5000
"""Largest number of simulated blocks; it stands for longer studies as well."""
GAINS = tuple(0.001 * 1.1**k for k in range(66))
"""Gains to simulate, as shares of time: 0.1 % to a half, each a tenth larger than the previous."""


def calibration_of(
    recorded: Sequence[tuple[float, float]],
    *,
    alpha: float = 0.05,
    margin: float = DEFAULT_MARGIN,
    seed: int = 0,
    budgets_s: Sequence[float] = BUDGETS_S,
) -> Calibration | None:
    """Return the results of a recording.

    Args:
        recorded: the two values of each block in seconds, positive, in order.
        alpha: accepted share of wrong claims.
        margin: ratio differences below it count as none.
        seed: seed of the resampled studies.
        budgets_s: budgets for the smallest gain, in seconds.

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
    """Return notes on the limits of a calibration.

    Args:
        floor: claim on the two identical arms.
        blocks: number of undisturbed blocks.
    """
    notes = []
    if blocks < MIN_BLOCKS:
        notes.append(few_blocks_note(blocks, MIN_BLOCKS))
    if floor is not None and floor.verdict in (Verdict.FASTER, Verdict.SLOWER):
        notes.append(different_arms_note(floor))
    return notes


def autocorrelation(logs: Sequence[float]) -> float | None:
    """Return the lag-one autocorrelation; ``None`` below three values, or without variance."""
    mean, sd = moments(logs)
    if len(logs) < 3 or sd == 0.0:
        return None
    away = [value - mean for value in logs]
    products = (x * y for x, y in itertools.pairwise(away))
    return math.fsum(products) / math.fsum(x * x for x in away)


def false_verdicts(
    log_blocks: Sequence[tuple[float, float]], alpha: float, margin: float, seed: int
) -> FalseVerdicts:
    """Return the share of studies of identical arms that find a difference, by interim analyses."""
    blocks = min(len(log_blocks), MAX_STUDY_BLOCKS)
    a, b = resample(log_blocks, SIMULATED_STUDIES, blocks, seed)
    endings = simulate_studies(a, b, alpha=alpha, margin=margin, coverage=False)
    share = sum(ending.differs for ending in endings) / SIMULATED_STUDIES
    # Without any error, the variance of a single error is used.
    variance = max(share * (1.0 - share), 1.0 / SIMULATED_STUDIES)
    return FalseVerdicts(
        share=share,
        standard_error=math.sqrt(variance / SIMULATED_STUDIES),
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
    """Return the smallest gain that is proven within each budget, for a program of this duration.

    One arm is made faster by the gain; a study proves it with the verdict *faster*. The margin is
    0: a smaller gain takes an equally small ``--margin``. The warm-up launch of each arm counts
    against the budget.
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
    """Return the smallest gain by bisection: a larger one is proven at least as often."""
    analyses = [n for n in range(1, a.shape[1] + 1) if is_analysis_due(n)]

    def shown(gain: float) -> bool:
        faster = b + math.log1p(-gain)
        endings = simulate_studies(
            a, faster, alpha=alpha, margin=0.0, analyses=analyses, coverage=False
        )
        return sum(e.verdict is Verdict.FASTER for e in endings) >= POWER * len(endings)

    at = bisect.bisect_left(GAINS, True, key=shown)
    return GAINS[at] if at < len(GAINS) else None
