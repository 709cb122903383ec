import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.stats.progress.programs import program

from assay.records.progress import RateForm, Series
from assay.stats.progress.launch_curve import launch_curve
from assay.stats.progress.printed import PrintedForm, printed_form
from assay.stats.progress.reports import Reports, has_usable_times, reports_of, step_times
from assay.stats.progress.steady import steady_part
from assay.stats.progress.value import launch_value
from assay.stats.progress.warm_up import WarmUp

KNOWN = WarmUp(100.0, 50.0, True)


def test_steady_part_covers_whole_periods():
    part = steady_part(launch_curve(program(280)), KNOWN)
    assert part is not None
    assert (part.begin_step, part.end_step, part.periods) == (100, 250, 3)
    assert part.whole_periods
    assert part.batch_sd is not None


@settings(max_examples=30, deadline=None)
@given(steps=st.integers(160, 700), limit=st.integers(50, 500), every=st.sampled_from((1, 5, 10)))
def test_steady_part_has_whole_periods_within_its_limit(steps, limit, every):
    reports = program(steps, report_every=every)
    part = steady_part(launch_curve(reports), KNOWN, steady_steps=limit)
    assert part is not None
    length = part.end_step - part.begin_step
    assert part.begin_step >= 100
    assert length <= limit + every
    if part.periods:
        assert length == pytest.approx(50 * part.periods, abs=every)


def test_less_than_a_period_is_marked():
    part = steady_part(launch_curve(program(130)), KNOWN)
    assert part is not None
    assert not part.whole_periods
    assert part.end_step == 130


@pytest.mark.parametrize(("steps", "periods"), [(148, 0), (149, 1), (150, 1), (198, 1), (199, 2)])
def test_one_period_but_for_a_fiftieth_is_whole(steps, periods):
    part = steady_part(launch_curve(program(steps)), KNOWN)
    assert part is not None
    assert (part.periods, part.whole_periods) == (periods, periods > 0)


def test_unsettled_launch_counts_from_its_middle():
    part = steady_part(launch_curve(program(400, every=0)), WarmUp(300.0, None, False))
    assert part is not None
    assert part.begin_step == pytest.approx(200, abs=2)
    assert not part.settled


def test_no_report_after_the_warm_up_gives_no_steady_part():
    assert steady_part(launch_curve(program(90)), KNOWN) is None
    assert steady_part(launch_curve(program(2)), None) is None


def test_few_reports_count_from_their_middle():
    part = steady_part(launch_curve(program(60, report_every=10, every=0)))
    assert part is not None
    assert (part.begin_step, part.end_step, part.settled) == (40, 60, False)


def test_spread_of_batches_is_the_long_run_variance():
    parts = [steady_part(launch_curve(program(900, seed=seed)), KNOWN) for seed in range(40)]
    variances = [part.batch_sd**2 * part.batch_steps for part in parts if part and part.batch_sd]
    share = 0.2 / (0.2 + 2 / 50)
    assert np.mean(variances) == pytest.approx(share**2 * 0.05**2 * 4, rel=0.25)


def test_spread_does_not_depend_on_the_distance_of_reports():
    fine, coarse = (
        steady_part(launch_curve(program(2000, report_every=every)), KNOWN) for every in (1, 4)
    )
    assert fine is not None and coarse is not None
    assert fine.batch_sd is not None and coarse.batch_sd is not None
    assert coarse.batch_sd == pytest.approx(fine.batch_sd, rel=0.5)


def test_rate_is_throughput_with_checkpoints():
    curve = launch_curve(program(600, step_sd=0.01))
    part = steady_part(curve, KNOWN)
    assert part is not None
    found = launch_value(curve, part, RateForm.RATE)
    assert found.printed is PrintedForm.INTERVAL
    assert found.value == pytest.approx(32 / (0.2 + 2 / 50), rel=0.01)
    assert found.step_s == pytest.approx(0.2, rel=0.01)


def test_duration_in_milliseconds_keeps_its_unit():
    plain = program(600, step_sd=0.01)
    reports = Reports(plain.steps, plain.times_s, 1e3 * 32 / plain.values)
    curve = launch_curve(reports, RateForm.DURATION)
    part = steady_part(curve, KNOWN)
    assert part is not None
    found = launch_value(curve, part, RateForm.DURATION)
    assert found.value == pytest.approx(1e3 * (0.2 + 2 / 50), rel=0.01)


