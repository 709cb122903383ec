import math

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.executors.progress.recorder import SeriesRecorder
from assay.executors.progress.step_count import StepCount

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300)


def recorded(values: list[float], max_reports: int) -> SeriesRecorder:
    recorder = SeriesRecorder(max_reports=max_reports)
    for number, value in enumerate(values, 1):
        recorder.add(float(number), float(10 * number), value)
    return recorder


def test_few_reports_are_kept_singly():
    series = recorded([1.0, 3.0, 2.0], 64).series()
    assert series.values == (1.0, 3.0, 2.0)
    assert series.steps == (10, 20, 30)
    assert (series.minima, series.maxima, series.counts) == ((), (), ())


def test_reports_of_one_step_share_an_interval():
    recorder = SeriesRecorder()
    for time_s, step, value in ((1.0, 1.0, 5.0), (2.0, 2.0, 6.0), (2.5, 2.0, 8.0), (3.0, 3.0, 9.0)):
        recorder.add(time_s, step, value)
    series = recorder.series()
    assert series.steps == (1, 2, 3)
    assert series.times_s == (1.0, 2.5, 3.0)
    assert series.values == (5.0, 7.0, 9.0)
    assert series.counts == (1, 2, 1)
    assert series.minima == (5.0, 6.0, 9.0)
    assert series.maxima == (5.0, 8.0, 9.0)


@given(VALUES, st.sampled_from([2, 4, 16]), st.sampled_from([1, 5, 256]))
@settings(max_examples=200, deadline=None)
def test_thinning_keeps_number_mean_and_extremes(values, max_reports, max_intervals):
    recorder = recorded(values, max_reports)
    assert len(recorder) <= max_reports
    series = recorder.series(max_intervals)
    counts = series.counts or (1,) * len(series.values)
    assert len(series.values) <= max_intervals
    assert sum(counts) == recorder.reports == len(values)
    assert min(series.minima or series.values) == min(values)
    assert max(series.maxima or series.values) == max(values)
    mean = math.fsum(v * n for v, n in zip(series.values, counts, strict=True)) / len(values)
    assert math.isclose(mean, math.fsum(values) / len(values), rel_tol=1e-9, abs_tol=1e-6)
    assert list(series.steps) == sorted(set(series.steps))
    assert series.times_s[-1] == len(values)


def test_millions_of_reports_need_bounded_memory():
    recorder = SeriesRecorder()
    for number in range(300_000):
        recorder.add(number * 0.001, float(number), float(number % 7))
    assert len(recorder) <= 1 << 16
    series = recorder.series()
    assert len(series.values) == 256
    assert sum(series.counts) == 300_000


def test_series_without_reports_is_empty():
    assert SeriesRecorder().series().values == ()


def continued(steps, total=None, *, completed=False):
    count = StepCount(completed=completed)
    return [count.next(0.0, step, total) for step in steps]


def test_reports_without_steps_are_numbered():
    assert continued([None, None, None]) == [1, 2, 3]


def test_epochs_that_count_from_one_are_continued():
    assert continued([10, 20, 30, 10, 20, 30]) == [10, 20, 30, 40, 50, 60]


def test_epochs_that_count_from_zero_are_continued():
    assert continued([0, 10, 20, 0, 10, 20]) == [0, 10, 20, 30, 40, 50]


def test_completed_steps_of_a_new_bar_add_none():
    assert continued([0, 1, 2, 0, 1, 2], 2, completed=True) == [0, 1, 2, 2, 3, 4]


def test_epoch_with_a_known_length_counts_whole():
    assert continued([30, 60, 90, 30], 100) == [30, 60, 90, 130]


def test_restart_from_a_checkpoint_is_a_fall_and_continues():
    count = StepCount()
    found = [count.next(float(n), s) for n, s in enumerate([10.0, 20.0, 30.0, 40.0, 31.0, 41.0])]
    assert found == [10, 20, 30, 40, 50, 60]
    assert count.falls == 1
    assert (count.fallen[0].before, count.fallen[0].after, count.fallen[0].time_s) == (40, 31, 4)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=100), st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_printed_steps_give_steps_that_never_fall(steps, completed):
    found = continued([float(step) for step in steps], completed=completed)
    assert found == sorted(found)
