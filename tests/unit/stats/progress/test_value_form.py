import numpy as np
import pytest

from assay.records.progress import RateForm, SteadyPart
from assay.stats.progress.launch_curve import launch_curve
from assay.stats.progress.reports import Array, Reports
from assay.stats.progress.value import launch_value
from assay.stats.progress.value_form import fitting_form, follows_speed, form_by_times

SECONDS = np.random.default_rng(7).uniform(0.09, 0.11, 200)


def _reports(values: Array) -> Reports:
    return Reports(np.arange(1.0, len(values) + 1), np.cumsum(SECONDS[: len(values)]), values)


def _value(reports: Reports, form: RateForm) -> float:
    part = SteadyPart(
        begin_step=1, begin_s=0.1, end_step=len(reports), end_s=20.0, first_report_s=0.1
    )
    return launch_value(launch_curve(reports, form), part, form).value


def test_rate_read_as_duration_is_averaged_as_rate() -> None:
    reports = _reports(32.0 / SECONDS)
    assert fitting_form(reports, RateForm.DURATION) is RateForm.RATE
    assert _value(reports, RateForm.DURATION) == pytest.approx(320.0, rel=0.02)
    assert _value(reports, RateForm.DURATION) == _value(reports, RateForm.RATE)


def test_duration_read_as_rate_is_averaged_as_duration() -> None:
    reports = _reports(1000.0 * SECONDS)
    assert fitting_form(reports, RateForm.RATE) is RateForm.DURATION
    assert _value(reports, RateForm.RATE) == pytest.approx(100.0, rel=0.02)


@pytest.mark.parametrize("values", [np.full(200, 320.0), 2.0 * np.exp(-np.arange(200) / 50)])
def test_values_without_relation_keep_their_form(values: Array) -> None:
    assert form_by_times(_reports(values)) is None
    assert not follows_speed(_reports(values))


def test_duration_of_previous_step_is_no_rate() -> None:
    assert form_by_times(_reports(np.roll(SECONDS, 1))) is None


def test_few_reports_keep_their_form() -> None:
    assert form_by_times(_reports(32.0 / SECONDS[:20])) is None


def test_level_that_follows_the_speed_is_averaged_over_time() -> None:
    seconds = SECONDS.copy()
    seconds[50::50] += 1.0
    reports = Reports(np.arange(1.0, 201.0), np.cumsum(seconds), 32.0 / seconds)
    assert _value(reports, RateForm.LEVEL) == pytest.approx(199 * 32 / seconds[1:].sum(), rel=0.01)


def test_flushed_rates_are_averaged_over_steps_of_equal_work() -> None:
    values = np.array([100.0, 300.0] * 50)
    reports = Reports(np.arange(1.0, 101.0), np.full(100, 4.0), values)
    assert _value(reports, RateForm.RATE) == pytest.approx(150.0, rel=0.01)
