"""Ranking: who stands best over the blocks of a search, and who leaves it.

The rule is that of ``assay.stats.eliminate``; here the arms' standing comes from the normal
equations of the fit, whose size is the number of arms. Its full design matrix has a row for every
launch, which a search over short programs would spend most of its budget on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.stats.eliminate import against

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

EVERY_LOOK = 40
"""Up to this many blocks the data are looked at after each; from there on after each fortieth part
more, so that all looks together cost little beside the launches. The intervals hold at any look."""

RIDGE = 1e-9
"""Added to the diagonal of the normal equations, whose own entries are of the order of 1."""


def due(blocks: int) -> bool:
    """Whether the data are looked at after this many blocks."""
    return blocks % max(1, blocks // EVERY_LOOK) == 0


def scores(log_values: Matrix) -> list[float]:
    """Standing of each arm: its effect in the least-squares fit "block + arm"; lower is better.

    With the block effects eliminated, the arms' effects x solve ``L x = b``, where for arms i, j
    ``L_ij = [i = j] n_i - sum over blocks with both of 1 / (arms in the block)`` and ``b_i`` is the
    sum of the arm's distances to the means of its blocks (Searle, Linear Models, 1971, ch. 7).

    Args:
        log_values: blocks x arms, logarithms of a metric where lower is better; NaN where an arm
            did not run or failed.

    Returns:
        One number an arm, with mean 0; NaN for arms that never ran. Only differences between arms
        that shared blocks link, directly or through third ones, mean anything.
    """
    import numpy as np

    ran = ~np.isnan(log_values)
    present = ran.sum(axis=1)
    used = present > 0
    inside = ran[used].astype(np.float64)
    values = np.where(ran[used], log_values[used], 0.0)
    share = 1.0 / present[used][:, None]
    means = values.sum(axis=1, keepdims=True) * share
    laplacian = np.diag(inside.sum(axis=0)) - inside.T @ (inside * share)
    distance = (inside * (values - means)).sum(axis=0)
    # Linked arms are known up to a constant, which the ridge fixes.
    found = np.linalg.solve(laplacian + RIDGE * np.eye(len(distance)), distance)
    seen = ran.any(axis=0)
    found -= found[seen].mean() if seen.any() else 0.0
    found[~seen] = math.nan
    return [float(v) for v in found]


def leader(log_values: Matrix) -> int | None:
    """The arm that stands best, the first of equals; ``None`` if none has a value."""
    standing = scores(log_values)
    ran = [arm for arm, score in enumerate(standing) if not math.isnan(score)]
    return min(ran, key=lambda arm: (round(standing[arm], 8), arm), default=None)


def worse(log_values: Matrix) -> set[int]:
    """The arms that are shown to be worse than the leader."""
    best = leader(log_values)
    if best is None:
        return set()
    arms = range(log_values.shape[1])
    return {arm for arm in arms if arm != best and against(log_values, arm, best).lo > 0.0}


def settled(log_values: Matrix, margin: float) -> bool:
    """Whether no arm can be better than the leader by more than the margin."""
    first = leader(log_values)
    if first is None:
        return False
    others = (arm for arm in range(log_values.shape[1]) if arm != first)
    return all(against(log_values, first, other).hi < math.log1p(margin) for other in others)
