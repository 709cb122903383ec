"""Settings and quantities as Python values have the meaning of the command line."""

from __future__ import annotations

import datetime
import shlex

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.api.functions.domains import domain_texts, setting_texts
from assay.api.functions.quantities import duration_text, named_texts, share_text, texts
from assay.machine.reader import read_machine
from assay.records import Choices
from assay.settings.domain_text import parse_assignment, parse_domain
from assay.settings.registry import builtin
from assay.units import parse_duration_s, parse_share

HERE = read_machine(system=False)
VALUES = st.one_of(
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda x: x + 0.0),  # no -0.0
    st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1, max_size=12),
)


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        ([1, 2, 4], "1,2,4"),
        (("glibc", "jemalloc"), "glibc,jemalloc"),
        ("glibc,jemalloc", "glibc,jemalloc"),
        (range(1, 5), "1..4"),
        (range(0, 10, 5), "0..5:5"),
        (range(3, 0, -1), "3,2,1"),
        (assay.Range(1, 64), "1..64"),
        (assay.Range(1, 64, log=True), "1..64:log"),
        (assay.Range(1, 64, log=True, base=2), "1..64:log2"),
        (assay.Range(0.5, 2.0, step=0.5), "0.5..2.0:0.5"),
        (["a,b", "c"], '"a,b",c'),
    ],
)
def test_domain_is_written_as_on_the_command_line(domain: object, text: str) -> None:
    assert domain_texts({"arg.x": domain}) == (f"arg.x={text}",)  # type: ignore[dict-item]


@given(st.lists(VALUES, min_size=2, max_size=6, unique_by=str))
def test_list_of_values_is_parsed_to_the_same_texts(values: list[object]) -> None:
    (text,) = domain_texts({"arg.x": values})  # type: ignore[dict-item]
    domain = parse_domain(text, builtin(), HERE).domain
    assert isinstance(domain, Choices)
    shown = [v if isinstance(v, str) else repr(v) for v in values]
    assert [v if isinstance(v, str) else repr(v) for v in domain.options] == shown


@given(st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1))
def test_text_of_a_setting_is_parsed_to_the_same_text(value: str) -> None:
    (text,) = setting_texts({"env.X": value})
    if value.startswith('"'):
        return
    assert str(parse_assignment(text, builtin(), HERE)[1]) == value


@pytest.mark.parametrize("domain", [[], range(0), (), None, [None], {"a": 1}.keys, object()])
def test_invalid_domain_is_refused(domain: object) -> None:
    with pytest.raises(assay.InvalidInputError, match="threads"):
        domain_texts({"threads": domain})  # type: ignore[dict-item]


@pytest.mark.parametrize("domain", [5, 2.5, True, numpy.int64(5)])
def test_single_value_is_refused_with_the_list_that_fixes_it(domain: object) -> None:
    with pytest.raises(
        assay.InvalidInputError, match=r"threads: .* is one value, not a domain"
    ) as e:
        assay.tune(["true"], {"threads": domain}, runs=4)  # type: ignore[dict-item]
    assert "] fixes the setting" in str(e.value.remedy)


@pytest.mark.parametrize(
    "make",
    [
        lambda: assay.Range(2, 1),
        lambda: assay.Range(1, 2, step=1, log=True),
        lambda: assay.Range(1, 2, base=2),
        lambda: assay.Range(float("nan"), 2),
    ],
)
def test_invalid_range_is_refused(make: object) -> None:
    with pytest.raises(assay.InvalidInputError):
        make()  # type: ignore[operator]


def test_settings_are_mappings_texts_or_lists() -> None:
    assert setting_texts({"threads": 2, "malloc": "glibc"}) == ("threads=2", "malloc=glibc")
    assert setting_texts(["threads=2", "nice=1"]) == ("threads=2", "nice=1")
    assert setting_texts("threads=2") == ("threads=2",)
    assert setting_texts(None) == ()
    assert domain_texts(["threads=1..4"]) == ("threads=1..4",)


def test_numbers_of_numpy_are_numbers() -> None:
    assert domain_texts({"threads": numpy.array([1, 2])}) == ("threads=1,2",)
    assert setting_texts({"threads": numpy.int64(3)}) == ("threads=3",)


@given(st.floats(0.001, 1e8))
def test_duration_in_seconds_keeps_its_value(seconds: float) -> None:
    text = duration_text(seconds)
    assert text is not None
    assert parse_duration_s(text) == seconds


def test_durations_are_texts_numbers_or_differences_of_time() -> None:
    assert duration_text("10m") == "10m"
    assert duration_text(None) is None
    text = duration_text(datetime.timedelta(minutes=1.5))
    assert text is not None
    assert parse_duration_s(text) == 90.0


@given(st.floats(0.0001, 0.9999))
def test_share_keeps_its_value(share: float) -> None:
    text = share_text(share)
    assert text is not None
    assert parse_share(text) == share


def test_repeatable_options_take_one_or_several() -> None:
    assert texts("a") == ("a",)
    assert texts(["a", "b"]) == ("a", "b")
    assert named_texts({"fps": "fps=(.*)"}) == ("fps=fps=(.*)",)
    assert named_texts("wall_s") == ("wall_s",)
    assert shlex.join(texts(None)) == ""
