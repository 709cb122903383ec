"""Demands on the first launch of a program: it must give the values that the study needs."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Metric, Outcome, Requirement, Sample, Workload
from assay.records.workload import HOST_DEPENDENT_METRICS
from assay.wording.unreached import is_diverged, is_unreached, unreached_remedy
from assay.wording.unread_reports import unread_reports


def demand_available(sample: Sample, metrics: Sequence[Metric]) -> None:
    """Raise an error if the first launch shows that this host cannot measure a metric.

    Raises:
        NotPossibleError: a successful sample lacks a host-dependent metric.
    """
    if not sample.outcome.succeeded:
        return
    for metric in metrics:
        is_requested = metric.pattern is None and metric.name in HOST_DEPENDENT_METRICS
        if is_requested and metric.name not in sample.metrics:
            raise NotPossibleError(
                f"This host cannot measure {metric.name}: {sample.unavailable.get(metric.name)}.",
                "Omit the metric, or measure wall_s.",
            )


def demand_reports(sample: Sample, workload: Workload) -> None:
    """Raise an error if assay had to end a first launch whose reports it could not use.

    Its failure is not that of the program, and a repetition would end alike.

    Args:
        sample: sample of a first launch.
        workload: source of the metrics.

    Raises:
        InvalidInputError: the launch gave no value of the metric that decides when it ends.
    """
    metric = workload.steady_metric
    reason = None if metric is None else sample.unavailable.get(metric.name)
    if metric is not None and reason is not None and sample.message == f"{metric.name}: {reason}":
        raise unread_reports(sample, metric)


def demand_objective(sample: Sample, objective: Metric) -> None:
    """Raise an error if the output of a program lacks the objective.

    Raises:
        InvalidInputError: a successful sample lacks the objective.
        NotPossibleError: this host cannot measure it.
    """
    if not sample.outcome.succeeded:
        return
    demand_available(sample, (objective,))
    if objective.name not in sample.metrics:
        demand_readable(sample, (objective,))


def demand_readable(sample: Sample, metrics: Sequence[Metric]) -> None:
    """Raise an error if the output of a program lacks metrics that the answer depends on.

    Raises:
        InvalidInputError: a successful sample lacks one.
        NotPossibleError: this host cannot measure it.
    """
    if not sample.outcome.succeeded:
        return
    demand_available(sample, metrics)
    for metric in metrics:
        if metric.derivation is not None and sample.outcome is Outcome.ENOUGH:
            continue  # assay may have ended the launch before its step or its last value
        if metric.name not in sample.metrics:
            if is_unreached(sample, metric):
                raise InvalidInputError(
                    f"{sample.launch.arm!r} gave no {metric.name}: "
                    f"{sample.unavailable[metric.name]}.",
                    unreached_remedy(metric),
                )
            if is_diverged(sample, metric):
                raise InvalidInputError(
                    f"{sample.launch.arm!r} gave no {metric.name}: "
                    f"{sample.unavailable[metric.name]}.",
                    "Check the program with these settings: the training may have diverged.",
                )
            if metric.progress is not None:
                raise unread_reports(sample, metric)
            read = metric.pattern is not None
            raise InvalidInputError(
                f"The metric {metric.name} cannot be read: {sample.unavailable.get(metric.name)}.",
                "Correct the pattern with --metric NAME=REGEX, or measure wall_s."
                if read
                else "Give the program more to do, or choose another metric, such as wall_s.",
            )


def demand_required(sample: Sample, metrics: Sequence[Metric]) -> None:
    """Raise an error if the output of a program lacks metrics with requirements.

    A launch whose last value is NaN violates its requirement, and the study continues.

    Raises:
        InvalidInputError: a successful sample lacks one.
        NotPossibleError: this host cannot measure it.
    """
    demand_readable(sample, [m for m in metrics if not is_diverged(sample, m)])


def required_metrics(workload: Workload, require: Sequence[Requirement]) -> tuple[Metric, ...]:
    """Return the metrics with requirements."""
    names = {requirement.metric for requirement in require}
    return tuple(metric for metric in workload.metrics if metric.name in names)
