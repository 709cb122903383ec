"""Metrics of a session, from the names that trials report."""

from __future__ import annotations

import re

import msgspec

from assay.api.functions.progress import Progress
from assay.api.options.progress import with_level
from assay.errors import InvalidInputError
from assay.executors.metrics.direction import is_rate, is_time_word
from assay.executors.progress.speed_units import is_time_per_step
from assay.records import Goal, Metric

_LOWER = re.compile(
    r"bytes|cost|energy|errors?|joules?|loss|memory|perplexity|ppl|[kmg]i?b", re.IGNORECASE
)
"""Words of a name, other than those of a time, whose metric is better if it is lower."""


def metric_of(name: str, goal: str | None, unit: str, progress: Progress | None) -> Metric:
    """Return a metric that trials report.

    Args:
        name: name of the metric.
        goal: ``lower`` or ``higher``; ``None`` derives it from name and unit.
        unit: unit of its values.
        progress: description of its progress; ``None`` if its value is the mean of its reports.

    Raises:
        InvalidInputError: the goal does not follow from the name.
    """
    source = None if progress is None else progress.source
    metric = with_level(Metric(name=name, unit=unit, progress=source))
    if goal is not None:
        return _directed(metric, Goal(goal))
    if is_time_per_step(unit):
        return _directed(metric, Goal.LOWER)
    if is_rate(metric):  # precedes the words of times, such as the last one of tokens_per_s
        return _directed(metric, Goal.HIGHER)
    if _is_lower(name):
        return _directed(metric, Goal.LOWER)
    if progress is not None:
        return _directed(metric, Goal.HIGHER)
    raise InvalidInputError(
        f"It is unclear whether a higher or a lower {name} is better.",
        'Give the session goal="higher" or goal="lower".',
    )


def further_metric(name: str) -> Metric:
    """Return a metric that is recorded beside the objective."""
    metric = Metric(name=name)
    return _directed(metric, Goal.HIGHER if is_rate(metric) else Goal.LOWER)


def checked_goal(goal: str | None) -> str | None:
    """Return a goal.

    Raises:
        InvalidInputError: it is neither ``lower`` nor ``higher``.
    """
    if goal is not None and goal not in tuple(Goal):
        raise InvalidInputError(f"Invalid goal: {goal!r}.", "Give lower or higher.")
    return goal


def checked_progress(progress: Progress | None) -> Progress | None:
    """Return the description of a reported metric.

    Raises:
        InvalidInputError: it reads the values from an output, which a trial does not have.
    """
    if progress is None:
        return None
    if progress.pattern or progress.file or progress.preset:
        raise InvalidInputError(
            "A session takes its values from trial.report, not from an output.",
            f'Give assay.Progress("{progress.name}") without pattern, file and preset.',
        )
    return progress


def _is_lower(name: str) -> bool:
    words = re.split("[^A-Za-z]+", name)
    return any(is_time_word(word) or _LOWER.fullmatch(word) for word in words)


def _directed(metric: Metric, goal: Goal) -> Metric:
    return msgspec.structs.replace(metric, goal=goal)
