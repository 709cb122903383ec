"""Properties of all Pareto fronts."""

from __future__ import annotations

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from assay.search.model.pareto import dominates, hypervolume, pareto_front, spread_subset

COORDINATE = st.integers(-8, 8).map(lambda n: n / 4)


def points_of(dimensions: int, most: int = 12) -> st.SearchStrategy[list[tuple[float, ...]]]:
    return st.lists(st.tuples(*[COORDINATE] * dimensions), max_size=most)


POINTS = st.one_of(points_of(2), points_of(3))
CORNER = {2: (3.0, 3.0), 3: (3.0, 3.0, 3.0)}


@given(POINTS)
def test_front_members_are_exactly_the_non_dominated_points(
    points: list[tuple[float, ...]],
) -> None:
    front = pareto_front(points)
    for i in front:
        assert not any(dominates(p, points[i]) for p in points)
    for i in set(range(len(points))) - set(front):
        assert any(dominates(points[j], points[i]) for j in front)


@given(POINTS.flatmap(lambda points: st.tuples(st.just(points), st.permutations(points))))
def test_front_is_independent_of_order(
    both: tuple[list[tuple[float, ...]], list[tuple[float, ...]]],
) -> None:
    first, second = ([p[i] for i in pareto_front(p)] for p in both)
    assert sorted(first) == sorted(second)


@given(points_of(2, 6))
def test_volume_in_two_is_that_of_the_union(points: list[tuple[float, ...]]) -> None:
    """The expected volume uses inclusion and exclusion."""
    corner = CORNER[2]
    assert math.isclose(hypervolume(points, corner), union(points, corner), abs_tol=1e-9)


@given(points_of(3, 5))
def test_volume_in_three_is_that_of_the_union(points: list[tuple[float, ...]]) -> None:
    """The expected volume uses inclusion and exclusion."""
    corner = CORNER[3]
    assert math.isclose(hypervolume(points, corner), union(points, corner), abs_tol=1e-9)


def union(points: list[tuple[float, ...]], corner: tuple[float, ...]) -> float:
    total = 0.0
    for count in range(1, len(points) + 1):
        for group in itertools.combinations(points, count):
            worst = [max(values) for values in zip(*group, strict=True)]
            sides = (c - w for c, w in zip(corner, worst, strict=True))
            total -= (-1) ** count * math.prod(sides)
    return total


@given(POINTS, st.integers(1, 5))
def test_chosen_points_are_different_members_of_the_front(
    points: list[tuple[float, ...]], count: int
) -> None:
    tolerance = 0.1
    chosen = spread_subset(points, count, tolerance)
    assert len(chosen) == len(set(chosen)) <= count
    assert set(chosen) <= set(pareto_front(points))
    assert bool(chosen) == bool(points)
    for i, j in itertools.combinations(chosen, 2):
        gaps = [abs(a - b) for a, b in zip(points[i], points[j], strict=True)]
        assert max(gaps) > tolerance
    assert chosen == spread_subset(points, 9, tolerance)[:count]  # more only add to fewer
