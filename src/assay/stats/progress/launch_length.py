r"""Length of the launches of a block.

The mean of n steady steps of a launch has the variance ``sigma_B^2 + s_W^2 / n``: the variance
between launches, which no length reduces, and the long-run variance of a step over their number.
With c1 seconds for start and warm-up and c seconds per step, the time until the interval of an
effect has a given width is proportional to

    f(n) = (c1 + n c) (sigma_B^2 + s_W^2 / n),

with its minimum at ``sqrt((c1 / c) (s_W^2 / sigma_B^2))`` (Kalibera and Jones 2013, ISMM, with two
levels). Their plug-in estimate of sigma_B^2 is noise after a few blocks, and negative often. So
sigma_B has a prior here, and n minimises the posterior mean of ``f(n) / min f``: a loss that does
not depend on the unknown scale.

The differences of the arms within blocks give the likelihood. The effects of the arms are
integrated out with a flat prior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.records.progress import SteadyPart
from assay.stats.progress.reports import Array

_GRID = np.geomspace(2e-4, 6e-2, 28)
"""Values of sigma_B that are considered, relative to the mean."""
REVISED_AFTER = (1, 2, 3, 4, 5, 6, 8, 11)
"""Numbers of blocks after which the length is chosen anew."""
MIN_STEPS = 4
"""Smallest number of steady steps of a launch of a program without periodic dips."""
WIDTHS = ((1.0, 0.5), (2.0, 0.5))
_EXPECTED = np.array(
    [
        (0.0, 6.0),
        (0.16, 6.06),
        (0.25, 6.32),
        (0.36, 6.89),
        (0.49, 7.71),
        (0.64, 8.86),
        (1.0, 11.78),
        (1.44, 15.62),
        (2.25, 23.8),
        (4.0, 42.8),
        (6.25, 69.2),
        (9.0, 102.3),
        (16.0, 190.0),
    ]
).T
_GROWTH = 1.25
"""Ratio of neighbouring lengths that are considered."""


@dataclass(frozen=True, slots=True)
class SpreadPrior:
    """Prior of the standard deviation between launches: log-normal.

    Attributes:
        median: median relative to the mean, such as the stored noise floor of the machine.
        log_sd: standard deviation of its logarithm.
    """

    median: float = 0.007
    log_sd: float = math.log(2.5)

    def log_density(self) -> Array:
        """Return the logarithm of the density on the grid, up to a constant."""
        return np.asarray(-0.5 * (np.log(_GRID / self.median) / self.log_sd) ** 2)


@dataclass(frozen=True, slots=True)
class LaunchCost:
    """Time that a launch takes.

    Attributes:
        fixed_s: start, warm-up, end, and work of assay for each launch, in seconds.
        step_s: steady step, dips included, in seconds.
    """

    fixed_s: float
    step_s: float

    def seconds(self, steps: float) -> float:
        """Return the time of a launch with a number of steady steps, in seconds."""
        return self.fixed_s + self.step_s * steps


@dataclass(frozen=True, slots=True)
class BlockValues:
    """Finished block.

    Attributes:
        logs: logarithm of the value of each arm, in the order of the arms.
        steady_steps: steady steps of each of its launches.
    """

    logs: tuple[float, ...]
    steady_steps: float


def launch_cost(parts: Sequence[SteadyPart], overhead_s: float = 0.0) -> LaunchCost:
    """Return the cost of a launch, from the means over finished ones.

    Args:
        parts: steady parts of launches of all arms.
        overhead_s: time that a launch takes outside its reports, for each launch: what assay does
            before and after it and the end of the program, in seconds.

    Raises:
        ValueError: there is no launch.
    """
    if not parts:
        raise ValueError("the cost of a launch needs a finished launch")
    begins = [part.begin_s for part in parts]
    steps = [(part.end_s - part.begin_s) / (part.end_step - part.begin_step) for part in parts]
    return LaunchCost(sum(begins) / len(begins) + overhead_s, sum(steps) / len(steps))


def step_variance(parts: Sequence[SteadyPart]) -> float | None:
    """Return the long-run variance of a step relative to the mean, pooled over launches.

    Args:
        parts: steady parts of launches of all arms; those without ``batch_sd`` are left out.
    """
    known = [
        (part.batch_sd**2 * part.batch_steps, part.end_step - part.begin_step)
        for part in parts
        if part.batch_sd is not None
    ]
    total = sum(steps for _, steps in known)
    return sum(variance * steps for variance, steps in known) / total if total > 0 else None


def steady_steps(
    blocks: Sequence[BlockValues],
    variance: float,
    cost: LaunchCost,
    *,
    unit_steps: float | None = None,
    max_steps: float = math.inf,
    prior: SpreadPrior | None = None,
    margin: float = 0.01,
) -> float:
    """Return the number of steady steps for the launches of the next block.

    Args:
        blocks: complete blocks so far; see ``blocks_that_count``.
        variance: long-run variance of a step (see ``step_variance``).
        cost: cost of a launch.
        unit_steps: period of dips in steps; the result is a multiple of it.
        max_steps: steady steps of a whole launch.
        prior: prior of the standard deviation between launches.

    Returns:
        Number of steps: at least one period, or four steps.
    """
    lengths = candidate_steps(unit_steps, max_steps)
    weights = posterior(blocks, variance, prior or SpreadPrior())
    times = cost.fixed_s + cost.step_s * lengths
    variances = 2.0 * (np.square(_GRID)[:, np.newaxis] + variance / lengths)
    relative = np.zeros(variances.shape)
    for width, share in WIDTHS:
        totals = times * expected_blocks(variances / (width * margin) ** 2)
        relative += share * totals / totals.min(axis=1, keepdims=True)
    return float(lengths[int((weights @ relative).argmin())])


def blocks_that_count(finished: int) -> int:
    """Return the number of blocks on which the length of the next block rests.

    Args:
        finished: number of finished blocks.
    """
    return max((after for after in (0, *REVISED_AFTER) if after <= finished), default=0)


def candidate_steps(unit_steps: float | None, max_steps: float) -> Array:
    """Return the lengths that are considered, in steps.

    Args:
        unit_steps: all lengths are multiples of it; absent: whole steps.
        max_steps: largest length; the smallest one is returned in any case.
    """
    unit, least = (unit_steps, 1) if unit_steps else (1.0, MIN_STEPS)
    most = max(least, math.floor(min(max_steps / unit, 1e6) + 1e-6))
    counts = [least]
    while counts[-1] < most:
        counts.append(min(most, max(counts[-1] + 1, round(counts[-1] * _GROWTH))))
    return unit * np.array(counts, dtype=np.float64)


def posterior(blocks: Sequence[BlockValues], variance: float, prior: SpreadPrior) -> Array:
    """Return the probability of each value of the standard deviation between launches.

    Args:
        blocks: complete blocks with the same arms.
        variance: long-run variance of a step.
        prior: prior of the standard deviation.

    Returns:
        Probabilities on ``spread_grid()``.
    """
    log_weights = prior.log_density()
    if len(blocks) > 1:
        logs = np.array([block.logs for block in blocks])
        lengths = np.array([block.steady_steps for block in blocks])
        arms = logs.shape[1]
        centred = logs - logs.mean(axis=1, keepdims=True)
        v = np.square(_GRID)[:, np.newaxis] + variance / lengths
        precision = 1.0 / v
        effects = precision @ centred / precision.sum(axis=1, keepdims=True)
        squares = np.square(centred[np.newaxis] - effects[:, np.newaxis]).sum(axis=2)
        log_weights = log_weights - 0.5 * (
            (arms - 1) * (np.log(v).sum(axis=1) + np.log(precision.sum(axis=1)))
            + (precision * squares).sum(axis=1)
        )
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def spread_grid() -> Array:
    """Return the values of the standard deviation between launches that are considered."""
    return _GRID.copy()


def expected_blocks(variance: Array) -> Array:
    x, y = _EXPECTED
    return np.where(variance > x[-1], y[-1] * variance / x[-1], np.interp(variance, x, y))
