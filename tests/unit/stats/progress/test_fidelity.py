import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from assay.records.workload import Goal
from assay.stats.progress.fidelity import (
    Estimate,
    fidelity_agreement,
    kendall_tau,
    needs_launches,
    promoted,
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=15))
def test_tau_equals_scipy(pairs):
    x, y = zip(*pairs, strict=True)
    expected = kendalltau(x, y).statistic
    found = kendall_tau(x, y)
    if np.isnan(expected):
        assert found is None
    else:
        assert found == pytest.approx(expected)


def test_same_order_has_tau_one_and_finds_the_top():
    low, full = list(range(1, 21)), [10.0 * value for value in range(1, 21)]
    found = fidelity_agreement(low, full, goal=Goal.LOWER, halves=(low, full))
    assert found is not None
    assert (found.tau, found.lo, found.hi, found.ceiling) == (1.0, 1.0, 1.0, 1.0)
    assert (found.configurations, found.top_found) == (20, 3)


def test_interval_contains_tau_of_noisy_values():
    rng = np.random.default_rng(1)
    full = rng.standard_normal(40)
    found = fidelity_agreement(full + 0.5 * rng.standard_normal(40), full, goal=Goal.HIGHER)
    assert found is not None
    assert found.lo is not None and found.hi is not None
    assert found.lo < found.tau < found.hi < 1.0
    assert found.ceiling is None


def test_seven_configurations_have_no_interval():
    found = fidelity_agreement(range(7), range(7), goal=Goal.LOWER)
    assert found is not None
    assert found.lo is None


def test_single_configuration_has_no_tau():
    assert fidelity_agreement([1.0], [2.0], goal=Goal.LOWER) is None


def test_promotion_without_noise_takes_the_best_quarter():
    estimates = [Estimate(float(value), 0.0) for value in range(8)]
    assert promoted(estimates, goal=Goal.LOWER) == [0, 1]
    assert promoted(estimates, goal=Goal.HIGHER) == [7, 6]
    assert promoted([], goal=Goal.LOWER) == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 0.5)), min_size=1, max_size=30))
def test_promotion_keeps_a_quarter_at_least(items):
    estimates = [Estimate(mean, sd) for mean, sd in items]
    chosen = promoted(estimates, goal=Goal.LOWER)
    assert len(chosen) >= -(-len(items) // 4)
    assert min(range(len(items)), key=lambda at: items[at][0]) in chosen or any(
        items[at][0] == min(mean for mean, _ in items) for at in chosen
    )


def test_more_steps_do_not_help_where_launches_differ():
    assert needs_launches(0.03, 0.007, 100)
    assert not needs_launches(0.003, 0.007, 100)


def test_configurations_of_low_fidelity_alone_count_for_the_best_quarter() -> None:
    low, full = [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]
    few = fidelity_agreement(low, full, goal=Goal.LOWER)
    many = fidelity_agreement(low, full, goal=Goal.LOWER, low_only=[5.0] * 8)
    better = fidelity_agreement(low, full, goal=Goal.LOWER, low_only=[0.0] * 8)
    assert few is not None and many is not None and better is not None
    assert (few.top_found, many.top_found, better.top_found) == (1, 3, 0)
