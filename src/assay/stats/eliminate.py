"""Eliminate: which arms leave a race. A search aid; no claim rests on it.

The rule: an arm leaves when the interval of its paired log-difference to the leader, at
alpha = 0.2 and valid at every look, lies wholly above 0. So the chance that an arm as good as a
given leader is ever dropped against it is at most 10 % (one side of 20 %), however many blocks
the race goes on; what is not guarded is that the leader was chosen because it looked best, which
makes drops somewhat easier. A wrong drop costs a little regret and never a wrong claim, since
claims come from fresh blocks, so a sharper level or a correction for the number of arms would
buy nothing but longer races. The first drop takes four blocks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.stats.interval import Interval
from assay.stats.sequence import least, mean_sequence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

ALPHA = 0.2
"""Two-sided; half of it is the chance of ever dropping an arm as good as the leader."""


def scores(log_values: Matrix) -> list[float]:
    """Standing of each arm: its effect in the least-squares fit "block + arm".

    Fitting the blocks keeps arms comparable that ran in different blocks of a drifting session.

    Args:
        log_values: blocks x arms, logarithms of a metric where lower is better; NaN where an arm
            did not run or failed. A time-out counts as its cap.

    Returns:
        One number an arm, with mean 0 over the arms that ran; NaN for arms that never ran. Arms
        that share no block with the others, directly or through third ones, are fitted apart.

    Raises:
        ValueError: not a matrix, or a value is infinite.
    """
    import numpy as np

    values = np.asarray(log_values, dtype=np.float64)
    if values.ndim != 2 or np.isinf(values).any():
        raise ValueError("a race needs a matrix of blocks x arms: finite logarithms, or NaN")
    rows, arms = np.nonzero(~np.isnan(values))
    blocks, width = values.shape
    found = np.full(width, math.nan)
    if len(rows) == 0:
        return [float(v) for v in found]
    design = np.zeros((len(rows), blocks + width))
    design[np.arange(len(rows)), rows] = 1.0
    design[np.arange(len(rows)), blocks + arms] = 1.0
    fit = np.linalg.lstsq(design, values[rows, arms], rcond=None)[0][blocks:]
    ran = np.unique(arms)
    found[ran] = fit[ran] - fit[ran].mean()
    return [float(v) for v in found]


def leader(log_values: Matrix, racing: list[int] | None = None) -> int | None:
    """The arm that stands best; the first of equals.

    Args:
        log_values: as for ``scores``.
        racing: arms that may lead; all if absent.

    Returns:
        Index of the arm; ``None`` if none of them ran.
    """
    standing = scores(log_values)
    candidates = range(len(standing)) if racing is None else racing
    ran = [arm for arm in candidates if not math.isnan(standing[arm])]
    return min(ran, key=lambda arm: (round(standing[arm], 12), arm), default=None)


def against(
    log_values: Matrix, arm: int, other: int, alpha: float = ALPHA, resolution: float = 0.0
) -> Interval:
    """Interval of how much higher the logarithm of ``arm`` is than of ``other``.

    Args:
        log_values: as for ``scores``; blocks in which both ran count.
        arm: index of one arm.
        other: index of another.
        alpha: accepted chance that the truth is ever outside.
        resolution: relative step of the measurement.
    """
    import numpy as np

    values = np.asarray(log_values, dtype=np.float64)
    gaps = values[:, arm] - values[:, other]
    usable = [float(gap) for gap in gaps[~np.isnan(gaps)]]
    return mean_sequence(usable, alpha, resolution=resolution, start=least(alpha))


def worse(
    log_values: Matrix,
    racing: list[int] | None = None,
    alpha: float = ALPHA,
    resolution: float = 0.0,
) -> list[int]:
    """The arms that leave the race now, in rising order; never the leader.

    Args:
        log_values: as for ``scores``.
        racing: arms still in the race; all if absent.
        alpha: two-sided level of each comparison.
        resolution: relative step of the measurement.
    """
    best = leader(log_values, racing)
    if best is None:
        return []
    candidates = range(log_values.shape[1]) if racing is None else sorted(racing)
    return [
        arm
        for arm in candidates
        if arm != best and against(log_values, arm, best, alpha, resolution).lo > 0.0
    ]
