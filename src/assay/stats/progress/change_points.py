"""Exact change points of the mean of a curve.

Optimal partitioning (Jackson et al. 2005, IEEE Signal Processing Letters 12:105), of which PELT
(Killick, Fearnhead and Eckley 2012, JASA 107:1590) is the pruned form with the same result: the
segments that minimise the sum of squares about their means plus a penalty for each change. For a
few hundred points the table of all costs is faster than pruning.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.stats.progress.reports import Array

MAX_POINTS = 200
"""Largest number of points; time grows with the square."""


def change_points(values: Array, weights: Array, penalty: float) -> list[int]:
    """Return the places at which the mean of a curve changes, in increasing order.

    A place is the number of points before the change.

    Args:
        values: points of the curve, at most a few hundred.
        weights: weight of each point, positive: the reciprocal of its relative variance.
        penalty: reduction of the weighted sum of squares that justifies a change.
    """
    n = len(values)
    if n < 2:
        return []
    costs = _costs(values, weights) + penalty
    best = np.empty(n + 1)
    best[0] = -penalty
    before: npt.NDArray[np.int64] = np.zeros(n + 1, dtype=np.int64)
    for end in range(1, n + 1):
        total = best[:end] + costs[end, :end]
        at = int(total.argmin())
        before[end] = at
        best[end] = total[at]
    places = []
    at = int(before[n])
    while at > 0:
        places.append(at)
        at = int(before[at])
    return places[::-1]


def _costs(values: Array, weights: Array) -> Array:
    """Return the weighted sum of squares about its mean of each segment, by end and begin."""
    centred = values - values.mean()
    sums = np.zeros((3, len(values) + 1))
    np.cumsum((weights, weights * centred, weights * centred * centred), axis=1, out=sums[:, 1:])
    weight = np.subtract.outer(sums[0], sums[0])
    first = np.subtract.outer(sums[1], sums[1])
    second = np.subtract.outer(sums[2], sums[2])
    first *= first
    weight[weight <= 0.0] = 1.0  # segments that end before they begin are never used
    first /= weight
    return np.asarray(second - first)
