"""Pareto front in the report: data, picture, table."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from report_studies import machine, stratum
from simulated_fronts import FrontStudy, TwoSided, front_study

from assay.records import Budget, Choices, Configuration, FrontExclusion, Goal, Parameter, Space
from assay.reporting.front import FrontFigure, FrontMark, front_figures
from assay.reporting.front_text import to_csv, to_markdown
from assay.reporting.html import render
from assay.reporting.inputs import ReportInput
from assay.reporting.parts.front import front
from assay.reporting.pictures.front import front_svg

SPACE = Space(
    parameters=(Parameter(name="arg.b", domain=Choices((8, 1, 2, 4, 16, 32)), default=8),)
)


def trade(configuration: Configuration) -> tuple[float, float]:
    steps = math.log2(int(configuration.get("arg.b", 8))) - 3
    return (-0.15 * steps, 0.2 * steps)


@pytest.fixture(scope="module")
def study() -> FrontStudy:
    return front_study(SPACE, TwoSided(trade), Budget(launches=200))


def report_of(study: FrontStudy) -> ReportInput:
    return ReportInput(
        study_id="abc",
        spec=study.spec,
        strata=(stratum(),),
        samples=tuple(study.samples),
        conclusion=study.conclusion,
        machine=machine(),
        assay_version="0.1.0",
        created_at=1.7e9,
        elapsed_s=60.0,
    )


def test_front_figure_has_confirmed_and_tried_points(study: FrontStudy) -> None:
    (figure,) = front_figures(report_of(study))
    assert (figure.across, figure.up) == ("wall time", "peak memory")
    assert figure.goals == (Goal.LOWER, Goal.LOWER)
    front = [mark for mark in figure.marks if mark.label]
    assert [mark.label for mark in front] == [str(n) for n in range(1, len(front) + 1)]
    for mark, point in zip(front, study.conclusion.pareto_front, strict=True):
        assert mark.name == point.name
        assert mark.ratios == tuple(claim.ratio for claim in point.claims)
    assert len(figure.tried) + len(figure.marks) == 5, "each but the default, once"
    for time, memory in figure.tried:
        assert math.log(memory) / 0.2 == pytest.approx(-math.log(time) / 0.15, abs=0.5)
    assert figure.joined_points == tuple(sorted(mark.ratios for mark in front))


def test_point_without_confirmed_value_is_drawn_as_tried(study: FrontStudy) -> None:
    """The picture of a completely disturbed confirmation is not empty."""
    report = report_of(study)
    (whole,) = front_figures(report)
    points = (*study.conclusion.pareto_front, *study.conclusion.excluded_points)
    bare = tuple(
        msgspec.structs.replace(point, claims=(), exclusion=FrontExclusion.UNCLEAR)
        for point in points
    )
    conclusion = msgspec.structs.replace(study.conclusion, pareto_front=(), excluded_points=bare)
    (figure,) = front_figures(replace(report, conclusion=conclusion))
    assert not figure.marks
    assert len(figure.tried) == len(whole.tried) + len(whole.marks)
    across = max(100 * abs(ratios[0] - 1) for ratios in figure.tried)
    drawn = front_svg(figure).replace("\u00a0", " ").replace("\u2009", " ")
    places = re.findall(r">[^<>0-9]*([0-9.]+) ?%</text>", drawn)
    assert max(map(float, places)) > across / 2, "the axes reach as far as what was tried"
    found = front(replace(report, conclusion=conclusion))
    assert found is not None
    assert "no undisturbed launch" in str(found[0])


@pytest.mark.parametrize("width", [340, 880])
def test_front_picture_labels_points(study: FrontStudy, width: int) -> None:
    (figure,) = front_figures(report_of(study))
    drawn = front_svg(figure, width, "front")
    texts = re.findall(r">([^<>]+)</text>", drawn)
    for number in range(1, len(study.conclusion.pareto_front) + 1):
        assert str(number) in texts
    assert any("change of peak memory (less is better)" in t for t in texts)
    assert "point 1, arg.b=32: wall time" in drawn
    assert front_svg(figure, width, "front") == drawn, "the same data, the same bytes"


def test_open_intervals_and_wide_ranges_are_drawn() -> None:
    marks = (
        FrontMark("1", "a=1", (0.02, 30.0), (None, 0.03), (20.0, None)),
        FrontMark("", "a=2", (1.0, 1.0), (None, None), (0.999, 1.001)),
    )
    figure = FrontFigure(
        "time", "fps", (Goal.LOWER, Goal.HIGHER), marks, ((5.0, 0.2),), whole=False
    )
    drawn = front_svg(figure)
    assert "off the front, a=2" in drawn
    assert "(more is better)" in drawn
    assert figure.joined_points == ()
    flat = FrontFigure("time", "fps", (Goal.LOWER, Goal.LOWER), marks[1:], ())
    assert front_svg(flat)


def test_page_shows_front(study: FrontStudy) -> None:
    page = render(report_of(study))
    assert f"front of {len(study.conclusion.pareto_front)}" in page
    assert 'id="front"' in page
    assert "form the Pareto front: point 1 takes" in page
    assert page.count('id="front-0-wide') + page.count("front-0-wide") > 0
    for point in study.conclusion.pareto_front:
        assert str(point.settings["arg.b"]) in page


def test_page_without_gain_keeps_default() -> None:
    worse = TwoSided(lambda c: (0.3 * bool(c), 0.3 * bool(c)))
    page = render(report_of(front_study(SPACE, worse, Budget(launches=90))))
    assert "Keep the default: no configuration that was tried was better in time or memory." in page
    assert 'id="front"' not in page
    assert "keep the default" in page


def test_exports_have_each_objective(study: FrontStudy) -> None:
    count = len(study.conclusion.pareto_front) + len(study.conclusion.excluded_points)
    lines = list(csv.DictReader(io.StringIO(to_csv(study.conclusion, study.spec))))
    assert len(lines) == 2 * (count + 1)
    assert {line["metric"] for line in lines} == {"wall_s", "peak_anon_bytes"}
    of_first = [line for line in lines if line["arm"] == study.conclusion.pareto_front[0].name]
    assert [float(line["ratio"]) for line in of_first] == [
        claim.ratio for claim in study.conclusion.pareto_front[0].claims
    ]
    table = to_markdown(study.conclusion, study.spec).split("\n\n")
    assert "form the Pareto front" in table[0]
    assert table[1].splitlines()[0].startswith("| point | settings | wall time |")
    assert len(table[1].splitlines()) == count + 2
