"""Modes: detection of two groups of launches, and of figures correlated with the groups.

The split is the one with the least squares within the groups (Fisher 1958, "On grouping for
maximum homogeneity"; Otsu 1979), on logarithms. It counts as two modes only if the groups are
further apart than those of any single-peaked distribution. The distance of the two means, in
standard deviations within the groups, is 2.6 for Gaussian values, 3.5 for uniform ones and about 3
for exponential ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.stats.quantile import quantile_of_sorted

MIN_SEPARATION = 5.0
"""Minimum distance of the means of the groups, in standard deviations within the groups."""
MIN_GAP = 2.0
"""Minimum width of the gap between the groups, in standard deviations of the wider group: the
tail of a skewed distribution is far from its body but has no gap before it."""
MIN_GROUP_LAUNCHES = 4
"""Minimum launches in the smaller group: one or two are outliers, three can be close by chance."""
MIN_GROUP_SHARE = 0.05
"""Minimum share of the launches in the smaller group."""
MIN_AUC = 0.9
"""Minimum area under the ROC curve (or of its complement) from which a figure separates the
groups."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Two groups of launches.

    Attributes:
        low, high: mean of each group, in the unit of the values.
        in_high: for each value, whether it belongs to the upper group.
    """

    low: float
    high: float
    in_high: tuple[bool, ...]

    @property
    def high_share(self) -> float:
        """Share of the launches in the upper group."""
        return sum(self.in_high) / len(self.in_high)


@dataclass(frozen=True, slots=True)
class CorrelatedFigure:
    """A figure that is correlated with the groups.

    Attributes:
        name: name of the figure.
        low, high: its median in each group.
        p_value: probability of a difference at least as large by chance (Mann and Whitney 1947),
            corrected for the number of figures examined (Holm 1979).
    """

    name: str
    low: float
    high: float
    p_value: float


def find_modes(values: Sequence[float]) -> Groups | None:
    """Split positive values into two groups; return ``None`` if they form one group.

    Raises:
        ValueError: a value is not positive and finite.
    """
    if not all(v > 0.0 and math.isfinite(v) for v in values):
        raise ValueError("modes need positive finite values")
    n = len(values)
    least = max(MIN_GROUP_LAUNCHES, math.ceil(MIN_GROUP_SHARE * n))
    if n < 2 * least:
        return None
    order = sorted(range(n), key=values.__getitem__)
    logs = [math.log(values[i]) for i in order]
    sums, squares = [0.0], [0.0]
    for x in logs:
        sums.append(sums[-1] + (x - logs[0]))
        squares.append(squares[-1] + (x - logs[0]) ** 2)

    def within(begin: int, end: int) -> float:
        total = sums[end] - sums[begin]
        return max(0.0, squares[end] - squares[begin] - total * total / (end - begin))

    cut = min(range(least, n - least + 1), key=lambda k: within(0, k) + within(k, n))
    distance = (sums[n] - sums[cut]) / (n - cut) - sums[cut] / cut
    sd = math.sqrt((within(0, cut) + within(cut, n)) / (n - 2))
    gap = logs[cut] - logs[cut - 1]
    widest = math.sqrt(max(within(0, cut) / (cut - 1), within(cut, n) / (n - cut - 1)))
    if distance <= 1e-9 or distance < MIN_SEPARATION * sd or gap < MIN_GAP * widest:
        return None
    high = set(order[cut:])
    return Groups(
        low=math.fsum(values[i] for i in order[:cut]) / cut,
        high=math.fsum(values[i] for i in order[cut:]) / (n - cut),
        in_high=tuple(i in high for i in range(n)),
    )


def find_correlated_figure(
    found: Groups, figures: Mapping[str, Sequence[float]], alpha: float = 0.05, *, examined: int = 0
) -> CorrelatedFigure | None:
    """Return the figure that separates the groups best, if one does so significantly.

    Args:
        found: the groups.
        figures: one number for each launch by name, in the order of the values that were split.
        alpha: accepted probability of returning a figure that is independent of the groups.
        examined: number of examined figures, including figures that were removed after their values
            were seen; the correction covers all of them.

    Raises:
        ValueError: the number of values of a figure differs from the number of launches.
    """
    best: tuple[float, float, str] | None = None
    for name, numbers in figures.items():
        if len(numbers) != len(found.in_high):
            raise ValueError(f"{name} has {len(numbers)} numbers, not {len(found.in_high)}")
        area, p_value = _mann_whitney(
            [x for x, h in zip(numbers, found.in_high, strict=True) if not h],
            [x for x, h in zip(numbers, found.in_high, strict=True) if h],
        )
        clear = max(area, 1.0 - area)
        if clear >= MIN_AUC and (best is None or (clear, -p_value) > (best[0], -best[1])):
            best = (clear, p_value, name)
    tests = max(examined, len(figures))
    if best is None or best[1] * tests > alpha:
        return None
    numbers = figures[best[2]]
    low = sorted(x for x, h in zip(numbers, found.in_high, strict=True) if not h)
    high = sorted(x for x, h in zip(numbers, found.in_high, strict=True) if h)
    return CorrelatedFigure(
        best[2], quantile_of_sorted(low, 0.5), quantile_of_sorted(high, 0.5), best[1] * tests
    )


def separation(found: Groups, numbers: Sequence[float]) -> float:
    """Return the probability that a figure is greater in the upper group than in the lower one.

    Args:
        found: the groups.
        numbers: one number for each launch, in the order of the values that were split.
    """
    low = [x for x, h in zip(numbers, found.in_high, strict=True) if not h]
    high = [x for x, h in zip(numbers, found.in_high, strict=True) if h]
    return _mann_whitney(low, high)[0]


def _mann_whitney(low: Sequence[float], high: Sequence[float]) -> tuple[float, float]:
    """Return the probability that ``high`` exceeds ``low`` (ties half) and the two-sided p-value.

    The p-value is that of the Gaussian approximation with the correction for ties.
    """
    n, m = len(low), len(high)
    pooled = sorted([(x, False) for x in low] + [(x, True) for x in high])
    rank_sum, ties, at = 0.0, 0.0, 0
    while at < len(pooled):
        end = at
        while end < len(pooled) and pooled[end][0] == pooled[at][0]:
            end += 1
        count = end - at
        rank_sum += (at + end + 1) / 2 * sum(of_high for _, of_high in pooled[at:end])
        ties += count**3 - count
        at = end
    u = rank_sum - m * (m + 1) / 2
    total = n + m
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0.0:
        return 0.5, 1.0
    z = (abs(u - n * m / 2) - 0.5) / math.sqrt(variance)
    return u / (n * m), min(1.0, math.erfc(max(0.0, z) / math.sqrt(2.0)))
