"""Progress: data of the pictures of the values that launches report while they run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.records import Goal, Metric, RateForm, Sample, Series, SteadyPart
from assay.reporting.arms import ArmRow, Role
from assay.reporting.formatting import arm_label, label_of
from assay.reporting.frame import Ends, fences, frame
from assay.reporting.inputs import ReportInput
from assay.reporting.scale import Scale, scale_for
from assay.units import significant

LOG_FROM = 10.0
"""Ratio of extreme values above which the axis of a level or a duration is logarithmic."""

MAX_FRONT = 5
"""Maximum number of shown launches of the baseline, and of the recommended arm."""

MAX_BEHIND = 8
"""Maximum number of shown launches of all other arms."""

_DIGITS = 5
"""Significant digits of values in pictures; the samples have all digits."""


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """Reported values of one launch, in the units of the metric.

    Attributes:
        number: number of the launch from 1, in order of start.
        arm: label of the arm.
        role: role of the arm in the answer.
        stage: stage of the launch.
        front: true for launches of the baseline and of the arm that is compared with it.
        times_s: time of the last report of each interval since the start of the launch, in seconds.
        steps: step of that report.
        values: mean of each interval.
        minima, maxima: range of each interval; empty if every interval has a single report.
        ended_early: true if assay ended the launch because it was clearly worse.
    """

    number: int
    arm: str
    role: Role
    stage: str
    front: bool
    times_s: tuple[float, ...]
    steps: tuple[float, ...]
    values: tuple[float, ...]
    minima: tuple[float, ...]
    maxima: tuple[float, ...]
    ended_early: bool


@dataclass(frozen=True, slots=True)
class ProgressFigure:
    """Reported values of a metric over the launches of a study.

    Attributes:
        metric: label of the metric.
        goal: better direction.
        scale: format of the values.
        logarithmic: true if the axis of the values is logarithmic.
        frame: lowest and highest value of the axis; values outside are cut.
        lines: shown launches; those in front are last.
        launches: number of launches with values.
        warm_up_step, warm_up_s: median end of the warm-up of the shown launches that became
            steady, as step and time in seconds; 0 without one.
        warm_up_steps: shortest and longest of these warm-ups, in steps.
        period_steps: distance of periodic dips in steps; ``None`` without such dips.
        rate: true for work per second, which periodic dips lower.
    """

    metric: str
    goal: Goal
    scale: Scale
    logarithmic: bool
    frame: Ends
    lines: tuple[ProgressLine, ...]
    launches: int
    warm_up_step: float
    warm_up_s: float
    warm_up_steps: Ends
    period_steps: float | None
    rate: bool


def progress_figures(report: ReportInput, rows: Sequence[ArmRow]) -> tuple[ProgressFigure, ...]:
    """Return a figure for each metric that launches report while they run.

    Args:
        report: input of the report.
        rows: rows of the arms in order of presentation.
    """
    metrics = progress_metrics(report)
    if not metrics:
        return ()
    launches = list(enumerate(report.compared_samples, 1))
    found = (_figure(metric, launches, rows) for metric in metrics)
    return tuple(figure for figure in found if figure is not None)


def progress_metrics(report: ReportInput) -> list[Metric]:
    """Return the metrics whose values the program reports, the objective first."""
    reported = [m for m in report.spec.workload.metrics if m.progress is not None]
    return sorted(reported, key=lambda metric: metric.name != report.metric.name)


def period_of(parts: Iterable[SteadyPart]) -> float | None:
    """Return the usual distance of periodic dips, in steps; ``None`` without such dips."""
    known = [part.period_steps for part in parts if part.period_steps]
    return statistics.median(known) if known else None


def _figure(
    metric: Metric, launches: Sequence[tuple[int, Sample]], rows: Sequence[ArmRow]
) -> ProgressFigure | None:
    own = [(i, s) for i, s in launches if metric.name in s.series]
    shown = _chosen(metric, own, rows)
    if not shown:
        return None
    parts = [s.steady[metric.name] for _, s, _, _ in shown if metric.name in s.steady]
    lines = tuple(_line(metric, *launch) for launch in shown)
    settled = [part for part in parts if part.settled]
    warm_ups = sorted(part.begin_step for part in settled) or [0.0]
    limits, logarithmic = _limits(lines, metric.rate_form)
    return ProgressFigure(
        metric=label_of(metric),
        goal=metric.goal,
        scale=scale_for([value for line in lines for value in line.values], metric.unit),
        logarithmic=logarithmic,
        frame=limits,
        lines=lines,
        launches=len(own),
        warm_up_step=statistics.median(warm_ups),
        warm_up_s=statistics.median([part.begin_s for part in settled] or [0.0]),
        warm_up_steps=(warm_ups[0], warm_ups[-1]),
        period_steps=period_of(parts),
        rate=metric.rate_form is RateForm.RATE,
    )


def _chosen(
    metric: Metric, launches: Sequence[tuple[int, Sample]], rows: Sequence[ArmRow]
) -> list[tuple[int, Sample, Role, bool]]:
    """Return a readable number of launches with role and place: behind first, then in front."""
    roles = {row.name: row.role for row in reversed(rows)}
    order = list(dict.fromkeys(row.name for row in rows))
    front = [name for name in order if roles[name] is not Role.OTHER]
    if len(front) < 2:
        front = (front + [name for name in order if name not in front])[:2]
    by_arm: dict[str, list[tuple[int, Sample]]] = {}
    for number, sample in launches:
        by_arm.setdefault(sample.launch.arm, []).append((number, sample))
    kept = [(name, one) for name in front for one in _spread(by_arm.get(name, []), MAX_FRONT)]
    others = [(name, by_arm[name]) for name in order if name not in front and name in by_arm]
    early = [(n, one) for n, each in others for one in each if _ended_early(metric, one[1])]
    newest = [(name, each[-1]) for name, each in others]
    behind = {one[0]: (name, one) for name, one in (*newest[: MAX_BEHIND // 2], *early, *newest)}
    found = [*list(behind.values())[:MAX_BEHIND], *reversed(kept)]
    return [(i, s, roles.get(name, Role.OTHER), name in front) for name, (i, s) in found]


def _ended_early(metric: Metric, sample: Sample) -> bool:
    part = sample.steady.get(metric.name)
    return part is not None and part.ended_early


def _spread(launches: Sequence[tuple[int, Sample]], at_most: int) -> list[tuple[int, Sample]]:
    """Return launches at equal distances, the first and the last among them."""
    if len(launches) <= at_most:
        return list(launches)
    last = len(launches) - 1
    return [launches[round(i * last / (at_most - 1))] for i in range(at_most)]


def _line(metric: Metric, number: int, sample: Sample, role: Role, front: bool) -> ProgressLine:
    series = sample.series[metric.name]
    return ProgressLine(
        number=number,
        arm=arm_label(sample.launch.arm),
        role=role,
        stage=sample.launch.stage.value,
        front=front,
        times_s=_short(series.times_s),
        steps=_short(series.steps),
        values=_short(series.values),
        minima=_short(_range_of(series)[0]),
        maxima=_short(_range_of(series)[1]),
        ended_early=_ended_early(metric, sample),
    )


def _range_of(series: Series) -> tuple[Sequence[float], Sequence[float]]:
    return (series.minima, series.maxima) if series.minima and series.maxima else ((), ())


def _short(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(f"{value:.{_DIGITS}g}") for value in values)


def _limits(lines: Sequence[ProgressLine], form: RateForm) -> tuple[Ends, bool]:
    """Return the range of the axis, and whether it is logarithmic.

    A rate keeps its lowest values, which are its dips. The few first values after a warm-up or a
    burst of output may be far above, and are cut.
    """
    values = [v for line in lines for v in line.values if math.isfinite(v)]
    extremes = [v for line in lines for v in (*line.minima, *line.maxima) if math.isfinite(v)]
    everything = min((*values, *extremes)), max((*values, *extremes))
    low, high = everything
    if form is not RateForm.RATE and low > 0 and high / low > LOG_FROM:
        return everything, True
    near = frame([fences(values)], everything)
    return ((low, near[1]) if form is RateForm.RATE else near), False


def axis_number(scale: Scale, value: float) -> str:
    """Return a value for a logarithmic axis, without unnecessary decimals."""
    return significant(value / scale.factor, 2)
