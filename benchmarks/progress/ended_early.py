"""Launches of the search that end early, for identical and for slower configurations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assay.records.progress import Incumbent
from assay.stats.progress.early_stop import LOOKS, incumbent_of, threshold
from assay.stats.progress.launch_spread import spread_posterior

from .jobs import Array, Job, launches
from .studies import pilot

BLOCKS = 6
"""Blocks that tell the standard deviation between launches, with one launch of the incumbent in
each."""
EACH = 5
"""Launches that are compared with one incumbent."""
SLOWER = (0.0, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Ended:
    """Launches of a configuration that is slower by a share.

    Attributes:
        share: share of the launches that ended early.
        error: standard error of it, over incumbents.
        periods: mean number of periods until the end.
    """

    share: float
    error: float
    periods: float


def ended_early(job: Job, slower: float, incumbents: int, seed: int) -> Ended:
    """Return how many launches end early.

    The variances between launches and of a period are estimated from the six first blocks of a
    study each, as in a real search.

    Args:
        job: a program with checkpoints.
        slower: relative difference of the configuration from the incumbent.
        incumbents: number of studies.
        seed: seed of all noise.
    """
    rng = np.random.default_rng((seed, round(1e4 * slower)))
    periods = (job.whole - job.warm_up) // job.every
    shares, used = [], []
    for _ in range(incumbents):
        incumbent = _incumbent(job, rng)
        curves = launches(job, rng, np.full(EACH, 1.0 + slower), job.whole)
        ends = curves[:, job.warm_up :: job.every] - curves[:, job.warm_up : job.warm_up + 1]
        over: Array = np.zeros((EACH, len(LOOKS)), dtype=np.bool_)
        for at, look in enumerate(LOOKS):
            worse = np.log(ends[:, look] / (look * job.every) / incumbent.value)
            over[:, at] = worse > threshold(incumbent, look)
        ended = over.any(axis=1)
        shares.append(ended.mean())
        used.append(np.where(ended, np.array(LOOKS)[over.argmax(axis=1)], periods).mean())
    return Ended(
        float(np.mean(shares)),
        float(np.std(shares) / math.sqrt(incumbents)),
        float(np.mean(used)),
    )


def _incumbent(job: Job, rng: np.random.Generator) -> Incumbent:
    study = pilot(job, rng, 0.0)
    known = study.blocks[:BLOCKS]
    lengths = np.array([block.steady_steps for block in known])
    noise = job.noise_sd(lengths) * rng.standard_normal(len(lengths))
    logs = math.log(job.mean_step_s) + job.launch_sd * rng.standard_normal(len(lengths)) + noise
    return incumbent_of(
        logs.tolist(),
        float(lengths.mean()),
        job.every,
        spread_posterior(known, study.variance),
        study.variance,
    )
