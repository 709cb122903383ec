import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.executors.metrics.printed_units import PrintedUnit, following_unit
from assay.executors.progress.speed_units import UnitConverter, is_time_per_step, seconds_in


def unit(text: str) -> PrintedUnit | None:
    return following_unit(text, 0)


@pytest.mark.parametrize(
    ("wanted", "value", "printed", "expected"),
    [
        ("it/s", 4.0, "s/it", 0.25),
        ("s/it", 4.0, "it/s", 0.25),
        ("it/s", 50.0, "ms/it", 20.0),
        ("step/s", 120.0, "steps/min", 2.0),
        ("samples/s", 2.0, "ksamples/s", 2000.0),
        ("MB/s", 0.5, "s/MB", 2.0),
        ("ms", 2.0, "s", 2000.0),
        ("MB/s", 2.0, "GB/s", 2000.0),
        ("it/s", 3.0, "it/s", 3.0),
    ],
)
def test_value_is_converted_to_the_unit_of_the_metric(wanted, value, printed, expected):
    assert UnitConverter(wanted).convert(value, unit(printed)) == pytest.approx(expected)


def test_first_printed_unit_counts_without_a_unit_of_the_metric():
    units = UnitConverter()
    assert units.convert(5.0, unit("s/it")) == 5.0
    assert units.convert(4.0, unit("it/s")) == 0.25
    assert units.convert(7.0, None) == 7.0
    assert units.unit == "s/it"
    assert units.converted == {"it/s"}


def test_unit_of_another_quantity_is_refused():
    units = UnitConverter("it/s")
    assert units.convert(5.0, unit("it/s")) == 5.0
    assert units.convert(5.0, unit("MB/s")) is None
    assert units.refused == {"MB/s"}


def test_zero_rate_is_an_infinite_time_per_step():
    assert UnitConverter("s/it").convert(0.0, unit("it/s")) == math.inf


@given(st.floats(1e-6, 1e6), st.sampled_from(["it/s", "s/it", "ms/it", "it/min"]))
def test_conversion_there_and_back_gives_the_same_value(value, printed):
    there = UnitConverter("it/s").convert(value, unit(printed))
    back = UnitConverter(printed).convert(there, unit("it/s"))
    assert back == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "inverse", "seconds"),
    [("it/s", False, 1.0), ("ms/step", True, 1e-3), ("ms", True, 1e-3), ("", False, 1.0)],
)
def test_form_and_seconds_of_a_unit(text, inverse, seconds):
    assert is_time_per_step(text) is inverse
    assert seconds_in(text) == seconds
