import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.records.progress import SteadyPart
from assay.stats.progress.launch_length import (
    LaunchCost,
    blocks_that_count,
    candidate_steps,
    launch_cost,
    mean_blocks,
    next_steady_steps,
    step_variance,
)
from assay.stats.progress.launch_spread import (
    BlockValues,
    RepeatedValues,
    SpreadPrior,
    expected_spread,
    predictive_spread,
    spread_grid,
    spread_posterior,
)

COST = LaunchCost(fixed_s=39.0, step_s=0.24)


def blocks(spread, many, steps=100.0, variance=0.007, arms=2, seed=0):
    rng = np.random.default_rng(seed)
    sd = math.sqrt(spread**2 + variance / steps)
    return [BlockValues(tuple(sd * rng.standard_normal(arms)), steps) for _ in range(many)]


def part(batch_sd, steps=200.0):
    return SteadyPart(
        begin_step=100,
        begin_s=39.0,
        end_step=100 + steps,
        end_s=39.0 + 0.24 * steps,
        first_report_s=10.0,
        batch_sd=batch_sd,
        batch_steps=10.0,
    )


@pytest.mark.parametrize("spread", [0.003, 0.01, 0.03])
@pytest.mark.parametrize("arms", [2, 4])
def test_many_blocks_give_the_spread(spread, arms):
    found = expected_spread(spread_posterior(blocks(spread, 300, steps=1000.0, arms=arms), 0.007))
    assert found == pytest.approx(spread, rel=0.2)


def test_few_blocks_stay_near_the_prior():
    weights = spread_posterior(blocks(0.0, 2), 0.007)
    median = spread_grid()[np.searchsorted(np.cumsum(weights), 0.5)]
    assert 0.002 < median < 0.01


def test_repeated_launches_give_the_spread():
    rng = np.random.default_rng(4)
    repeats = [
        RepeatedValues(tuple(0.02 * rng.standard_normal(5) + shift), (1000.0,) * 5)
        for shift in range(60)
    ]
    found = expected_spread(spread_posterior([], 0.007, repeats=repeats))
    assert found == pytest.approx(0.02, rel=0.15)


def test_predictive_spread_exceeds_the_estimate_of_few_blocks():
    few, many = (spread_posterior(blocks(0.01, n), 0.007) for n in (2, 200))
    assert predictive_spread(few, 2.4) > 1.2 * expected_spread(few)
    assert predictive_spread(many, 2.4) == pytest.approx(0.01, rel=0.2)


def test_noise_floor_as_prior_moves_the_spread():
    quiet = spread_posterior([], 0.007, SpreadPrior(0.001, math.log(1.5)))
    assert expected_spread(quiet) < 0.0015


def test_larger_spread_and_dearer_steps_make_launches_shorter():
    quiet = next_steady_steps(blocks(0.003, 40), 0.007, COST, unit_steps=50)
    loud = next_steady_steps(blocks(0.03, 40), 0.007, COST, unit_steps=50)
    late = next_steady_steps(blocks(0.01, 40), 0.007, LaunchCost(300.0, 0.24), unit_steps=50)
    assert loud < quiet < late + 300
    assert loud == 50


@settings(max_examples=40, deadline=None)
@given(
    variance=st.floats(1e-8, 1.0),
    fixed=st.floats(0.1, 1e4),
    step=st.floats(1e-4, 100),
    unit=st.one_of(st.none(), st.integers(1, 500).map(float)),
    most=st.one_of(st.just(math.inf), st.floats(1, 1e5)),
)
def test_length_is_a_multiple_of_the_period_within_its_limits(variance, fixed, step, unit, most):
    found = next_steady_steps(
        blocks(0.01, 4), variance, LaunchCost(fixed, step), unit_steps=unit, max_steps=most
    )
    assert found / (unit or 1.0) == pytest.approx(round(found / (unit or 1.0)))
    assert found <= max(most, unit or 4.0) * (1 + 1e-6)


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 1e4), st.floats(0, 1e4))
def test_mean_blocks_grow_with_the_variance(a, b):
    low, high = mean_blocks(np.array(sorted((a, b))))
    assert 6.0 <= low <= high


def test_lengths_rest_on_earlier_blocks_only():
    assert [blocks_that_count(n) for n in range(14)] == [
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        6,
        8,
        8,
        8,
        11,
        11,
        11,
    ]


def test_candidates_are_multiples_of_the_period():
    assert candidate_steps(50.0, 260.0).tolist() == [50, 100, 150, 200, 250]
    assert candidate_steps(50.0, 10.0).tolist() == [50]
    assert candidate_steps(None, 8.0).tolist() == [4, 5, 6, 8]


def test_cost_and_variance_are_pooled_over_launches():
    parts = [part(0.02), part(None), part(0.04, steps=600.0)]
    assert launch_cost(parts, overhead_s=1.0) == LaunchCost(40.0, pytest.approx(0.24))
    assert launch_cost(parts).seconds(100) == pytest.approx(63.0)
    assert step_variance(parts) == pytest.approx((200 * 0.004 + 600 * 0.016) / 800)
    assert step_variance([part(None)]) is None
    with pytest.raises(ValueError, match="finished launch"):
        launch_cost([])
