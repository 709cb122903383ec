"""Observed metrics: requested metrics that decide nothing, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import ArmResult, Metric, StudySpec, Summary
from assay.units import show_quantity


@dataclass(frozen=True)
class ObservedMetricRow:
    """A metric of one arm.

    Attributes:
        metric: the metric.
        arm: its arm.
        summary: summary of the launches with a value; ``None`` without any.
    """

    metric: Metric
    arm: ArmResult
    summary: Summary | None


def observed_metrics(spec: StudySpec) -> tuple[Metric, ...]:
    """Return the requested metrics that decide nothing, in the order of the request.

    Args:
        spec: specification of a study.
    """
    known = {metric.name: metric for metric in spec.workload.metrics}
    deciding = {metric.name for metric in spec.targets}
    names = (name for name in spec.workload.requested_metrics if name not in deciding)
    return tuple(known[name] for name in names if name in known)


def observed_metric_rows(spec: StudySpec, arms: Sequence[ArmResult]) -> list[ObservedMetricRow]:
    """Return a row for each such metric and arm.

    Args:
        spec: specification of a study.
        arms: arms in the order of presentation.
    """
    return [
        ObservedMetricRow(metric, arm, arm.summary.get(metric.name))
        for metric in observed_metrics(spec)
        for arm in arms
    ]


def mean_interval(summary: Summary, unit: str) -> str:
    """Return the interval of a mean; empty if there are too few launches.

    Args:
        summary: summary of launches.
        unit: unit of its values.
    """
    if summary.ci is None:
        return ""
    return " to ".join(show_quantity(end, unit) for end in summary.ci)
