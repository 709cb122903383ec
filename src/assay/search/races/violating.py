"""Best configuration of a search that violates a requirement."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.records import Arm, Goal, Requirement, Stage, StudySpec
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.model.feasibility import feasible_configurations
from assay.search.model.trials import trials_of
from assay.stats.quantile import quantile


@dataclass(frozen=True, slots=True)
class ViolatingArm:
    """Arm that is better than the default and violates a requirement.

    Attributes:
        arm: the arm.
        ratio: its objective relative to the default, a geometric mean over blocks.
        requirement: requirement that it violates.
        value: its quantile of the metric of this requirement.
        launches: number of launches behind this value.
    """

    arm: Arm
    ratio: float
    requirement: Requirement
    value: float
    launches: int


def best_violating_arm(spec: StudySpec, history: History) -> ViolatingArm | None:
    """Return the best arm that violates a requirement; ``None`` if the default is as good.

    Args:
        spec: specification of the search.
        history: its samples.
    """
    if not spec.requirements:
        return None
    kept = feasible_configurations(trials_of(history))
    sign = 1.0 if spec.workload.objective.goal is Goal.LOWER else -1.0
    found: list[tuple[float, ViolatingArm]] = []
    for arm in history.arms(Stage.SEARCH):
        gap = _log_ratio(history, arm)
        if arm == DEFAULT_ARM or arm.configuration in kept or gap is None:
            continue
        violated = _violated(spec, history, arm)
        if violated is not None and sign * gap < -math.log1p(spec.margin):
            found.append((sign * gap, ViolatingArm(arm, math.exp(gap), *violated)))
    return min(found, key=lambda one: one[0])[1] if found else None


def _log_ratio(history: History, arm: Arm) -> float | None:
    """Return the mean log ratio to the default; ``None`` without values.

    It is that over common blocks, or over all blocks if there are none: with a small budget the
    default runs in few of them.
    """
    pairs = zip(
        history.observations(Stage.SEARCH, arm.name),
        history.observations(Stage.SEARCH, DEFAULT_ARM.name),
        strict=True,
    )
    gaps = [
        math.log(own.value / default.value)
        for own, default in pairs
        if own is not None and default is not None and not (own.censored or default.censored)
    ]
    if gaps:
        return math.fsum(gaps) / len(gaps)
    own_log, default_log = (_mean_log(history, name) for name in (arm.name, DEFAULT_ARM.name))
    return None if own_log is None or default_log is None else own_log - default_log


def _mean_log(history: History, arm: str) -> float | None:
    logs = [math.log(o.value) for o in history.known(Stage.SEARCH, arm) if not o.censored]
    return math.fsum(logs) / len(logs) if logs else None


def _violated(spec: StudySpec, history: History, arm: Arm) -> tuple[Requirement, float, int] | None:
    """Return the first requirement that an arm violates, its value and the launches behind it."""
    samples = [s for s in history.samples_of(Stage.SEARCH, arm.name) if s.outcome.succeeded]
    for requirement in spec.requirements:
        values = [s.metrics[requirement.metric] for s in samples if requirement.metric in s.metrics]
        value = quantile(values, requirement.quantile) if values else None
        if value is not None and not requirement.is_met_by(value):
            return requirement, value, len(values)
    return None
