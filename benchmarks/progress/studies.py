"""Whole simulated studies: production rules decide warm-up, lengths and ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from assay.records.progress import SteadyPart
from assay.stats.progress.block_parts import block_parts
from assay.stats.progress.end import first_look_suffices, next_check
from assay.stats.progress.launch_curve import LaunchCurve, launch_curve
from assay.stats.progress.launch_length import (
    REVISED_AFTER,
    launch_cost,
    next_steady_steps,
    step_variance,
)
from assay.stats.progress.launch_spread import BlockValues
from assay.stats.progress.reports import Reports
from assay.stats.progress.steady import steady_part
from assay.stats.progress.warm_up import (
    PILOT_BLOCKS,
    WarmUp,
    common_warm_up,
    pooled_warm_up,
    revised_warm_up,
)

from .jobs import Array, Job, launches

FULL_BLOCKS = max(PILOT_BLOCKS)
"""Blocks whose steps are simulated one by one: those that decide the warm-up."""
_UNKNOWN_VARIANCE = 1e-4
"""Long-run variance of a step where launches have too few batches."""


@dataclass
class Pilot:
    """First blocks of one study.

    Attributes:
        blocks: logarithm of the time per step of both arms, and steady steps.
        seconds: time of each block; the first one contains the first look.
        variance: estimated long-run variance of a step.
        cut: end of the warm-up.
        period: period of dips in steps.
        final_steps: steady steps of all later blocks.
        first_look_s: time of the first look.
    """

    blocks: list[BlockValues] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    variance: float = 0.0
    cut: float = 0.0
    period: float | None = None
    final_steps: float = 0.0
    first_look_s: float = 0.0


def pilot(job: Job, rng: np.random.Generator, effect: float, shape: str = "linear") -> Pilot:
    """Run the blocks of one study in which lengths are still chosen.

    Args:
        job: the program.
        rng: source of all noise.
        effect: logarithm of the time of the second arm over that of the first.
        shape: shape of the warm-up.
    """
    study = Pilot()
    factors = np.exp([0.0, effect])
    look, warm = _first_look(job, rng, shape)
    study.first_look_s = float(look.reports.times_s[-1])
    part = steady_part(look, warm)
    length = _next_length(job, [], [part], warm) if part else job.whole / 2
    runs: list[tuple[LaunchCurve, LaunchCurve]] = []
    cuts: list[float] = []
    parts: list[SteadyPart] = []
    for number in range(1, REVISED_AFTER[-1] + 1):
        if number <= FULL_BLOCKS:
            number_cut = warm.steps
            last = min(job.whole, round(warm.steps + length))
            if number == 1:
                second = launch_curves(job, rng, factors[1:], last, shape)[0]
                runs.append((look, second))
            else:
                both = launch_curves(job, rng, factors, last, shape)
                runs.append((both[0], both[1]))
            study.seconds.append(sum(float(one.reports.times_s[-1]) for one in runs[-1]))
            if number in PILOT_BLOCKS:
                warm = revised_warm_up(warm, _revised(runs))
            cuts.append(number_cut)
            blocks, parts = _values(runs, cuts, warm)
        else:
            blocks.append(_later_block(job, rng, effect, length))
            study.seconds.append(2 * job_seconds(job, warm.steps, length, shape))
        # A first pair of launches without a steady part teaches nothing.
        if number in REVISED_AFTER and parts:
            length = _next_length(job, blocks, parts, warm)
    study.blocks, study.variance = blocks, step_variance(parts) or _UNKNOWN_VARIANCE
    study.cut, study.period, study.final_steps = warm.steps, warm.period_steps, length
    return study


def _next_length(
    job: Job, blocks: list[BlockValues], parts: list[SteadyPart], warm: WarmUp
) -> float:
    """Return the steady steps of the next block; the first one fits into the first look."""
    most = job.whole - warm.steps
    if not blocks:
        most = parts[0].end_step - parts[0].begin_step
    return next_steady_steps(
        blocks,
        step_variance(parts) or _UNKNOWN_VARIANCE,
        launch_cost(parts),
        unit_steps=warm.period_steps,
        max_steps=most,
    )


def job_seconds(job: Job, cut: float, length: float, shape: str) -> float:
    """Return the mean time of a launch."""
    steps = round(cut + length)
    return job.fixed_s(shape) + (steps - job.warm_up) * job.mean_step_s


def later_logs(job: Job, rng: np.random.Generator, steps: Array, blocks: int) -> Array:
    """Return the noise of the log-ratios of later blocks, studies x blocks.

    The mean of Gaussian steps is Gaussian, so it needs no simulation of steps.
    """
    sd = np.sqrt(2 * (job.launch_sd**2 + job.noise_sd(steps) ** 2))
    return np.asarray(sd[:, np.newaxis] * rng.standard_normal((len(steps), blocks)))


def _later_block(job: Job, rng: np.random.Generator, effect: float, length: float) -> BlockValues:
    noise = job.noise_sd(np.array([length]))[0] * rng.standard_normal(2)
    logs = job.launch_sd * rng.standard_normal(2) + np.log1p(noise) + (0.0, effect)
    return BlockValues((float(logs[0]), float(logs[1])), length)


def launch_curves(
    job: Job, rng: np.random.Generator, factors: Array, steps: int, shape: str
) -> list[LaunchCurve]:
    """Return launches that report each step, one for each factor on their time."""
    ends = launches(job, rng, factors, steps, shape)
    at = np.arange(1.0, steps + 1)
    return [launch_curve(Reports(at, row[1:], at)) for row in ends]


def _first_look(job: Job, rng: np.random.Generator, shape: str) -> tuple[LaunchCurve, WarmUp]:
    whole = launch_curves(job, rng, np.ones(1), job.whole, shape)[0].reports
    seen = next_check(0)
    look = launch_curve(whole.between(0, seen))
    while seen < job.whole and not first_look_suffices(look):
        seen = min(job.whole, next_check(seen))
        look = launch_curve(whole.between(0, seen))
    found = pooled_warm_up([look])
    return look, found or WarmUp(0.0, None, False)


def _revised(runs: list[tuple[LaunchCurve, LaunchCurve]]) -> WarmUp | None:
    return common_warm_up([pooled_warm_up([pair[arm] for pair in runs]) for arm in (0, 1)])


def _values(
    runs: list[tuple[LaunchCurve, LaunchCurve]], cuts: list[float], warm: WarmUp
) -> tuple[list[BlockValues], list[SteadyPart]]:
    """Return the values of all blocks with one warm-up, and the steady parts.

    A block that has no whole period after the new warm-up keeps the one that it ran with.
    """
    blocks, parts = [], []
    for pair, own in zip(runs, cuts, strict=True):
        known = block_parts(pair, warm, own)
        if not known:
            continue
        length = known[0].end_step - known[0].begin_step
        logs = tuple(math.log((part.end_s - part.begin_s) / length) for part in known)
        blocks.append(BlockValues(logs, length))
        parts += known
    return blocks, parts
