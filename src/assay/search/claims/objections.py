"""Objections to verdicts on two arms that do not depend on the size of their values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from statistics import median

from assay.records import Metric, Sample, Stage
from assay.search.history.history import History
from assay.search.history.units import mixed_unit_objection
from assay.search.history.zeros import zeros_objection_of
from assay.wording.objections import bounds_objection, missing_objection

MAX_MISSING_SHARE = 0.1
"""Largest share of launches without a value at which the others are representative."""


def objection_to(metric: Metric, history: History, names: Sequence[str]) -> str | None:
    """Return the objection to a verdict on arms; ``None`` without one.

    Args:
        metric: the objective.
        history: samples of all stages; those of the survey do not count.
        names: names of the arms.
    """
    found = [_zeros(metric.name, history, name) for name in names]
    found += [_overlap(metric.name, history, *pair) for pair in permutations(names, 2)]
    if metric.pattern is not None:
        found += [unit_objection(metric, history, names)]
        found += [_without(metric.name, history, name) for name in names]
    return next(filter(None, found), None)


def unit_objection(metric: Metric, history: History, names: Sequence[str]) -> str | None:
    """Return an objection to possibly different units; arguments as for ``objection_to``."""
    if metric.pattern is None or metric.ignore_unit:
        return None
    return mixed_unit_objection(metric, [history.counts_of(name).units for name in names])


def _zeros(metric: str, history: History, arm: str) -> str | None:
    counts = history.counts_of(arm)
    return zeros_objection_of(metric, arm, counts.zeros, counts.succeeded, MAX_MISSING_SHARE)


def _counted_launches(history: History, arm: str) -> list[Sample]:
    launches = history.launches_of(arm)
    return [s for s in launches if s.launch.stage is not Stage.SURVEY and s.outcome.succeeded]


def _overlap(metric: str, history: History, arm: str, other: str) -> str | None:
    """Return an objection to lower bounds of an arm that may reach the values of another."""
    if not history.counts_of(arm).bounded or not history.counts_of(other).with_figure:
        return None
    launches, of_other = (_counted_launches(history, name) for name in (arm, other))
    with_value = [s for s in launches if metric in s.metrics]
    middle = median(s.metrics[metric] for s in of_other if metric in s.metrics)
    either = [
        s for s in with_value if s.metrics[metric] < middle <= s.upper_bounds.get(metric, 0.0)
    ]
    if len(either) <= MAX_MISSING_SHARE * len(with_value):
        return None
    return bounds_objection(metric, other, len(either), len(with_value), arm)


def _without(metric: str, history: History, arm: str) -> str | None:
    counts = history.counts_of(arm)
    if counts.lacking <= MAX_MISSING_SHARE * counts.succeeded:
        return None
    samples = _counted_launches(history, arm)
    reason = next(s.unavailable[metric] for s in reversed(samples) if metric in s.unavailable)
    return missing_objection(metric, counts.lacking, counts.succeeded, arm, reason)
