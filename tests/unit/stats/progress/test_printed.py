"""Recognition of printed running means."""

import numpy as np
import pytest
from tests.unit.stats.progress.programs import program

from assay.executors.progress.metric_series import MetricSeries
from assay.records import Metric, Progress
from assay.records.progress import RateForm
from assay.stats.progress.launch_curve import launch_curve
from assay.stats.progress.printed import PrintedForm, printed_form
from assay.stats.progress.reports import Reports, reports_of
from assay.stats.progress.steady import steady_part
from assay.stats.progress.value import LaunchValue, launch_value
from assay.stats.progress.warm_up import WarmUp

EPOCH = 60
"""Steps of an epoch."""
RESTARTS = tuple(float(step) for step in range(EPOCH, 600, EPOCH))


def with_values(reports: Reports, values: np.ndarray) -> Reports:
    return Reports(reports.steps, reports.times_s, values)


def of_epochs(reports: Reports, *, first_counts: bool = True) -> np.ndarray:
    """Return the mean time of a step since the begin of its epoch, or since its first step."""
    values = np.empty(len(reports))
    for at in range(len(reports)):
        begin = at - at % EPOCH
        since = begin if not first_counts and at > begin else begin - 1
        begin_s = reports.times_s[since] if since >= 0 else 10.0
        values[at] = (reports.times_s[at] - begin_s) / (at - since)
    return values


@pytest.mark.parametrize("every", [20, 50])
def test_running_mean_of_even_steps_with_pauses_is_recognised(every):
    plain = program(600, warm_up=0, step_sd=0.001, every=every)
    reports = with_values(plain, 32 * plain.steps / (plain.times_s - 10.0))
    assert printed_form(reports, RateForm.RATE) is PrintedForm.CUMULATIVE
    curve = launch_curve(reports)
    part = steady_part(curve, WarmUp(100.0, float(every), True))
    assert part is not None
    found = launch_value(curve, part, RateForm.RATE).value
    assert found == pytest.approx(32 / (0.2 + 2 / every), rel=0.02)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_constant_rate_is_no_running_mean(noise):
    plain = program(400, slower=0.0, every=0, step_sd=noise, correlation=0.0)
    reports = with_values(plain, np.full(400, 160.0))
    assert printed_form(reports, RateForm.RATE) is PrintedForm.INTERVAL


@pytest.mark.parametrize("first_counts", [True, False])
@pytest.mark.parametrize("digits", [None, 0])
def test_running_mean_of_each_epoch_is_recognised(first_counts, digits):
    plain = program(600, warm_up=150, every=EPOCH, step_sd=0.02)
    values = 1e3 * of_epochs(plain, first_counts=first_counts)
    reports = with_values(plain, values if digits is None else np.round(values / 10) * 10)
    assert printed_form(reports, RateForm.DURATION, RESTARTS) is PrintedForm.CUMULATIVE
    curve = launch_curve(reports, RateForm.DURATION)
    part = steady_part(curve, WarmUp(180.0, float(EPOCH), True))
    assert part is not None
    found = launch_value(curve, part, RateForm.DURATION, restarts=RESTARTS)
    assert found.value == pytest.approx(1e3 * (0.2 + 2 / EPOCH), rel=0.02)


@pytest.mark.parametrize("changes", [{}, {"every": 0}, {"step_sd": 0.2}, {"warm_up": 0}])
def test_rate_of_intervals_is_no_running_mean(changes):
    reports = program(600, **changes)
    assert printed_form(reports, RateForm.RATE, RESTARTS) is PrintedForm.INTERVAL


def test_restarts_of_the_printed_step_are_kept():
    series = MetricSeries(Metric(name="ms", unit="ms", progress=Progress(pattern="x")), "")
    for number in range(3 * EPOCH):
        series.add_value(20.0, float(number), float(number % EPOCH + 1))
    main = series.main
    assert main is not None
    assert list(main.recorder.restarts) == [EPOCH, 2.0 * EPOCH]
    assert reports_of(main.recorder).steps[-1] == 3 * EPOCH


def value_of(step_s: np.ndarray, form: RateForm, printed: float) -> LaunchValue:
    """Return the value of a program that always prints the same, over its whole launch."""
    count = len(step_s)
    reports = Reports(np.arange(1.0, count + 1), np.cumsum(step_s), np.full(count, printed))
    curve = launch_curve(reports, form)
    part = steady_part(curve, WarmUp(1.0, None, True))
    assert part is not None
    return launch_value(curve, part, form)


@pytest.mark.parametrize("form", [RateForm.RATE, RateForm.DURATION])
@pytest.mark.parametrize("later_s", [0.002, 0.1])
@pytest.mark.parametrize(("first", "later"), [(21, 9), (54, 6), (140, 60)])
def test_constant_speed_with_changing_step_time_is_mean_of_printed_values(
    form, later_s, first, later
):
    found = value_of(np.repeat([0.03, later_s], [first, later]), form, 320.0)
    assert (found.printed, found.value) == (PrintedForm.CONTRADICTED, pytest.approx(320.0))


def test_throughput_above_all_printed_rates_is_their_mean():
    found = value_of(np.repeat([0.03, 0.002], [9, 3]), RateForm.RATE, 320.0)
    assert (found.printed, found.value) == (PrintedForm.CONTRADICTED, pytest.approx(320.0))


def test_constant_rate_contains_pauses_between_its_reports():
    found = value_of(np.tile([0.01] * 9 + [0.03], 6), RateForm.RATE, 320.0)
    assert found.printed is PrintedForm.INTERVAL
    assert found.value == pytest.approx(320.0 / 1.2, rel=0.02)