def test_level_is_the_mean_of_its_values():
    plain = program(300)
    reports = Reports(plain.steps, plain.times_s, np.full(300, -2.5))
    curve = launch_curve(reports, RateForm.LEVEL)
    part = steady_part(curve, KNOWN)
    assert part is not None
    assert launch_value(curve, part, RateForm.LEVEL).value == -2.5


@pytest.mark.parametrize("digits", [None, 1])
def test_running_mean_is_recognised_and_replaced(digits):
    plain = program(400, warm_up=150)
    rates = 32 * plain.steps / (plain.times_s - 10.0)
    values = rates if digits is None else np.round(rates, digits)
    reports = Reports(plain.steps, plain.times_s, values)
    assert printed_form(reports, RateForm.RATE) is PrintedForm.CUMULATIVE
    curve = launch_curve(reports)
    part = steady_part(curve, WarmUp(150.0, 50.0, True))
    assert part is not None
    found = launch_value(curve, part, RateForm.RATE)
    assert found.value == pytest.approx(32 / (0.2 + 2 / 50), rel=0.02)
    assert rates[-1] < 0.9 * found.value


def test_running_mean_of_durations_is_recognised():
    plain = program(400, warm_up=150)
    values = 1e3 * (plain.times_s - 10.0) / plain.steps
    reports = Reports(plain.steps, plain.times_s, values)
    assert printed_form(reports, RateForm.DURATION) is PrintedForm.CUMULATIVE


def test_smoothed_rate_is_recognised():
    plain = program(400)
    values = plain.values.copy()
    for at in range(1, len(values)):
        values[at] = 0.3 * values[at] + 0.7 * values[at - 1]
    reports = Reports(plain.steps, plain.times_s, values)
    assert printed_form(reports, RateForm.RATE) is PrintedForm.SMOOTHED


def test_constant_speed_is_that_of_intervals():
    reports = Reports(np.arange(1.0, 51), np.arange(1.0, 51), np.full(50, 32.0))
    assert printed_form(reports, RateForm.RATE) is PrintedForm.INTERVAL


def test_buffered_output_counts_by_its_values():
    plain = program(300, every=0)
    bursts = np.ceil(np.arange(1, 301) / 100) * 20.0
    reports = Reports(plain.steps, bursts, plain.values)
    assert not has_usable_times(reports)
    assert step_times(reports).tolist() == pytest.approx((1 / plain.values[1:]).tolist())
    curve = launch_curve(reports)
    part = steady_part(curve, WarmUp(100.0, None, True))
    assert part is not None
    assert launch_value(curve, part, RateForm.RATE).printed is PrintedForm.UNRELATED


def test_steps_that_start_again_continue():
    steps = (1.0, 2.0, 3.0, 1.0, 2.0, 3.0)
    series = Series(times_s=(1.0, 2, 3, 4, 5, 6), steps=steps, values=(5.0,) * 6)
    assert reports_of(series).steps.tolist() == [1, 2, 3, 4, 5, 6]


def test_invalid_and_repeated_reports_are_left_out():
    series = Series(
        times_s=(1.0, 2.0, 1.5, 4.0, math.inf), steps=(1, 2, 3, 3, 4), values=(1, math.nan, 3, 4, 5)
    )
    found = reports_of(series)
    assert found.steps.tolist() == [1, 3]
    assert found.values.tolist() == [1, 4]
    assert (np.diff(found.times_s) >= 0).all()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(allow_nan=True), st.floats(0, 50), st.floats(allow_nan=True)),
        max_size=20,
    )
)
def test_any_series_gives_increasing_steps(items):
    series = Series(
        times_s=tuple(t for t, _, _ in items),
        steps=tuple(s for _, s, _ in items),
        values=tuple(v for _, _, v in items),
    )
    found = reports_of(series)
    assert (np.diff(found.steps) > 0).all()
    assert (np.diff(found.times_s) >= 0).all()
    launch_curve(found)
