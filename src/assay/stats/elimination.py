"""Elimination of arms from a race: a search aid; no claim rests on it.

The rule: an arm is eliminated when the interval of its paired log-difference to the leader, at
alpha = 0.2 and valid at every interim analysis, lies wholly above 0. So the chance that an arm as
good as a given leader is ever eliminated is at most 10 % (one side of 20 %), however many blocks
the race goes on; the selection of the leader by its observed value is not corrected, which makes
eliminations somewhat easier. A wrong elimination costs a little regret and never a wrong claim,
since claims come from fresh blocks. A stricter level or a correction for the number of arms would
only make races longer. The first elimination needs four blocks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.stats.confidence_sequence import mean_sequence, min_values
from assay.stats.interval import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

ALPHA = 0.2
"""Two-sided; half of it is the chance of ever dropping an arm as good as the leader."""

RIDGE = 1e-9
"""Added to the diagonal of the normal equations, whose own entries are of the order of 1."""

EQUAL_DECIMALS = 8
"""Arm effects that agree to this number of decimals are equal: the ridge shifts them by less."""


def arm_effects(log_values: Matrix) -> list[float]:
    """Return the effect of each arm in the least-squares fit "block + arm"; lower is better.

    Fitting the blocks keeps arms comparable that ran in different blocks of a drifting session.
    With the block effects eliminated, the arms' effects x solve ``L x = b``, where for arms i, j
    ``L_ij = [i = j] n_i - sum over blocks with both of 1 / (arms in the block)`` and ``b_i`` is the
    sum of the arm's distances to the means of its blocks (Searle, Linear Models, 1971, ch. 7). The
    size of this system is the number of arms; the fit's own design matrix has a row for every
    launch, which a search over short programs would spend most of its budget on.

    Args:
        log_values: blocks x arms, logarithms of a metric where lower is better; NaN where an arm
            did not run or failed. A time-out counts as its cap.

    Returns:
        One number for each arm, with mean 0 over the arms that ran; NaN for arms that never ran.
        Only differences between arms that shared blocks, directly or through third ones, are valid.

    Raises:
        ValueError: not a matrix, or a value is infinite.
    """
    import numpy as np

    values = np.asarray(log_values, dtype=np.float64)
    if values.ndim != 2 or np.isinf(values).any():
        raise ValueError("a race needs a matrix of blocks x arms: finite logarithms, or NaN")
    ran = ~np.isnan(values)
    present = ran.sum(axis=1)
    used = present > 0
    inside = ran[used].astype(np.float64)
    filled = np.where(ran[used], values[used], 0.0)
    share = 1.0 / present[used][:, None]
    means = filled.sum(axis=1, keepdims=True) * share
    laplacian = np.diag(inside.sum(axis=0)) - inside.T @ (inside * share)
    distance = (inside * (filled - means)).sum(axis=0)
    # Linked arms are known up to a constant, which the ridge fixes.
    found = np.linalg.solve(laplacian + RIDGE * np.eye(len(distance)), distance)
    seen = ran.any(axis=0)
    found -= found[seen].mean() if seen.any() else 0.0
    found[~seen] = math.nan
    return [float(v) for v in found]


def leading_arm(log_values: Matrix) -> int | None:
    """Return the index of the best arm, the first of equals; ``None`` if none has a value.

    Args:
        log_values: as for ``arm_effects``.
    """
    standing = arm_effects(log_values)
    ran = [arm for arm, score in enumerate(standing) if not math.isnan(score)]
    return min(ran, key=lambda arm: (round(standing[arm], EQUAL_DECIMALS), arm), default=None)


def difference_interval(log_values: Matrix, arm: int, other: int) -> Interval:
    """Return the interval of log(``arm``) - log(``other``), at error rate ``ALPHA``.

    Args:
        log_values: as for ``arm_effects``; blocks in which both ran count.
        arm: index of one arm.
        other: index of another.
    """
    import numpy as np

    values = np.asarray(log_values, dtype=np.float64)
    gaps = values[:, arm] - values[:, other]
    usable = [float(gap) for gap in gaps[~np.isnan(gaps)]]
    return mean_sequence(usable, ALPHA, start=min_values(ALPHA))


def eliminated_arms(log_values: Matrix) -> set[int]:
    """Return the arms that are shown to be worse than the leader, to be eliminated from the race.

    Args:
        log_values: as for ``arm_effects``.
    """
    best = leading_arm(log_values)
    if best is None:
        return set()
    arms = range(log_values.shape[1])
    return {
        arm for arm in arms if arm != best and difference_interval(log_values, arm, best).lo > 0.0
    }


def all_within_margin(log_values: Matrix, margin: float) -> bool:
    """Return whether no arm can be better than the leader by more than the margin.

    Args:
        log_values: as for ``arm_effects``.
        margin: ratio differences below it count as none.
    """
    best = leading_arm(log_values)
    if best is None:
        return False
    others = (arm for arm in range(log_values.shape[1]) if arm != best)
    return all(
        difference_interval(log_values, best, other).hi < math.log1p(margin) for other in others
    )
