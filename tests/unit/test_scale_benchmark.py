"""Growth, verdicts and page of the benchmark of scale."""

from __future__ import annotations

import pytest
from benchmarks.scale.__main__ import complete
from benchmarks.scale.growth import cost_between, exponent
from benchmarks.scale.page import text
from benchmarks.scale.parts import PARTS
from benchmarks.scale.targets import FAILED, Limit
from hypothesis import given
from hypothesis import strategies as st

LIMIT = Limit("report", "report", 1000, 10.0, "s", reason="reason")
ABOUT = {
    "date": "2026-11-28",
    "machine": {"model": "Some CPU", "cpus": 2, "kernel": "6.1", "python": "3.11"},
}


@given(st.floats(0.0, 3.0), st.floats(1e-3, 1e3))
def test_exponent_of_a_power_is_its_exponent(power: float, factor: float) -> None:
    figures = {size: factor * size**power for size in (10, 100, 1000)}
    assert exponent(figures) == pytest.approx(power)


def test_exponent_rests_on_the_two_largest_sizes() -> None:
    assert exponent({10: 100.0, 100: 1.0, 1000: 10.0}) == pytest.approx(1.0)
    assert exponent({10: 1.0}) is None
    assert exponent({10: 0.0, 100: 1.0}) is None


def test_work_after_the_last_count_has_no_cost() -> None:
    readings = [(0, 0.0), (10, 1.0), (20, 2.0), (20, 9.0)]
    assert cost_between(readings, 0, 20) == pytest.approx(0.1)
    assert cost_between(readings, 11, 20) is None


@pytest.mark.parametrize(
    ("figures", "verdict", "reason"),
    [
        ({1000: {"report": 9.0}}, "*met*", ""),
        ({1000: {"report": 11.0}}, "*missed*", "reason"),
        ({100: {"report": 1.0}}, "*open*", "not measured at this size"),
        ({1000: {FAILED: "refused"}}, "*missed*", "refused"),
    ],
)
def test_verdict_follows_from_the_figure_at_its_size(
    figures: dict[int, dict[str, float]], verdict: str, reason: str
) -> None:
    *_, found, shown = LIMIT.target(figures).cells
    assert (found, shown) == (verdict, reason)


def test_page_has_every_part_and_names_missing_ones() -> None:
    first = next(iter(PARTS))
    key = next(iter(PARTS[first].columns))
    page = text({first: {"about": ABOUT, "figures": {"1000": {key: 1.5}, "10": {FAILED: "no"}}}})
    assert "| 1,000 | 1.5 |" in page
    assert "| 10 | no |" in page
    assert f"Not measured yet: {PARTS[list(PARTS)[1]].title}," in page
    assert all(limit.measure in page for limit in PARTS[first].limits)


def test_limits_are_at_sizes_that_are_measured() -> None:
    for part in PARTS.values():
        assert {limit.size for limit in part.limits} <= set(part.sizes)


def test_published_figures_of_more_sizes_stay(capsys):
    known = {"launches": {"figures": {"1000": {}, "10000": {}}}, "list": {"figures": {"1000": {}}}}
    fewer = {"figures": {"1000": {"mean": 1.0}}}
    as_many = {"figures": {"1000": {"list": 0.2}}}
    assert complete({"launches": fewer, "list": as_many, "sweep": fewer}, known) == {
        "list": as_many,
        "sweep": fewer,
    }
    assert "launches: the published figures of more sizes stay" in capsys.readouterr().out
