"""Pareto front: points that no other point dominates. Lower is better in each objective."""

from __future__ import annotations

from collections.abc import Sequence

Point = Sequence[float]
"""A value for each objective."""

REFERENCE_MARGIN = 0.1
"""Distance of the reference corner from the worst point of a front, as a share of its extent, so
that the best point of one objective contributes volume as well."""


def dominates(a: Point, b: Point) -> bool:
    """Return whether ``a`` is no worse than ``b`` in any objective, and better in one."""
    return all(x <= y for x, y in zip(a, b, strict=True)) and tuple(a) != tuple(b)


def pareto_front(points: Sequence[Point]) -> list[int]:
    """Return the indices of the non-dominated points, in order, including all duplicates."""
    return [i for i, p in enumerate(points) if not any(dominates(q, p) for q in points)]


def hypervolume(points: Sequence[Point], corner: Point) -> float:
    """Return the dominated volume below ``corner``, by slices along the last axis.

    While et al., IEEE Transactions on Evolutionary Computation 10:29 (2006).
    """
    inside = sorted(
        (p for p in points if all(x < c for x, c in zip(p, corner, strict=True))),
        key=lambda p: p[-1],
    )
    if not inside or len(corner) == 1:
        return corner[0] - inside[0][0] if inside else 0.0
    ends = [*(p[-1] for p in inside[1:]), corner[-1]]
    return sum(
        (end - p[-1]) * hypervolume([q[:-1] for q in inside[: at + 1]], corner[:-1])
        for at, (p, end) in enumerate(zip(inside, ends, strict=True))
        if end > p[-1]
    )


def extent(points: Sequence[Point], min_extent: float) -> list[tuple[float, float]]:
    """Return the best value and the extent of a front in each objective.

    Args:
        points: points of the front, at least one.
        min_extent: minimum extent.
    """
    of_front = [points[i] for i in pareto_front(points)]
    found = []
    for values in zip(*of_front, strict=True):
        low = min(values)
        found.append((low, max(max(values) - low, min_extent)))
    return found


def spread_subset(points: Sequence[Point], count: int, tolerance: float) -> list[int]:
    """Return up to ``count`` indices of a front: the best of each objective, then points between.

    Between them the point with the largest additional dominated volume is chosen. A point within
    ``tolerance`` of a chosen one in each objective is skipped.

    Args:
        points: values on scales with equally valuable steps, such as logarithms.
        count: maximum number of points.
        tolerance: differences below it count as none.
    """
    left = pareto_front(points)
    if not left:
        return []
    scale = extent(points, tolerance)
    unit = {
        i: [(x - low) / size for x, (low, size) in zip(points[i], scale, strict=True)] for i in left
    }
    corner = [1.0 + REFERENCE_MARGIN] * len(scale)
    chosen: list[int] = []
    while left and len(chosen) < count:
        if len(chosen) < len(scale):
            found = _best_of(len(chosen), left, points, unit, tolerance)
        else:
            taken = [unit[i] for i in chosen]
            found = max(left, key=lambda i: (hypervolume([*taken, unit[i]], corner), -i))
        chosen.append(found)
        left = [i for i in left if not _is_equal(points[i], points[found], tolerance)]
    return chosen


def _best_of(
    objective: int,
    left: Sequence[int],
    points: Sequence[Point],
    unit: dict[int, list[float]],
    tolerance: float,
) -> int:
    """Return the best point of one objective; of equals, the best in the other objectives."""
    least = min(points[i][objective] for i in left)
    as_good = [i for i in left if points[i][objective] <= least + tolerance]
    return min(as_good, key=lambda i: (sum(unit[i]), i))


def _is_equal(a: Point, b: Point, tolerance: float) -> bool:
    return all(abs(x - y) <= tolerance for x, y in zip(a, b, strict=True))
