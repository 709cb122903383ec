"""Incumbent of a search: the arm that running launches are compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.records import Goal, Incumbent, Metric
from assay.search.progress.steady_launches import SteadyLaunches

PRIOR_LAUNCH_SD = 0.01
"""Standard deviation between launches, relative to the mean, before launches show it."""
PRIOR_DEGREES = 4.0
"""Weight of that value, in degrees of freedom."""


@dataclass(frozen=True)
class ArmIncumbent:
    """Incumbent and the name of its arm."""

    arm: str
    incumbent: Incumbent


def incumbent_of(metric: Metric, steady: SteadyLaunches) -> ArmIncumbent | None:
    """Return the arm with the best mean; ``None`` without a launch whose spread is known.

    Args:
        metric: metric whose values decide when a launch ends.
        steady: launches so far.
    """
    variance = steady.step_variance()
    means = {arm: _mean_log(metric, steady, arm) for arm in steady.arms}
    known = {arm: mean for arm, mean in means.items() if mean is not None}
    if variance is None or not known:
        return None
    best = (min if metric.goal is Goal.LOWER else max)(known, key=lambda arm: known[arm])
    parts = [steady.part(sample) for sample in steady.samples(best)]
    unit_steps = next((p.period_steps for p in parts if p.period_steps), None) or _batch_steps(
        steady
    )
    steps = sum(part.end_step - part.begin_step for part in parts) / len(parts)
    return ArmIncumbent(
        best,
        Incumbent(
            value=math.exp(known[best]),
            launches=len(parts),
            periods=max(1.0, steps / unit_steps),
            launch_sd=launch_sd(metric, steady, variance),
            unit_steps=unit_steps,
            batch_sd=math.sqrt(variance / unit_steps),
        ),
    )


def launch_sd(metric: Metric, steady: SteadyLaunches, variance: float) -> float:
    """Return the standard deviation between launches, relative to the mean.

    It is pooled over arms and drawn towards a usual value, since a search has few launches of each
    arm. The variance within launches is subtracted.

    Args:
        metric: metric of the values.
        steady: launches so far.
        variance: long-run variance of a step relative to the mean.
    """
    squares, degrees = PRIOR_DEGREES * PRIOR_LAUNCH_SD**2, PRIOR_DEGREES
    for arm in steady.arms:
        logs = _logs(metric, steady, arm)
        if len(logs) < 2:
            continue
        mean = math.fsum(logs) / len(logs)
        parts = [steady.part(sample) for sample in steady.samples(arm)]
        within = sum(variance / max(1.0, p.end_step - p.begin_step) for p in parts) / len(parts)
        found = math.fsum((one - mean) ** 2 for one in logs) - (len(logs) - 1) * within
        squares += max(0.0, found)
        degrees += len(logs) - 1
    return math.sqrt(squares / degrees)


def _batch_steps(steady: SteadyLaunches) -> float:
    """Return the usual length of a batch, in steps."""
    lengths = sorted(part.batch_steps for part in steady.parts)
    return lengths[len(lengths) // 2]


def _logs(metric: Metric, steady: SteadyLaunches, arm: str) -> list[float]:
    values = (sample.metrics.get(metric.name) for sample in steady.samples(arm))
    return [math.log(value) for value in values if value is not None and value > 0.0]


def _mean_log(metric: Metric, steady: SteadyLaunches, arm: str) -> float | None:
    logs = _logs(metric, steady, arm)
    return math.fsum(logs) / len(logs) if logs else None
