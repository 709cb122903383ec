"""Trial: one launch in the form of figures."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from assay.records import Configuration, Metric, Outcome, Sample, Stage
from assay.records.workload import BUILT_IN
from assay.reporting.inputs import ReportInput


class State(enum.StrEnum):
    """State of the value of a launch.

    ``CENSORED``: time-out, a bound of the value. ``FAILED``: the program failed or reached a limit.
    ``ABSENT``: successful, without a value. ``LEFT_OUT``: with a value or a time-out in a disturbed
    block; shown, but excluded from all figures (docs/explanation/statistics.md, rule 13).
    """

    VALUE = "value"
    CENSORED = "censored"
    FAILED = "failed"
    ABSENT = "absent"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class Trial:
    """One launch.

    Attributes:
        number: number from 1, in order of start, without survey launches.
        at_s: start, in seconds since the first launch.
        arm, configuration, stage, block: as in ``Launch``.
        state: state of ``value``.
        value: value in the unit of the metric; the time-out if censored; ``None`` without either.
    """

    number: int
    at_s: float
    arm: str
    configuration: Configuration
    stage: Stage
    block: int
    state: State
    value: float | None


def trials(report: ReportInput) -> tuple[Trial, ...]:
    """Return the launches in order of start, without survey launches."""
    shown = report.compared_samples
    start = shown[0].started_at if shown else 0.0
    metric = report.metric
    return tuple(_trial(i, s, start, metric, report) for i, s in enumerate(shown, 1))


def _trial(number: int, sample: Sample, start: float, metric: Metric, report: ReportInput) -> Trial:
    state, value = _reading(sample, metric)
    if value is not None and not report.counts(sample):
        state = State.LEFT_OUT
    launch = sample.launch
    return Trial(
        number,
        sample.started_at - start,
        launch.arm,
        launch.configuration,
        launch.stage,
        launch.block,
        state,
        value,
    )


def _reading(sample: Sample, metric: Metric) -> tuple[State, float | None]:
    if sample.outcome is Outcome.TIMED_OUT:
        cap = sample.launch.timeout_s if sample.launch.timeout_s is not None else sample.wall_s
        return State.CENSORED, cap if metric.name == "wall_s" else None
    if not sample.outcome.succeeded:
        return State.FAILED, None
    value = sample.metrics.get(metric.name)
    if value is None and metric.name in BUILT_IN:
        value = getattr(sample, metric.name, None)
    if value is None or not math.isfinite(value):
        return State.ABSENT, None
    return State.VALUE, float(value)
