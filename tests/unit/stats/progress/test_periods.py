import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.progress.periods import find_dips, median, running_median


def noise(n: int, seed: int = 0) -> np.ndarray:
    return 0.2 * (1.0 + 0.05 * np.random.default_rng(seed).standard_normal(n))


@settings(max_examples=40, deadline=None)
@given(period=st.integers(5, 60), periods=st.integers(3, 8), phase=st.integers(0, 59))
def test_checkpoints_at_equal_distances_give_their_period(period, periods, phase):
    n = period * periods
    seconds = noise(n, period)
    seconds[phase % period :: period] += 2.0
    assert find_dips(np.arange(1.0, n + 1), seconds).period_steps == pytest.approx(period)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(10, 400), seed=st.integers(0, 1000))
def test_noise_has_no_period(n, seed):
    found = find_dips(np.arange(1.0, n + 1), noise(n, seed))
    assert found.period_steps is None


def test_correlated_noise_has_no_period():
    rng = np.random.default_rng(3)
    for _ in range(20):
        values = np.zeros(400)
        for at in range(1, 400):
            values[at] = 0.9 * values[at - 1] + 0.44 * rng.standard_normal()
        assert find_dips(np.arange(1.0, 401), 0.2 * (1 + 0.1 * values)).period_steps is None


def test_reports_of_ten_steps_show_diluted_checkpoints():
    seconds = noise(60) / 4
    seconds[4::5] += 2.0 / 10
    found = find_dips(np.arange(10.0, 610, 10), seconds)
    assert found.period_steps == pytest.approx(50)
    assert found.spikes.sum() == 12


@pytest.mark.parametrize("width", [3, 4, 7, 16, 20])
def test_reports_that_do_not_divide_the_period_give_it(width):
    single = noise(2000)
    single[49::50] += 2.0
    ends = np.arange(width, 2001, width)
    elapsed = np.concatenate(([0.0], np.cumsum(single)))
    seconds = np.diff(elapsed[np.concatenate(([0], ends))]) / width
    found = find_dips(ends.astype(float), seconds)
    assert found.period_steps is not None
    assert found.period_steps / 50 == pytest.approx(round(found.period_steps / 50), abs=0.005)


def test_two_checkpoints_one_period_from_the_begin_suffice():
    seconds = noise(120)
    seconds[[49, 99]] += 2.0
    assert find_dips(np.arange(1.0, 121), seconds).period_steps == 50


def test_one_checkpoint_has_no_period_but_is_marked():
    seconds = noise(80)
    seconds[49] += 2.0
    found = find_dips(np.arange(1.0, 81), seconds)
    assert found.period_steps is None
    assert np.flatnonzero(found.spikes).tolist() == [49]


def test_irregular_pauses_have_no_period():
    seconds = noise(300)
    seconds[[20, 37, 110, 180, 291]] += 2.0
    assert find_dips(np.arange(1.0, 301), seconds).period_steps is None


def test_missed_and_compile_spikes_leave_the_period():
    seconds = noise(400)
    seconds[49::50] += 2.0
    seconds[149] -= 2.0
    seconds[0] += 5.0
    assert find_dips(np.arange(1.0, 401), seconds).period_steps == pytest.approx(50)


def test_wave_without_spikes_gives_its_period():
    at = np.arange(400)
    seconds = noise(400) * (1 + 0.3 * np.sin(2 * np.pi * at / 40))
    assert find_dips(at + 1.0, seconds).period_steps == pytest.approx(40, abs=1)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_median_equals_numpy(values):
    assert median(np.array(values)) == pytest.approx(float(np.median(values)))


def test_running_median_removes_single_values():
    values = np.ones(30)
    values[[3, 12, 29]] = 9.0
    assert running_median(values).tolist() == [1.0] * 30
