"""Geometry of Pareto fronts, and scalarised objectives."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from assay.records import DEFAULT, Choices, Configuration, Parameter, Space
from assay.search.model.front_points import ObjectiveModels, best_points
from assay.search.model.pareto import dominates, extent, hypervolume, pareto_front, spread_subset
from assay.search.model.sample_means import SampleMeans
from assay.search.model.scalarisation import mean_points, random_weights, scalarised
from assay.search.model.searcher import Contrast, Estimate, Trial
from assay.search.space.search_space import SearchSpace

A, B, C = (Configuration({"x": value}) for value in (1, 2, 3))


def test_dominance() -> None:
    assert dominates((1, 2), (1, 3))
    assert not dominates((1, 2), (1, 2))
    assert not dominates((1, 3), (2, 2))


def test_front_contains_duplicates_and_extremes() -> None:
    points = [(1, 5), (2, 2), (5, 1), (2, 2), (3, 3), (1, 6)]
    assert pareto_front(points) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("points", "corner", "volume"),
    [
        ([], (1, 1), 0.0),
        ([(0, 0)], (1, 1), 1.0),
        ([(0, 0), (0.5, 0.5)], (1, 1), 1.0),
        ([(0, 0.5), (0.5, 0)], (1, 1), 0.75),
        ([(0, 0.5), (0.5, 0), (2, -1)], (1, 1), 0.75),
        ([(0, 0, 0.5), (0.5, 0.5, 0)], (1, 1, 1), 0.5 + 0.25 - 0.125),
        ([(0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)], (1, 1, 1), 0.5),
    ],
)
def test_volume(points: list[tuple[float, ...]], corner: tuple[float, ...], volume: float) -> None:
    assert hypervolume(points, corner) == pytest.approx(volume)


def test_extent_ignores_dominated_points() -> None:
    assert extent([(0, 1), (2, 0), (90, 90)], 0.1) == [(0, 2), (0, 1)]
    assert extent([(0, 0), (5, 5)], 0.1) == [(0, 0.1), (0, 0.1)]


def test_subset_begins_with_extremes_then_knee() -> None:
    points = [(0.0, 1.0), (0.5, 0.52), (0.2, 0.2), (1.0, 0.0), (0.9, 0.9)]
    assert spread_subset(points, 4, 0.01) == [0, 3, 2]  # (0.5, 0.52) is dominated by (0.2, 0.2)
    assert spread_subset(points, 1, 0.01) == [0]


def test_ties_are_decided_by_the_other_objective() -> None:
    """A thousandth less time does not justify five times the memory."""
    points = [(-1.000, 1.6), (-0.999, 0.0), (0.0, -0.5)]
    assert spread_subset(points, 2, 0.01) == [1, 2]


def test_nearly_equal_points_are_chosen_once() -> None:
    points = [(0.0, 1.0), (0.001, 0.999), (0.002, 0.998), (1.0, 0.0)]
    assert len(spread_subset(points, 4, 0.01)) == 2


def test_weights_add_up_to_one() -> None:
    rng = random.Random(1)
    for objectives in (2, 3):
        drawn = [random_weights(objectives, rng) for _ in range(2000)]
        assert all(len(d) == objectives and min(d) >= 0 for d in drawn)
        assert all(sum(d) == pytest.approx(1.0) for d in drawn)
        for place in range(objectives):
            assert sum(d[place] for d in drawn) / 2000 == pytest.approx(1 / objectives, abs=0.02)


def objective_trials(
    *points: tuple[Configuration, float | None, float | None],
) -> list[list[Trial]]:
    return [
        [Trial(c, block, values[at]) for block, (c, *values) in enumerate(points)] for at in (0, 1)
    ]


def test_scalar_value_depends_on_weights() -> None:
    told = objective_trials((DEFAULT, 0.0, 0.0), (A, -1.0, 1.0), (B, 1.0, -1.0), (C, 1.0, 1.0))
    fast = {t.configuration: t.value for t in scalarised(told, (1.0, 0.0), 0.01)}
    small = {t.configuration: t.value for t in scalarised(told, (0.0, 1.0), 0.01)}
    both = {t.configuration: t.value for t in scalarised(told, (0.5, 0.5), 0.01)}
    assert min(fast, key=lambda c: fast[c] or 0.0) == A
    assert min(small, key=lambda c: small[c] or 0.0) == B
    assert min(both, key=lambda c: both[c] or 0.0) == DEFAULT
    assert max(both, key=lambda c: both[c] or 0.0) == C


def test_launch_without_one_objective_has_no_value() -> None:
    told = objective_trials((DEFAULT, 0.0, 0.0), (A, -1.0, None), (B, None, -1.0), (C, 1.0, -1.0))
    found = scalarised(told, (0.5, 0.5), 0.01)
    assert [t.value is None for t in found] == [False, True, True, False]
    assert set(mean_points(told)) == {DEFAULT, C}
    nothing = scalarised(objective_trials((DEFAULT, None, None)), (0.5, 0.5), 0.01)
    assert [t.value for t in nothing] == [None]


def test_shifted_objective_keeps_the_order() -> None:
    rng = random.Random(3)
    points = [(Configuration({"x": i}), rng.gauss(0, 1), rng.gauss(0, 1)) for i in range(30)]
    moved = [(c, a + 5.0, b * 3.0 - 2.0) for c, a, b in points]
    for shares in ((0.3, 0.7), (1.0, 0.0)):
        orders = [
            sorted(
                range(30),
                key=[t.value for t in scalarised(objective_trials(*p), shares, 1e-6)].__getitem__,
            )
            for p in (points, moved)
        ]
        assert orders[0] == orders[1]
        assert all(
            math.isfinite(t.value or 0.0)
            for t in scalarised(objective_trials(*points), shares, 0.1)
        )


class Told(SampleMeans):
    """A model that expects no effect of ``y``, with a given uncertainty."""

    def __init__(self, deviation: float) -> None:
        self._deviation = deviation

    def contrasts(
        self, space: SearchSpace, trials: Sequence[Trial], wanted: Sequence[Contrast]
    ) -> list[Estimate]:
        means = (sum(w * -0.3 * ("x" in c) for c, w in one.items()) for one in wanted)
        return [Estimate(mean, self._deviation) for mean in means]


@pytest.mark.parametrize(("deviations", "kept"), [((0.02, 0.02), False), ((0.02, 0.05), True)])
def test_negligible_setting_is_removed_only_if_well_known(
    deviations: tuple[float, float], kept: bool
) -> None:
    """Without launches a negligible setting is a guess."""
    space = Space(
        parameters=tuple(Parameter(name=name, domain=Choices((1, 2))) for name in ("x", "y"))
    )
    both = Configuration({"x": 1, "y": 1})
    known = ObjectiveModels(
        SearchSpace(space), [Told(deviation) for deviation in deviations], [[], []]
    )
    (point,) = best_points(known, [both], 1, 0.01)
    assert ("y" in point) is kept
    assert "x" in point
