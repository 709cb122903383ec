"""Formatting of texts, numbers and changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.records import Metric
from assay.reporting.formatting import (
    MINUS,
    NBSP,
    change,
    change_interval,
    label_of,
    shorten,
    unbroken,
    whole_change,
)
from assay.reporting.scale import scale_for
from assay.units import show_count

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT, st.integers(4, 60))
def test_shorten_keeps_both_ends(text, width):
    shown = shorten(text, width)
    assert len(shown) <= max(width, 0)
    if len(text) <= width:
        assert shown == text
    else:
        assert text.startswith(shown.split("\u2026")[0]) or "\u2026" in text
        assert shown[-1] == text[-1]


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [
        (1.0, f"0.0{NBSP}%"),
        (0.9996, f"0.0{NBSP}%"),
        (0.818, f"{MINUS}18.2{NBSP}%"),
        (1.019, f"+1.9{NBSP}%"),
        (2.0, "2.00\u00d7"),
        (0.25, f"{MINUS}75.0{NBSP}%"),
    ],
)
def test_change(ratio, shown):
    assert change(ratio) == shown


def test_change_on_an_axis_has_no_needless_decimals():
    assert whole_change(0.8) == f"{MINUS}20{NBSP}%"
    assert whole_change(1.025) == f"+2.5{NBSP}%"
    assert whole_change(4.0) == "4\u00d7"


def test_open_intervals_are_described():
    assert change_interval((None, None)) == "without bounds"
    assert change_interval((None, 0.5)) == f"at most {MINUS}50.0{NBSP}%"
    assert change_interval((1.1, None)) == f"at least +10.0{NBSP}%"
    assert change_interval((0.9, 1.1)) == f"{MINUS}10.0{NBSP}% to +10.0{NBSP}%"


def test_both_ends_of_an_interval_have_one_unit():
    assert change_interval((1.994, 3.13)) == "1.99\u00d7 to 3.13\u00d7"
    assert change_interval((0.9, 3.13)) == "0.90\u00d7 to 3.13\u00d7"
    assert change_interval((2.5, 4.0)) == "2.50\u00d7 to 4.00\u00d7"


def test_count():
    assert show_count(1, "launch", "launches") == "1 launch"
    assert show_count(1204, "sample") == "1,204 samples"


def test_label_of_a_metric_from_outside_is_clean():
    assert label_of(Metric(name="wall_s")) == "wall time"
    assert label_of(Metric(name="a\x1bb")) == "a\\x1bb"


@pytest.mark.parametrize(
    ("values", "unit", "shown"),
    [
        ([1.2345, 2.5], "s", "1.234 s"),
        ([0.0012345], "s", "1.234 ms"),
        ([95.25], "s", "95.25 s"),
        ([7200.0], "s", "2.000 h"),
        ([3 * 2**30], "bytes", "3.000 GiB"),
        ([1234.5], "images/s", "1,234 images/s"),
        ([4e-7], "s", "400.0 ns"),
    ],
)
def test_scale_writes_four_digits_in_the_unit_that_reads_best(values, unit, shown):
    assert scale_for(values, unit).quantity(values[0]) == shown


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True)))
def test_scale_takes_anything(values):
    scale = scale_for(values, "s")
    assert scale.factor > 0
    assert 0 <= scale.decimals <= 9


def test_negative_numbers_have_a_true_minus():
    assert scale_for([1.0], "s").quantity(-1.5) == f"{MINUS}1.500 s"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("takes 8.6 % less time", "takes 8.6_% less time"),
        ("1.2 ms and 3 MiB", "1.2_ms and 3_MiB"),
        ("2.40 times as fast", "2.40_times as fast"),
        ("of 3 seeds in 4 blocks", "of 3 seeds in 4 blocks"),
    ],
)
def test_numbers_are_not_separated_from_units(text: str, told: str) -> None:
    assert unbroken(text) == told.replace("_", "\u00a0")
