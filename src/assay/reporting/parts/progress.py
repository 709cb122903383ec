"""Progress: chapter on the values that launches report while they run."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from assay.records import Metric, Outcome, Sample, SteadyPart
from assay.reporting import svg
from assay.reporting.arms import ArmRow, Role
from assay.reporting.formatting import label_of, show_name
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el, join
from assay.reporting.parts.common import count_or_dash, scroll
from assay.reporting.progress import ProgressFigure, period_of, progress_metrics
from assay.reporting.scale import Scale
from assay.units import show_count
from assay.untrusted import clean

_HEADS = ("Launches", "Steady steps", "Warm-up", "Period", "Ended early", "Median value")
_TALL = 16
"""Maximum number of lines of a table without its own scroll bar."""


@dataclass(frozen=True)
class ArmProgress:
    """Steady parts of the launches of an arm.

    Attributes:
        arm: name of the arm.
        role: role of the arm in the answer.
        launches: number of launches with reported values.
        steady_steps: median number of steady steps; ``None`` without a steady part.
        warm_up: shortest and longest warm-up, in steps.
        period_steps: distance of periodic dips, in steps.
        ended_early: number of launches that assay ended because they were clearly worse.
        value: median of the values of the launches; ``None`` without any.
    """

    arm: str
    role: Role
    launches: int
    steady_steps: float | None
    warm_up: tuple[float, float] | None
    period_steps: float | None
    ended_early: int
    value: float | None


def progress(
    report: ReportInput, rows: Sequence[ArmRow], figures: Sequence[ProgressFigure]
) -> Html | None:
    """Return the pictures and tables of all metrics that launches report.

    Args:
        report: input of the report.
        rows: rows of the arms in order of presentation.
        figures: data of the pictures.
    """
    if not figures:
        return None
    labels = {label_of(metric): metric for metric in progress_metrics(report)}
    samples = report.compared_samples
    return join(
        [
            _metric_part(place, figure, labels[figure.metric], samples, rows, len(figures) > 1)
            for place, figure in enumerate(figures)
        ]
    )


def _metric_part(
    place: int,
    figure: ProgressFigure,
    metric: Metric,
    samples: Sequence[Sample],
    rows: Sequence[ArmRow],
    several: bool,
) -> Html:
    heading = el("h3", f"{figure.metric} of each launch") if several else None
    arms = list(_arms(metric, samples, rows))
    return join(
        heading,
        el("p", " ".join(_intro(figure, metric, samples, first=place == 0)), class_="intro"),
        _legend(figure),
        _chart(f"progress-{place}", figure),
        _table(figure.metric, arms, figure.scale),
    )


def _intro(
    figure: ProgressFigure, metric: Metric, samples: Sequence[Sample], *, first: bool
) -> Iterator[str]:
    """Yield the sentences above a picture; only the first explains how launches end and dip."""
    yield "Each line is one launch."
    if any(line.minima for line in figure.lines):
        yield "It shows the mean of neighbouring values; the band shows their range."
    if figure.warm_up_step > 0:
        low, high = figure.warm_up_steps
        between = f" (of {low:,.0f} to {high:,.0f} steps)" if low < high else ""
        yield (
            f"The shaded part, up to step {figure.warm_up_step:,.0f}, is the usual warm-up{between}"
            "; the value of a launch excludes it."
        )
    if figure.period_steps and first:
        change = "Dips" if figure.rate else "Peaks"
        yield (
            f"{change} repeat every {figure.period_steps:g} steps, such as at checkpoints or "
            "epochs; the values of the launches include them."
        )
    enough = sum(s.outcome is Outcome.ENOUGH and metric.name in s.series for s in samples)
    if enough and first:
        launches = show_count(enough, "launch", "launches")
        yield f"assay ended {launches} before the program did, since the values sufficed."
    if any(line.ended_early for line in figure.lines):
        yield "A cross marks a launch that assay ended early as clearly worse."
    if len(figure.lines) < figure.launches:
        yield f"{len(figure.lines):,} of {figure.launches:,} launches are shown."


def _legend(figure: ProgressFigure) -> Html:
    """Return the colours of the arms."""
    names: dict[Role, list[str]] = {}
    for line in reversed(figure.lines):
        if line.arm not in names.setdefault(line.role, []):
            names[line.role].append(line.arm)
    entries = []
    for role in (Role.BASELINE, Role.WINNER, Role.OTHER):
        arms = names.get(role, [])
        if not arms:
            continue
        label = arms[0] if len(arms) == 1 else f"{len(arms)} other arms"
        key = el("span", class_=f"swatch {role.value}", aria_hidden="true")
        entries.append(el("li", key, el("bdi", clean(label))))
    return el("ul", entries, class_="line-legend")


def _chart(name: str, figure: ProgressFigure) -> Html:
    """Return the picture over steps and over time; scripts replace both by an interactive one."""
    pictures = [
        el("div", Html(draw(figure, width, f"{name}-{size}-{by}")), class_=f"static {size}")
        for by, draw in (
            ("step", svg.progress_svg),
            ("time", partial(svg.progress_svg, over_time=True)),
        )
        for size, width in (("wide", svg.WIDE), ("narrow", svg.NARROW))
    ]
    return el(
        "figure",
        el("div", class_="chart-tools", hidden=True),
        pictures,
        class_="chart",
        data_figure=name,
    )


def _arms(
    metric: Metric, samples: Sequence[Sample], rows: Sequence[ArmRow]
) -> Iterator[ArmProgress]:
    roles = {row.name: row.role for row in reversed(rows)}
    for name in dict.fromkeys(row.name for row in rows):
        own = [s for s in samples if s.launch.arm == name and metric.name in s.series]
        if own:
            yield _arm(metric, name, roles[name], own)


def _arm(metric: Metric, name: str, role: Role, samples: Sequence[Sample]) -> ArmProgress:
    parts = [s.steady[metric.name] for s in samples if metric.name in s.steady]
    warm_ups = [part.begin_step for part in parts]
    values = [s.metrics[metric.name] for s in samples if metric.name in s.metrics]
    return ArmProgress(
        arm=name,
        role=role,
        launches=len(samples),
        steady_steps=statistics.median(map(_length, parts)) if parts else None,
        warm_up=(min(warm_ups), max(warm_ups)) if parts else None,
        period_steps=period_of(parts),
        ended_early=sum(part.ended_early for part in parts),
        value=statistics.median(values) if values else None,
    )


def _length(part: SteadyPart) -> float:
    return part.end_step - part.begin_step


def _table(label: str, arms: Sequence[ArmProgress], scale: Scale) -> Html:
    """Return the steady parts by arm."""
    unit = f" in {scale.unit}" if scale.unit else ""
    heads = [el("th", head, scope="col", class_="num") for head in _HEADS]
    caption = f"Steady part of {label}{unit}; warm-up and period in steps"
    table = el(
        "table",
        el("caption", caption),
        el("thead", el("tr", el("th", "Arm", scope="col"), heads)),
        el("tbody", [_row(arm, scale) for arm in arms]),
    )
    return scroll(f"Steady part of {label}", table, tall=len(arms) > _TALL)


def _row(arm: ArmProgress, scale: Scale) -> Html:
    cells = (
        f"{arm.launches:,}",
        _steps(arm.steady_steps),
        "" if arm.warm_up is None else _range(*arm.warm_up),
        _steps(arm.period_steps) or "none",
        count_or_dash(arm.ended_early),
        "no value" if arm.value is None else scale.number(arm.value),
    )
    return el(
        "tr",
        el("th", show_name(arm.arm), scope="row", class_=f"role-{arm.role.value}"),
        [el("td", cell, class_="num") for cell in cells],
    )


def _steps(steps: float | None) -> str:
    return "" if steps is None else f"{steps:,.0f}"


def _range(low: float, high: float) -> str:
    first, last = _steps(low), _steps(high)
    return first if first == last else f"{first} to {last}"
