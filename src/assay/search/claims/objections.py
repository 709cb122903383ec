"""Objections to verdicts on two arms that do not depend on the size of their values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from statistics import median

from assay.records import Metric, Sample, Stage
from assay.search.history.history import History
from assay.search.history.units import mixed_unit_objection
from assay.search.history.zeros import zeros_objection_to
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
    arms = [(name, _counted_launches(history, name)) for name in names]
    found = [zeros_objection_to(metric.name, *arm, MAX_MISSING_SHARE) for arm in arms]
    found += [_overlap(metric.name, a, b) for a, b in permutations(arms, 2)]
    if metric.pattern is not None:
        found += [unit_objection(metric, history, names)]
        found += [_without(metric.name, *arm) for arm in arms]
    return next(filter(None, found), None)


def unit_objection(metric: Metric, history: History, names: Sequence[str]) -> str | None:
    """Return an objection to possibly different units; arguments as for ``objection_to``."""
    if metric.pattern is None or metric.ignore_unit:
        return None
    return mixed_unit_objection(
        metric, [(name, _counted_launches(history, name)) for name in names]
    )


_Arm = tuple[str, Sequence[Sample]]
"""Name of an arm, and its launches that ended well."""


def _counted_launches(history: History, arm: str) -> list[Sample]:
    launches = history.launches_of(arm)
    return [s for s in launches if s.launch.stage is not Stage.SURVEY and s.outcome.succeeded]


def _overlap(metric: str, arm: _Arm, other: _Arm) -> str | None:
    """Return an objection to lower bounds of an arm that may reach the values of another."""
    with_value = [s for s in arm[1] if metric in s.metrics]
    others = [s.metrics[metric] for s in other[1] if metric in s.metrics]
    if not others or not any(metric in s.upper_bounds for s in with_value):
        return None
    middle = median(others)
    either = [
        s for s in with_value if s.metrics[metric] < middle <= s.upper_bounds.get(metric, 0.0)
    ]
    if len(either) <= MAX_MISSING_SHARE * len(with_value):
        return None
    return bounds_objection(metric, other[0], len(either), len(with_value), arm[0])


def _without(metric: str, arm: str, samples: Sequence[Sample]) -> str | None:
    lacking = [sample for sample in samples if metric in sample.unavailable]
    if len(lacking) <= MAX_MISSING_SHARE * len(samples):
        return None
    reason = lacking[-1].unavailable[metric]
    return missing_objection(metric, len(lacking), len(samples), arm, reason)
