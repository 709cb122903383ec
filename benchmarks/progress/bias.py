"""Bias of the value of a launch without its warm-up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats.progress.steady import steady_part
from assay.stats.progress.warm_up import common_warm_up, pooled_warm_up

from .jobs import Job
from .studies import launch_curves

PILOTS = 4
"""Pilot launches of each arm."""
FRESH = 2
"""Later launches whose value is compared with the truth."""
STEPS = (200, 400, 2000)


@dataclass(frozen=True)
class Bias:
    """Mean relative error of the time of a step, with its standard error."""

    mean: float
    error: float


def bias(job: Job, shape: str, steps: int, studies: int, seed: int, pilots: int = PILOTS) -> Bias:
    """Return the bias of launches with some steps, for a warm-up known from pilot launches.

    Args:
        job: the program.
        shape: shape of its warm-up.
        steps: steps of each launch.
        studies: number of sets of pilot launches.
        seed: seed of all noise.
        pilots: pilot launches of each of two arms; 0: the warm-up is found in each launch itself.
    """
    rng = np.random.default_rng((seed, steps, pilots))
    means = []
    for _ in range(studies):
        warm_up = None
        if pilots:
            arms = [launch_curves(job, rng, np.ones(pilots), steps, shape) for _ in range(2)]
            warm_up = common_warm_up([pooled_warm_up(arm) for arm in arms])
        errors = []
        for curve in launch_curves(job, rng, np.ones(FRESH), steps, shape):
            part = steady_part(curve, warm_up)
            if part is not None:
                step_s = (part.end_s - part.begin_s) / (part.end_step - part.begin_step)
                errors.append(step_s / job.mean_step_s - 1.0)
        means.append(np.mean(errors))
    return Bias(float(np.mean(means)), float(np.std(means) / np.sqrt(studies)))
