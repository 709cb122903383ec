"""Metrics of ``--metric`` and its companions."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.api.options.option_values import parse_pair
from assay.api.options.progress import (
    derived_metric,
    is_derived,
    parse_progress,
    with_goal_of_source,
)
from assay.api.options.workload_options import WorkloadOptions
from assay.errors import InvalidInputError, nearest
from assay.executors.metrics.direction import is_known_speed, is_rate
from assay.executors.metrics.extract import parse_metric
from assay.launch.observations import ANON_PEAK
from assay.records import Combine, Goal, Metric
from assay.records.workload import BUILT_IN
from assay.requests.tune import MAX_OBJECTIVES
from assay.search.claims.requirement import required_names
from assay.wording.unknown_metric import unknown_metric_remedy


def objectives_of(options: WorkloadOptions) -> list[str]:
    """Return the names of the metrics to decide by, in the order of the options; may be empty.

    Raises:
        InvalidInputError: an objective is given twice, or there are too many.
    """
    names = [text.partition(":")[0] for text in options.objective]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(
                f"The objective {name} is given twice.", "Name each objective once."
            )
    if len(names) > MAX_OBJECTIVES:
        raise InvalidInputError(
            f"There are {len(names)} objectives.",
            f"Name at most {MAX_OBJECTIVES}.",
        )
    return names


def parse_metrics(options: WorkloadOptions) -> tuple[Metric, ...]:
    """Return the metrics of a workload: the objectives, the named ones, and always wall time.

    Raises:
        InvalidInputError: the options contradict each other.
    """
    metrics = _named_metrics(options, dict(parse_pair(t, "--unit") for t in options.unit))
    objectives = objectives_of(options) or [next(iter(metrics))]
    for objective in objectives:
        if objective in BUILT_IN:
            metrics.setdefault(objective, BUILT_IN[objective])
        _demand_metric(objective, metrics)
    for name in required_names(options.require):
        if name in BUILT_IN:
            metrics.setdefault(name, BUILT_IN[name])
    if "peak_bytes" in objectives:
        raise InvalidInputError(
            "peak_bytes cannot be the objective: it counts the page cache, which depends on "
            "earlier programs.",
            "Use --objective peak_anon_bytes.",
        )
    with_goal = set()
    for text in options.goal:
        name, goal = parse_pair(text, "--goal") if "=" in text else (objectives[0], text)
        if goal not in tuple(Goal):
            raise InvalidInputError(
                f"{goal!r} is not a goal.", "Write --goal lower or --goal higher."
            )
        if "=" not in text and len(objectives) > 1:
            raise InvalidInputError(
                f"--goal {goal} does not name its objective.",
                f"Write --goal {objectives[0]}={goal}.",
            )
        _demand_metric(name, metrics)
        metrics[name] = msgspec.structs.replace(metrics[name], goal=Goal(goal))
        with_goal.add(name)
    for name in metrics.keys() - with_goal:
        metrics[name] = _with_goal_of_rate(metrics[name])
    for name, metric in metrics.items():
        if name not in with_goal:
            metrics[name] = with_goal_of_source(metric, metrics)
    for text in options.combine:
        name, way = parse_pair(text, "--combine")
        _demand_metric(name, metrics)
        metrics[name] = _combined(metrics[name], way)
    for name in options.metric_as_is:
        _demand_metric(name, metrics)
        if metrics[name].pattern is None and not metrics[name].progress and name != ANON_PEAK:
            raise InvalidInputError(
                f"--metric-as-is {name}: assay measures this metric itself.",
                "Leave it out: the option applies to metrics that are read from the output.",
            )
        metrics[name] = msgspec.structs.replace(metrics[name], ignore_unit=True)
    for text in options.metric_file:
        name, file = parse_pair(text, "--metric-file")
        _demand_metric(name, metrics)
        metrics[name] = _from_file(metrics[name], file, options.parallel)
    for name in set(objectives) - with_goal:
        goal_assumed = options.compares and _is_read(metrics[name])
        metrics[name] = msgspec.structs.replace(metrics[name], goal_assumed=goal_assumed)
    return (*(metrics.pop(name) for name in objectives), *metrics.values())


def _with_goal_of_rate(metric: Metric) -> Metric:
    """Return a metric without a given goal; a reported rate is better if it is higher.

    Its goal also says how its values are averaged.
    """
    if metric.progress is None or is_known_speed(metric) or not is_rate(metric):
        return metric
    return msgspec.structs.replace(metric, goal=Goal.HIGHER)


def _is_read(metric: Metric) -> bool:
    """Return whether the values of a metric come from the program, in an unknown direction."""
    return metric.pattern is not None or (
        metric.progress is not None and not is_known_speed(metric)
    )


def _from_file(metric: Metric, file: str, parallel: str | None) -> Metric:
    """Return a metric that is read from a file of the program."""
    if metric.pattern is None:
        raise InvalidInputError(
            f"--metric-file {metric.name}: assay measures this metric itself.",
            "Leave it out, or define another metric with --metric NAME=REGEX.",
        )
    if not file or Path(file).is_dir():
        raise InvalidInputError(
            f"--metric-file {metric.name}={file}: invalid file.", "Name a file."
        )
    if parallel not in (None, "1"):
        raise InvalidInputError(
            f"Launches side by side would write the same file {file}.",
            "Leave --parallel out, or have the program print its figures.",
        )
    return msgspec.structs.replace(metric, file=file)


def reported_metrics(options: WorkloadOptions) -> tuple[str, ...]:
    """Return the names of the metrics of ``--metric``, objectives included.

    Args:
        options: options that ``parse_metrics`` accepts.
    """
    reported = parse_progress(options, {})
    named = [text.partition("=")[0] for text in options.metric if not is_derived(text)]
    return (*reported, *named, *(text for text in options.metric if is_derived(text)))


def _combined(metric: Metric, way: str) -> Metric:
    """Return a metric of the program with its aggregation over several instances."""
    if metric.pattern is None and not metric.is_reported:
        raise InvalidInputError(
            f"--combine {metric.name}: assay measures this metric for all instances together.",
            "Leave it out: the option applies to metrics that are read from the output.",
        )
    if way not in tuple(Combine):
        near = nearest(way, tuple(Combine))
        raise InvalidInputError(
            f"--combine: unknown aggregation {way!r}.",
            f"Did you mean {near}?" if near else f"Write one of {', '.join(Combine)}.",
        )
    return msgspec.structs.replace(metric, combine=Combine(way))


def _named_metrics(options: WorkloadOptions, units: dict[str, str]) -> dict[str, Metric]:
    """Return the metrics of ``--progress`` and ``--metric``, in order, and wall time after them."""
    reported = parse_progress(options, units)
    metrics = dict(reported)
    for text in options.metric:
        metric = derived_metric(text, reported) if is_derived(text) else parse_metric(text, units)
        if metric.name in metrics:
            raise InvalidInputError(
                f"The metric {metric.name} is given twice.", "Name each metric once."
            )
        metrics[metric.name] = metric
    for name in units:
        if name in BUILT_IN:
            raise InvalidInputError(
                f"--unit {name}: the unit of this metric is {BUILT_IN[name].unit}.",
                "Leave it out: the option applies to metrics that are read from the output.",
            )
        _demand_metric(name, metrics)
    metrics.setdefault("wall_s", BUILT_IN["wall_s"])
    return metrics


def _demand_metric(name: str, metrics: dict[str, Metric]) -> None:
    if name not in metrics:
        raise InvalidInputError(
            f"Unknown metric: {name!r}.", unknown_metric_remedy(name, (*metrics, *BUILT_IN))
        )
