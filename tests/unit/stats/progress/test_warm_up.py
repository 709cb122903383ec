import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.stats.progress.programs import program

from assay.stats.progress.launch_curve import launch_curve
from assay.stats.progress.reports import Reports
from assay.stats.progress.warm_up import (
    WarmUp,
    common_warm_up,
    pooled_period,
    pooled_warm_up,
    revised_warm_up,
    round_up,
)


def curves(many, steps, **changes):
    return [launch_curve(program(steps, seed=seed, **changes)) for seed in range(many)]


@pytest.mark.parametrize("shape", ["abrupt", "linear", "exponential"])
@pytest.mark.parametrize("steps", [200, 400, 2000])
def test_warm_up_of_100_steps_is_found_from_pilot_launches(shape, steps):
    found = pooled_warm_up(curves(6, steps, shape=shape))
    assert found is not None
    assert found.period_steps == pytest.approx(50)
    assert 100 <= found.steps <= 150


def test_warm_up_of_reports_each_ten_steps_is_found():
    found = pooled_warm_up(curves(4, 1000, report_every=10, shape="linear"))
    assert found is not None
    assert found.period_steps == pytest.approx(50)
    assert 100 <= found.steps <= 150
    assert found.settled


def test_abrupt_warm_up_of_one_launch_is_found():
    found = pooled_warm_up(curves(1, 400))
    assert found == WarmUp(pytest.approx(100), pytest.approx(50), True)


def test_steady_program_has_no_warm_up():
    found = pooled_warm_up(curves(4, 300, slower=0.0, every=0))
    assert found == WarmUp(1.0, None, True)


def test_warm_up_longer_than_the_launch_is_not_settled():
    for shape in ("linear", "exponential"):
        found = pooled_warm_up(curves(4, 150, warm_up=400, shape=shape, every=0))
        assert found is not None
        assert not found.settled


def test_change_in_the_last_part_is_not_settled():
    found = pooled_warm_up(curves(1, 120, warm_up=100, every=0))
    assert found is not None
    assert not found.settled


def test_errors_of_single_times_are_no_changes():
    """A late time stamp makes one step long and the next one short."""
    cuts = []
    for study in range(8):
        launches = []
        for seed in range(4 * study, 4 * study + 4):
            plain = program(500, seed=seed, warm_up=48, shape="exponential", step_sd=0.01)
            late = 0.06 * np.random.default_rng(seed).exponential(size=500)
            times = np.maximum.accumulate(plain.times_s + np.minimum(late, 0.18))
            launches.append(launch_curve(Reports(plain.steps, times, plain.values)))
        found = pooled_warm_up(launches)
        assert found is not None
        assert found.period_steps == pytest.approx(50)
        cuts.append(found.steps if found.settled else 500.0)
    assert np.median(cuts) <= 100
    assert max(cuts) <= 150


def test_few_reports_give_no_warm_up():
    assert pooled_warm_up(curves(2, 8)) is None
    assert pooled_warm_up([]) is None


def test_shorter_launches_do_not_shift_the_curve():
    launches = curves(2, 150, every=0) + curves(4, 1200, every=0)
    found = pooled_warm_up(launches)
    assert found is not None
    assert found.steps == pytest.approx(100, abs=6)


def test_noise_free_launch_has_exact_cut():
    found = pooled_warm_up(curves(1, 200, step_sd=0.0, every=0))
    assert found is not None
    assert found.steps == pytest.approx(101, abs=1)


@settings(max_examples=60, deadline=None)
@given(steps=st.floats(0.5, 5000), period=st.one_of(st.none(), st.integers(2, 600).map(float)))
def test_rounded_warm_up_is_not_shorter_and_fits_the_period(steps, period):
    rounded = round_up(steps, period)
    assert rounded >= steps - 1e-6 * steps
    if period is None:
        assert rounded == steps
    elif steps > period:
        assert rounded / period == pytest.approx(round(rounded / period))
        assert rounded < steps + period
    else:
        assert period / rounded == pytest.approx(round(period / rounded)) or rounded <= 2 * steps
        assert rounded <= 2 * steps + 1e-9


def test_longest_warm_up_counts_for_all_arms():
    found = common_warm_up([WarmUp(80, None, True), None, WarmUp(130, 50.0, False)])
    assert found == WarmUp(150, 50.0, False)
    assert common_warm_up([None, None]) is None


@pytest.mark.parametrize("every", [0, 50])
def test_slow_first_steps_of_a_compiler_are_warm_up(every):
    found = pooled_warm_up(curves(1, 400, warm_up=4, slower=15.0, every=every))
    assert found is not None
    assert 4 <= found.steps <= 10


def test_irregular_pauses_throughout_are_not_warm_up():
    launches = []
    for seed in range(3):
        reports = program(400, seed=seed, slower=0.0, every=0)
        times = reports.times_s.copy()
        for at in (20, 133, 290, 370):
            times[at:] += 2.0
        launches.append(launch_curve(type(reports)(reports.steps, times, reports.values)))
    found = pooled_warm_up(launches)
    assert found == WarmUp(1.0, None, True)


def test_small_checkpoints_among_random_pauses_are_found_in_several_launches():
    launches = []
    for seed in range(6):
        reports = program(400, seed=seed, slower=0.0, checkpoint_s=0.3, step_sd=0.1)
        times = reports.times_s.copy()
        for at in np.random.default_rng(seed).integers(1, 400, size=25):
            times[at:] += 0.8
        launches.append(launch_curve(type(reports)(reports.steps, times, reports.values)))
    assert pooled_period(launches) == pytest.approx(50, abs=0.5)


def test_unsettled_launches_keep_the_current_warm_up():
    current = WarmUp(100.0, None, True)
    assert revised_warm_up(current, None) == current
    assert revised_warm_up(current, WarmUp(150.0, 50.0, True)) == WarmUp(150.0, 50.0, True)
    assert revised_warm_up(current, WarmUp(400.0, 50.0, False)) == WarmUp(100.0, 50.0, False)
