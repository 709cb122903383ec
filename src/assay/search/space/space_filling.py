"""Space-filling designs: random cells and Latin hypercubes."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Configuration, Range, Space, Value
from assay.search.space.search_space import SearchSpace
from assay.wording.space import few_cells_note, merged_points_note

MAX_DRAWS_PER_CELL = 100
"""Maximum number of random configurations tried for each requested cell."""
CANDIDATE_DESIGNS = 30
"""Number of Latin hypercubes drawn; the one with the largest minimum distance is used."""
MAX_CANDIDATE_CELLS = 10_000
"""Maximum number of cells of all drawn Latin hypercubes together, which bounds their cost."""


def random_cells(
    n: int, space: Space, bound: SearchSpace, seed: int
) -> tuple[list[Configuration], list[str]]:
    """Draw distinct cells with equally likely values of each setting.

    Args:
        n: number of cells.
        space: search space with the varied settings.
        bound: the same space, limited to configurations that the machine can grant.
        seed: seed of the random draws.

    Returns:
        The cells, and a note if they are fewer than requested.
    """
    rng = random.Random(f"{seed}/random")
    axes = _axes(space)
    found: dict[Configuration, None] = {}
    for _ in range(MAX_DRAWS_PER_CELL * n):
        if len(found) == n:
            break
        cell = _cell_at(axes, bound, [rng.random() for _ in axes])
        if bound.valid(cell):
            found.setdefault(cell)
    return list(found), _few(len(found), n)


def _few(found: int, n: int) -> list[str]:
    if found == n:
        return []
    return [few_cells_note(found, n)]


@dataclass(frozen=True)
class _Axis:
    """A setting as one dimension of the unit cube, with equal intervals for listed values."""

    name: str
    domain: Range | None
    values: tuple[Value, ...]

    def at(self, share: float) -> Value:
        """Return the value at ``share``, which is from 0 to below 1."""
        if self.domain is not None:
            return self.domain.at(share)
        return self.values[int(share * len(self.values))]


def _axes(space: Space) -> list[_Axis]:
    found = []
    for parameter in space.parameters:
        values = parameter.domain.values()
        continuous = parameter.domain if isinstance(parameter.domain, Range) else None
        found.append(_Axis(parameter.name, None if values else continuous, values or ()))
    return found


def _cell_at(axes: Sequence[_Axis], bound: SearchSpace, position: Sequence[float]) -> Configuration:
    """Return the cell at a point of the unit cube."""
    values = {axis.name: axis.at(share) for axis, share in zip(axes, position, strict=True)}
    return bound.without_inactive(Configuration(values))


def hypercube_cells(
    n: int, space: Space, bound: SearchSpace, seed: int
) -> tuple[list[Configuration], list[str]]:
    """Return the cells of the Latin hypercube with the fewest lost cells, then the largest spread.

    Points in the same cell of a coarse domain coincide: with four listed values and n = 10, each
    value has two to three points.

    Args:
        n: number of cells.
        space: search space with the varied settings.
        bound: the same space, limited to configurations that the machine can grant.
        seed: seed of the random draws.

    Returns:
        The cells, and a note if they are fewer than requested.
    """
    rng = random.Random(f"{seed}/latin-hypercube")
    axes = _axes(space)
    best: tuple[int, float, list[Configuration]] | None = None
    candidates = max(1, min(CANDIDATE_DESIGNS, MAX_CANDIDATE_CELLS // n))
    for _ in range(candidates):
        points = latin_hypercube(n, len(axes), rng)
        drawn = dict.fromkeys(_cell_at(axes, bound, point) for point in points)
        cells = [cell for cell in drawn if bound.valid(cell)]
        rank = (len(cells), min_distance(points) if candidates > 1 else 0.0)
        if best is None or rank > best[:2]:
            best = (*rank, cells)
    assert best is not None
    cells = best[2]
    if len(cells) == n:
        return cells, []
    return cells, [merged_points_note(n, len(cells))]


def latin_hypercube(n: int, dimensions: int, rng: random.Random) -> list[tuple[float, ...]]:
    """Draw ``n`` points in the unit cube, one in each of ``n`` equal slices of each dimension.

    McKay, Beckman and Conover, Technometrics 21:239 (1979).
    """
    columns = []
    for _ in range(dimensions):
        slices = list(range(n))
        rng.shuffle(slices)
        columns.append([(at + rng.random()) / n for at in slices])
    return list(zip(*columns, strict=True))


def min_distance(points: Sequence[tuple[float, ...]]) -> float:
    """Return the minimum distance of two points: the larger, the more evenly they fill the cube.

    Johnson, Moore and Ylvisaker, Journal of Statistical Planning and Inference 26:131 (1990).
    """
    import numpy as np

    positions = np.array(points)
    nearest = math.inf
    for at in range(1, len(positions)):
        nearest = min(nearest, float(np.min(np.sum((positions[:at] - positions[at]) ** 2, axis=1))))
    return math.sqrt(nearest)
