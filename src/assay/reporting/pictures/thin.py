"""Thin: leave out points that would lie on one another in a picture."""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, float]


def thin(points: Sequence[Point], size: Point, most: int) -> list[Point]:
    """At most ``most`` of the points: the first of those that fall into one cell of a grid.

    The cells start at a pixel and grow until few enough are left, so a picture of few points
    keeps all of them and a crowd keeps its outline.

    Args:
        points: in the units of the axes.
        size: width and height of a pixel, in the units of the axes.
        most: at least 1.
    """
    kept = list(points)
    cells = 1.0
    while len(kept) > most:
        first: dict[tuple[int, int], Point] = {}
        for x, y in points:
            first.setdefault((int(x / (size[0] * cells)), int(y / (size[1] * cells))), (x, y))
        kept = list(first.values())
        cells *= 1.5
    return kept
