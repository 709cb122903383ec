"""Pictures and tables of the values that launches report while they run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
import report_studies as studies

from assay.records import Goal, Series
from assay.reporting import svg
from assay.reporting.arms import Role, arm_rows
from assay.reporting.html import render
from assay.reporting.inputs import ReportInput
from assay.reporting.pictures.progress import merged
from assay.reporting.progress import (
    MAX_BEHIND,
    MAX_FRONT,
    ProgressFigure,
    progress_figures,
)
from assay.reporting.trials import trials


def figures_of(report: ReportInput) -> tuple[ProgressFigure, ...]:
    return progress_figures(report, arm_rows(report, trials(report)))


@pytest.fixture(scope="module")
def report() -> ReportInput:
    return studies.progress()


def test_each_reported_metric_has_a_figure_objective_first(report: ReportInput) -> None:
    assert [figure.metric for figure in figures_of(report)] == ["sps", "loss"]


def test_default_and_recommended_arm_are_in_front(report: ReportInput) -> None:
    speed = figures_of(report)[0]
    front = [line for line in speed.lines if line.front]
    assert {line.arm for line in front} == {"default", "arg.w=2"}
    assert {line.role for line in front} == {Role.BASELINE, Role.WINNER}
    assert speed.lines[-1].arm == "default"
    assert len(front) == 2 * MAX_FRONT and speed.launches == len(report.samples)


def test_launch_ended_early_is_shown_behind(report: ReportInput) -> None:
    (worse,) = [line for line in figures_of(report)[0].lines if line.ended_early]
    assert (worse.arm, worse.front) == ("arg.w=8", False)


def test_many_arms_are_limited_to_a_readable_number(report: ReportInput) -> None:
    slow = next(s for s in report.samples if s.launch.arm == "arg.w=8")
    more = [
        msgspec.structs.replace(
            slow, launch=msgspec.structs.replace(slow.launch, arm=f"arg.w={number}")
        )
        for number in range(10, 40)
    ]
    found = figures_of(replace(report, samples=(*report.samples, *more)))[0]
    assert sum(not line.front for line in found.lines) == MAX_BEHIND


def test_speed_keeps_its_dips_and_loss_has_a_logarithmic_axis(report: ReportInput) -> None:
    speed, loss = figures_of(report)
    lowest = min(low for line in speed.lines for low in line.minima)
    assert not speed.logarithmic and speed.frame[0] <= lowest
    assert loss.logarithmic and loss.frame[0] > 0


def test_warm_up_is_that_of_settled_launches(report: ReportInput) -> None:
    speed = figures_of(report)[0]
    assert (speed.warm_up_step, speed.warm_up_steps) == (50.0, (30.0, 50.0))
    unsettled = tuple(
        msgspec.structs.replace(
            sample,
            steady={
                name: msgspec.structs.replace(part, settled=False)
                for name, part in sample.steady.items()
            },
        )
        for sample in report.samples
    )
    assert figures_of(replace(report, samples=unsettled))[0].warm_up_step == 0.0


def test_merged_line_keeps_extremes_and_end(report: ReportInput) -> None:
    line = figures_of(report)[0].lines[-1]
    short = merged(line, 7)
    assert len(short.values) <= 7
    assert min(short.minima) == min(line.minima) and max(short.maxima) == max(line.maxima)
    assert short.times_s[-1] == line.times_s[-1] and short.steps[-1] == line.steps[-1]


def texts(document: str) -> list[str]:
    root = ElementTree.fromstring(document)
    return [element.text or "" for element in root.iter() if element.tag.endswith("}text")]


@pytest.mark.parametrize("width", [svg.WIDE, svg.NARROW])
def test_picture_shows_steps_or_seconds(report: ReportInput, width: int) -> None:
    speed = figures_of(report)[0]
    steps = texts(svg.progress_svg(speed, width))
    seconds = texts(svg.progress_svg(speed, width, over_time=True))
    assert {"step", "warm-up", "sps in samples/s"} <= set(steps)
    assert "seconds since the start of the launch" in seconds


def test_picture_has_only_colours_of_the_theme(report: ReportInput) -> None:
    for figure in figures_of(report):
        assert not re.findall(r'(?:fill|stroke)="#', svg.progress_svg(figure))


def test_page_shows_both_axes_without_scripts_and_marks_early_ends(report: ReportInput) -> None:
    page = render(report)
    assert page.count('data-figure="progress-0"') == 1
    assert 'id="progress-0-wide-step' in page and 'id="progress-0-narrow-time' in page
    assert "A cross marks a launch that assay ended early" in page


def test_study_without_reported_values_has_no_chapter() -> None:
    page = render(studies.compare(blocks=6))
    assert 'id="progress"' not in page and '"progress":' not in page


@pytest.mark.parametrize("goal", list(Goal))
@pytest.mark.parametrize("values", [(0.0,), (0.0, 0.0, 0.0), (-1.0, 2.0), (1e-9, 1e9, 3.0)])
def test_unusual_values_are_drawn(
    report: ReportInput, goal: Goal, values: tuple[float, ...]
) -> None:
    def changed(sample: Any) -> Any:
        series = Series(
            times_s=tuple(float(i) for i in range(len(values))),
            steps=tuple(float(i) for i in range(len(values))),
            values=values,
        )
        return msgspec.structs.replace(sample, series={"sps": series}, steady={}, metrics={})

    workload = report.spec.workload
    speed = msgspec.structs.replace(workload.metrics[0], goal=goal)
    spec = msgspec.structs.replace(
        report.spec, workload=msgspec.structs.replace(workload, metrics=(speed,))
    )
    bare = replace(report, spec=spec, samples=tuple(map(changed, report.samples)), conclusion=None)
    (figure,) = figures_of(bare)
    for over_time in (False, True):
        assert "<svg" in svg.progress_svg(figure, over_time=over_time)
