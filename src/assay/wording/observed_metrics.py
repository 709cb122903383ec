"""Beside: the metrics that were asked for and decide nothing, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import ArmResult, Metric, StudySpec, Summary
from assay.units import show_quantity


@dataclass(frozen=True)
class ObservedMetricRow:
    """A metric of one arm.

    Attributes:
        metric: that decides nothing.
        arm: whose launches these are.
        summary: of the launches with a value; ``None`` without any.
    """

    metric: Metric
    arm: ArmResult
    summary: Summary | None


def observed_metrics(spec: StudySpec) -> tuple[Metric, ...]:
    """Return the metrics that were asked for beside those that decide, in the order of asking.

    Args:
        spec: of a study.
    """
    known = {metric.name: metric for metric in spec.workload.metrics}
    deciding = {metric.name for metric in spec.targets}
    names = (name for name in spec.workload.beside if name not in deciding)
    return tuple(known[name] for name in names if name in known)


def observed_metric_rows(spec: StudySpec, arms: Sequence[ArmResult]) -> list[ObservedMetricRow]:
    """Return a row for each such metric and arm.

    Args:
        spec: of a study.
        arms: to show, in order.
    """
    return [
        ObservedMetricRow(metric, arm, arm.summary.get(metric.name))
        for metric in observed_metrics(spec)
        for arm in arms
    ]


def mean_interval(summary: Summary, unit: str) -> str:
    """Write the interval of a mean; empty where the launches are too few for one.

    Args:
        summary: of some launches.
        unit: of its values.
    """
    if summary.ci is None:
        return ""
    return " to ".join(show_quantity(end, unit) for end in summary.ci)
