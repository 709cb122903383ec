import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.records.workload import Goal
from assay.stats.progress.derived import TimeTo, ValueAt, final_value, time_to, value_at
from assay.stats.progress.reports import Reports


def series(values, every=10.0):
    steps = every * np.arange(1, len(values) + 1)
    return Reports(steps, 0.5 * steps, np.array(values, dtype=float))


def test_time_to_ignores_a_single_low_value():
    values = [1.0, 0.9, 0.2, 0.8, 0.7, 0.6, 0.29, 0.28, 0.27, 0.26, 0.25]
    assert time_to(series(values), 0.3, Goal.LOWER) == TimeTo(45.0, censored=False)


def test_limit_never_reached_is_censored():
    assert time_to(series([1.0] * 9), 0.3, Goal.LOWER) == TimeTo(45.0, censored=True)


def test_time_to_a_higher_value():
    values = [0.1, 0.2, 0.5, 0.8, 0.9, 0.9, 0.95, 0.95]
    assert time_to(series(values), 0.8, Goal.HIGHER) == TimeTo(30.0, censored=False)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0, 1))
def test_time_to_is_within_the_launch(values, limit):
    found = time_to(series(values), limit, Goal.LOWER)
    assert found is not None
    assert 0 < found.seconds <= 5.0 * len(values)
    if max(values) <= limit:
        assert not found.censored


def test_value_at_takes_the_nearest_report():
    reports = series([5.0, 4.0, 3.0])
    assert value_at(reports, 22) == ValueAt(4.0, -2.0)
    assert value_at(reports, 1000) == ValueAt(3.0, -970.0)
    assert final_value(reports) == 3.0


def test_no_report_has_no_derived_values():
    empty = series([])
    assert time_to(empty, 1.0, Goal.LOWER) is None
    assert value_at(empty, 5) is None
    assert final_value(empty) is None
