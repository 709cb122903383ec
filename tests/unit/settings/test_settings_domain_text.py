"""Domains and values as text of the user."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInputError
from assay.records import Choices, Parameter, Range, Value
from assay.settings.domain_text import parse_assignment, parse_domain
from assay.settings.registry import builtin
from assay.settings.value_text import format_value, parse_value

from .hosts import AVX2, machine

HOST = machine(cores=4)
REGISTRY = builtin()


def parse(text: str) -> Parameter:
    return parse_domain(text, REGISTRY, HOST)


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("threads=1,2,4", Choices((1, 2, 4), ordered=True)),
        ("threads=1..4", Range(1, 4, step=1)),
        ("threads=1..9:2", Range(1, 9, step=2)),
        ("threads=1..8:log2", Range(1, 8, step=2, log=True)),
        ("malloc=glibc,jemalloc", Choices(("glibc", "jemalloc"))),
        ('cpus="0,2","1-3",2', Choices(("0,2", "1-3", 2))),
        ("cpus=0-1", Choices(("0-1",))),
        ("nice=-5..5", Range(-5, 5, step=1)),
        ("arg.n=0.5,1.5", Choices((0.5, 1.5), ordered=True)),
        ("arg.n=0.1..0.5:0.1", Range(0.1, 0.5, step=0.1, integer=False)),
        ("arg.n=0.0..1.0", Range(0.0, 1.0, integer=False)),
        ("arg.n=1e-3..1:log10", Range(0.001, 1.0, step=10, log=True, integer=False)),
        ("arg.n=1..1000:log", Range(1, 1000, log=True)),
        ("env.F=08,1.50,true,../x", Choices(("08", "1.50", "true", "../x"))),
        ("env.F=a=b,c", Choices(("a=b", "c"))),
        ('env.F="a,\\"b\\\\",""', Choices(('a,"b\\', ""))),
        ('env.F="7",7', Choices(("7", 7))),
    ],
)
def test_domains(text: str, domain: object) -> None:
    assert parse(text).domain == domain


@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("arg.n=4,8", 4),
        ("arg.n=2..8", 2),
        ("arg.n=0.5..8", 0.5),
        ("env.F=b,a", "b"),
        ("thp=never,always", "default"),
        ("cpus=1,2", 4),
        ("threads=1,2", None),
        ("malloc=glibc,jemalloc", None),
    ],
)
def test_defaults(text: str, default: Value | None) -> None:
    parameter = parse(text)
    assert parameter.default == default
    assert type(parameter.default) is type(default)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("thraeds=1,2", "threads"),
        ("evn.FOO=1", "env.FOO"),
        ("malloc=jemaloc", "malloc=jemalloc"),
        ("threads=0,1", "1..256"),
        ("threads=1..999", "999"),
        ("threads=two", "two"),
        ("threads=1..2.5", "2.5"),
        ("threads=1.5,2", "1.5"),
        ("threads=4..1", "reversed"),
        ("threads=1..8:0", "step"),
        ("threads=1..8:fast", "fast"),
        ("arg.n=0..8:log2", "logarithm"),
        ("arg.n=1..8:log1", "base"),
        ("arg.n=1..9000000000", "100000"),
        ("threads=1,,2", "empty"),
        ("threads=1,", "empty"),
        ("threads=", "The value of threads is missing."),
        ("threads", "is not an assignment"),
        ("=1", "is not an assignment"),
        ('cpus="0,2', "quotes"),
        ('cpus="0,2"x', "quotes"),
        ("cpus=zero", "zero"),
        ("cpus=1,1", "twice"),
        ("env.1X=a", "1X"),
        ("env.=a", "env."),
        ("arg.a-b=1", "a-b"),
        ("omp.bind=true", "omp.bind"),
    ],
)
def test_errors_are_reported(text: str, told: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(text)
    assert told in str(caught.value)
    assert caught.value.remedy


def test_unsupported_level_error_lists_supported_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"avx2-zen"):
        parse_domain("cpu.isa=avx512", REGISTRY, machine(flags=AVX2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpus=0,2", ("cpus", "0,2")),
        ('cpus="0,2"', ("cpus", "0,2")),
        ("cpus=2", ("cpus", 2)),
        ("threads=2", ("threads", 2)),
        ("env.F=a,b=c", ("env.F", "a,b=c")),
        ("env.F=", ("env.F", "")),
        ("arg.n=1.5", ("arg.n", 1.5)),
    ],
)
def test_assignments(text: str, expected: tuple[str, Value]) -> None:
    assert parse_assignment(text, REGISTRY, HOST) == expected


@pytest.mark.parametrize("written", ["1,2", "1..4", "1..8:log2"])
def test_several_values_of_an_assignment_name_their_verbs(written: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_assignment(f"threads={written}", REGISTRY, HOST)
    assert caught.value.cause == f"threads takes one value here, not '{written}'."
    assert "`assay tune`" in str(caught.value) and "--arm" in str(caught.value)


def test_invalid_value_within_a_list_names_the_domain() -> None:
    with pytest.raises(InvalidInputError, match=r"threads cannot be '1,999'\."):
        parse_assignment("threads=1,999", REGISTRY, HOST)


@given(st.text())
def test_text_round_trips_value(word: str) -> None:
    assert format_value(parse_value(word)) == word


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_number_round_trips_text(number: int | float) -> None:
    back = parse_value(format_value(number))
    assert back == number and type(back) is type(number)


@given(st.lists(st.text(st.characters(exclude_characters="\0")), min_size=1, unique=True))
def test_arbitrary_texts_round_trip_domain(texts: list[str]) -> None:
    quoted = ",".join('"' + t.replace("\\", "\\\\").replace('"', '\\"') + '"' for t in texts)
    assert parse(f"env.F={quoted}").domain == Choices(tuple(texts))


VALUES = st.one_of(
    st.text(st.characters(exclude_characters="\0")),
    st.from_regex(r"[-+.,\"\\\d]{0,6}", fullmatch=True),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)


@given(st.lists(VALUES, min_size=1, unique_by=lambda v: (type(v).__name__, v)))
def test_values_are_shown_in_input_syntax(values: list[Value]) -> None:
    domain = Choices(tuple(values), ordered=not any(isinstance(v, str) for v in values))
    assert parse(f"env.F={domain}").domain == domain


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**9), st.integers(2, 10**6))
def test_ranges_are_shown_in_input_syntax(low: int, more: int, step: int) -> None:
    more = min(more, 1000 * step)
    domain = Range(low, low + more, step=step)
    assert parse(f"env.F={domain}").domain == domain
