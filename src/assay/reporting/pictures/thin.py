"""Thin: removal of overlapping points from a picture."""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, float]


def thin(points: Sequence[Point], size: Point, max_count: int) -> list[Point]:
    """Return at most ``max_count`` points: the first in each cell of a grid.

    Cells start at the size of a pixel and grow until few enough points remain, so small pictures
    keep all points, and large ones keep their outline.

    Args:
        points: points in the units of the axes.
        size: width and height of a pixel, in the units of the axes.
        max_count: maximum number of points, at least 1.
    """
    kept = list(points)
    cells = 1.0
    while len(kept) > max_count:
        first: dict[tuple[int, int], Point] = {}
        for x, y in points:
            first.setdefault((int(x / (size[0] * cells)), int(y / (size[1] * cells))), (x, y))
        kept = list(first.values())
        cells *= 1.5
    return kept
