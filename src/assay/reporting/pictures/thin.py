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
    if len(points) <= max_count:
        return list(points)
    import numpy as np  # Matplotlib has loaded it

    places = np.asarray(points, dtype=float)
    first = np.arange(len(points))
    cells = 1.0
    while len(first) > max_count:
        grid = np.trunc(places / (np.asarray(size) * cells))
        _, first = np.unique(grid[:, 0] + 1j * grid[:, 1], return_index=True)
        cells *= 1.5
    return [points[place] for place in sorted(first.tolist())]
