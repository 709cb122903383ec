"""Figures and checks of several instances of a program, each with its own output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.executors.metrics.extract import MetricReadings, metrics_of
from assay.executors.metrics.figures import Figure, read_figure
from assay.executors.metrics.matching import has_match
from assay.records import Combine, Metric, RunFacts

InstanceOutputs = Sequence[tuple[int, Sequence[Path]]]
"""Number of each instance, with its output files."""

_AGGREGATIONS: dict[Combine, Callable[[Sequence[float]], float]] = {
    Combine.SUM: math.fsum,
    Combine.MEAN: lambda values: math.fsum(values) / len(values),
    Combine.MAX: max,
    Combine.MIN: min,
}


def combined_value(metric: Metric, values: Sequence[float]) -> float:
    """Return the value of several instances together.

    Args:
        metric: metric with its aggregation.
        values: value of each instance, at least one.
    """
    return values[0] if len(values) == 1 else _AGGREGATIONS[metric.combined](values)


def metrics_of_instances(
    metrics: tuple[Metric, ...], facts: RunFacts, instances: InstanceOutputs
) -> MetricReadings:
    """Read each metric, and combine figures that are read from several instances.

    If the figure of one instance is missing, or the units differ, the launch has no figure: the
    others would give that of fewer instances.
    """
    found = metrics_of(tuple(m for m in metrics if m.pattern is None), facts, ())
    for metric in metrics:
        if metric.pattern is not None:
            _add_combined(found, metric, instances)
    return found


def _add_combined(found: MetricReadings, metric: Metric, instances: InstanceOutputs) -> None:
    if metric.file is not None:
        reason = f"several instances share the file {metric.file}; print the figures instead"
        found.add(metric, Figure(reason=reason))
        return
    figures = {number: read_figure(metric, files) for number, files in instances}
    for number, figure in figures.items():
        if figure.value is None:
            found.add(metric, figure, f"instance {number}: ")
            return
    units = {figure.unit for figure in figures.values()}
    if len(units) > 1:
        named = " and ".join(sorted(unit or "none" for unit in units))
        found.add(metric, Figure(reason=f"the units of the instances differ: {named}"))
        return
    values = [figure.value for figure in figures.values() if figure.value is not None]
    words = {figure.word for figure in figures.values()}
    word = words.pop() if len(words) == 1 else None
    found.add(metric, Figure(combined_value(metric, values), unit=units.pop(), word=word))


def first_instance_without(check: str, instances: InstanceOutputs) -> int | None:
    """Return the number of the first instance whose output has no match of a pattern."""
    return next((number for number, files in instances if not has_match(check, files)), None)
