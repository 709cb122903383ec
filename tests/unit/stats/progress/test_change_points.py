import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.progress.change_points import change_points
from assay.stats.progress.long_run import long_run_variance, variance_of_batch


def cost(values, weights, places):
    bounds = [0, *places, len(values)]
    total = 0.0
    for a, b in itertools.pairwise(bounds):
        mean = np.average(values[a:b], weights=weights[a:b])
        total += float(weights[a:b] @ (values[a:b] - mean) ** 2)
    return total


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 3)), min_size=2, max_size=8),
    st.sampled_from((0.5, 2.0, 8.0)),
)
def test_change_points_minimise_the_penalised_cost(points, penalty):
    values = np.array([float(value) for value, _ in points])
    weights = np.array([float(weight) for _, weight in points])
    n = len(values)
    best = min(
        cost(values, weights, places) + penalty * len(places)
        for size in range(n)
        for places in itertools.combinations(range(1, n), size)
    )
    found = change_points(values, weights, penalty)
    assert cost(values, weights, found) + penalty * len(found) == pytest.approx(best)


def test_one_step_gives_one_change_point():
    values = np.concatenate((np.ones(30), np.zeros(70)))
    assert change_points(values, np.ones(100), 3 * math.log(100) * 0.01) == [30]


def test_constant_curve_has_no_change_point():
    assert change_points(np.full(50, 2.0), np.ones(50), 1e-6) == []


def test_long_run_variance_of_correlated_values_exceeds_their_variance():
    rng = np.random.default_rng(1)
    values = np.zeros(40_000)
    for at in range(1, len(values)):
        values[at] = 0.6 * values[at - 1] + 0.8 * rng.standard_normal()
    found = long_run_variance(values)
    assert found is not None
    assert found.variance == pytest.approx(4.0, rel=0.15)


def test_long_run_variance_ignores_a_line():
    values = np.random.default_rng(2).standard_normal(1000)
    with_trend = long_run_variance(values + 0.1 * np.arange(1000))
    without = long_run_variance(values)
    assert with_trend is not None and without is not None
    assert with_trend.variance == pytest.approx(without.variance, rel=0.01)


def test_long_run_variance_needs_four_values():
    assert long_run_variance(np.arange(3.0)) is None


def test_equal_batches_have_no_variance():
    assert variance_of_batch(np.full(9, 0.2)) == 0.0
