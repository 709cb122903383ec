"""Incumbent of a search: the arm that running launches are compared with."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from assay.records import Goal, Incumbent, Metric
from assay.search.progress.steady_launches import SteadyLaunches

if TYPE_CHECKING:
    from assay.stats.progress.launch_spread import SpreadPrior
    from assay.stats.progress.reports import Array

MAX_CURVE_POINTS = 32
"""Largest number of points of the curve of a warm-up."""


@dataclass(frozen=True)
class ArmIncumbent:
    """Incumbent and the name of its arm."""

    arm: str
    incumbent: Incumbent


def incumbent_of(
    metric: Metric,
    steady: SteadyLaunches,
    warmup_steps: float | None,
    prior: SpreadPrior | None = None,
    unfit: Collection[str] = (),
) -> ArmIncumbent | None:
    """Return the best arm; ``None`` before three blocks show the spread between launches.

    Args:
        metric: metric whose values decide when a launch ends.
        steady: launches so far.
        warmup_steps: last step of the warm-up of the next launches.
        prior: prior of the standard deviation between launches; the default one if absent.
        unfit: names of arms that cannot win.
    """
    from assay.stats.progress.early_stop import MIN_BLOCKS
    from assay.stats.progress.early_stop import incumbent_of as incumbent_from

    variance = steady.step_variance()
    logs = {arm: steady.logs(arm) for arm in steady.arms}
    repeats = sum(len(values) - 1 for values in logs.values() if values)
    if variance is None or repeats < MIN_BLOCKS - 1:
        return None
    posterior = spread_between_launches(steady, variance, prior)
    means = _shrunken_means(steady, logs, variance, posterior)
    able = [arm for arm in means if arm not in unfit]
    if not able:
        return None
    best = (min if metric.goal is Goal.LOWER else max)(able, key=lambda arm: means[arm])
    parts = [part for _, part in steady.values(best)]
    steps = sum(part.end_step - part.begin_step for part in parts) / len(parts)
    unit_steps = next((p.period_steps for p in parts if p.period_steps), None)
    if unit_steps is None:
        unit_steps = min(_usual_batch_steps(steady), steps)
    found = incumbent_from(logs[best], steps, unit_steps, posterior, variance)
    curve_steps, curve_s = _curve(steady, best, warmup_steps)
    return ArmIncumbent(
        best,
        msgspec.structs.replace(
            found, value=math.exp(means[best]), curve_steps=curve_steps, curve_s=curve_s
        ),
    )


def spread_between_launches(
    steady: SteadyLaunches, variance: float, prior: SpreadPrior | None = None
) -> Array:
    """Return the probabilities of the standard deviation between launches of a search.

    Args:
        steady: launches so far.
        variance: long-run variance of a step relative to the mean.
        prior: prior of the standard deviation; the default one if absent.
    """
    from assay.stats.progress.launch_spread import RepeatedValues, spread_posterior

    repeats = []
    for arm in steady.arms:
        values = steady.values(arm)
        repeats.append(
            RepeatedValues(
                tuple(math.log(value) for value, _ in values),
                tuple(max(1.0, part.end_step - part.begin_step) for _, part in values),
            )
        )
    return spread_posterior([], variance, prior, repeats)


def _shrunken_means(
    steady: SteadyLaunches, logs: dict[str, list[float]], variance: float, posterior: Array
) -> dict[str, float]:
    """Return the mean log value of each arm, drawn towards that of all arms.

    The best of many equal arms is best by chance. Compared with its mean, more of the others would
    end early than the error rate admits. The variance between arms is that of DerSimonian and Laird
    (1986); it is large where arms differ, and their means then stay as they are.
    """
    from assay.stats.progress.launch_spread import expected_spread

    between = expected_spread(posterior) ** 2
    means, weights = {}, {}
    for arm, values in logs.items():
        if not values:
            continue
        parts = [part for _, part in steady.values(arm)]
        within = sum(variance / max(1.0, p.end_step - p.begin_step) for p in parts) / len(parts)
        means[arm] = math.fsum(values) / len(values)
        weights[arm] = len(values) / (between + within)
    total = math.fsum(weights.values())
    centre = math.fsum(weights[arm] * means[arm] for arm in means) / total
    excess = math.fsum(weights[arm] * (means[arm] - centre) ** 2 for arm in means) - len(means) + 1
    scale = total - math.fsum(weight**2 for weight in weights.values()) / total
    arms_variance = max(0.0, excess / scale) if scale > 0.0 else 0.0
    return {
        arm: centre + (mean - centre) * arms_variance / (arms_variance + 1.0 / weights[arm])
        for arm, mean in means.items()
    }


def _usual_batch_steps(steady: SteadyLaunches) -> float:
    """Return the usual length of a batch, in steps."""
    lengths = sorted(part.batch_steps for part in steady.parts)
    return lengths[len(lengths) // 2]


def _curve(
    steady: SteadyLaunches, arm: str, warmup_steps: float | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return steps and times of the mean curve of an arm until the end of the warm-up."""
    import numpy as np

    curves = [curve.reports for curve in steady.curves(arm) if len(curve)]
    if warmup_steps is None or not curves:
        return (), ()
    first = max(float(one.steps[0]) for one in curves)
    usable = [one for one in curves if float(one.steps[-1]) >= warmup_steps]
    if not usable or warmup_steps <= first:
        return (), ()
    steps = usable[-1].steps
    steps = np.unique(np.append(steps[(steps > first) & (steps < warmup_steps)], warmup_steps))
    chosen = np.unique(np.linspace(0, len(steps) - 1, MAX_CURVE_POINTS - 1).round().astype(int))
    grid = np.concatenate(([first], steps[chosen]))
    times = np.mean([np.interp(grid, one.steps, one.times_s) for one in usable], axis=0)
    return tuple(grid.tolist()), tuple((times - times[0]).tolist())
