"""Figures and checks of several instances of a program, each with an output of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.measure.extract import holds, metrics_of
from assay.records import Combine, Metric, RunFacts

Copies = Sequence[tuple[int, Sequence[Path]]]
"""Number of each instance, and the files that it wrote."""

_COMBINED: dict[Combine, Callable[[Sequence[float]], float]] = {
    Combine.SUM: math.fsum,
    Combine.MEAN: lambda values: math.fsum(values) / len(values),
    Combine.MAX: max,
    Combine.MIN: min,
}


def metrics_of_copies(
    metrics: tuple[Metric, ...], facts: RunFacts, copies: Copies
) -> tuple[dict[str, float], dict[str, str]]:
    """As ``metrics_of``; a figure of the output is read from each instance, then made one.

    An instance without the figure leaves the whole launch without it: what the others give would
    be the figure of fewer.
    """
    given = tuple(metric for metric in metrics if metric.pattern is None)
    found, absent = metrics_of(given, facts, ())
    for metric in metrics:
        if metric.pattern is None:
            continue
        values = []
        for number, files in copies:
            one, why = metrics_of((metric,), facts, files)
            if metric.name not in one:
                absent[metric.name] = f"instance {number}: {why[metric.name]}"
                break
            values.append(one[metric.name])
        else:
            found[metric.name] = _COMBINED[metric.combined](values)
    return found, absent


def without(check: str, copies: Copies) -> int | None:
    """Number of the first instance in whose output a pattern is not found."""
    return next((number for number, files in copies if not holds(check, files)), None)
