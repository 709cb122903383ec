"""Time of studies with adaptive lengths against the best fixed length in hindsight."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .jobs import Array, Flags, Integers, Job
from .sequences import ends
from .studies import Pilot, job_seconds, later_logs, pilot

EFFECT = math.log(1.02)


def horizon(job: Job) -> int:
    """Return the number of blocks up to which studies are looked at."""
    return 120 if job.launch_sd < 0.015 else 600


def fixed_lengths(job: Job) -> list[int]:
    """Return the fixed lengths that compete in hindsight."""
    unit = job.every or 1
    counts = (
        (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30, 38)
        if job.every
        else (4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 300, 500, 700, 1000, 1400, 1900)
    )
    return [unit * count for count in counts if unit * count <= job.whole - job.warm_up]


@dataclass(frozen=True)
class Fixed:
    """Mean times of a fixed length, in seconds."""

    steps: int
    width_s: float
    verdict_s: float


def fixed(job: Job, studies: int, seed: int) -> list[Fixed]:
    """Return the mean times of each fixed length, with the warm-up known in advance."""
    rows = []
    for steps in fixed_lengths(job):
        rng = np.random.default_rng((seed, steps))
        lengths = np.full(studies, float(steps))
        sd = math.sqrt(2 * (job.launch_sd**2 + float(job.noise_sd(lengths[:1])[0]) ** 2))
        blocks = max(30, min(3000, round(14 * (sd / 0.01) ** 2)))
        logs = later_logs(job, rng, lengths, blocks) + EFFECT
        found = ends(logs, EFFECT, exact=False)
        block_s = 2 * job_seconds(job, job.warm_up, steps, "linear")
        rows.append(
            Fixed(steps, block_s * float(found.width.mean()), block_s * float(found.verdict.mean()))
        )
    return rows


@dataclass(frozen=True)
class Adaptive:
    """Times and errors of adaptive studies, one entry for each study.

    Attributes:
        width_s: time until the interval is +-1 %.
        verdict_s: time until the interval excludes no effect.
        covered: whether the interval contained the truth at every analysis.
        differs: whether it ever excluded no effect.
        open: whether it was wider than +-1 % at the last analysis.
        steps: steady steps of the later blocks.
        cut: end of the warm-up.
        first_look_s: time of the first look.
    """

    width_s: Array
    verdict_s: Array
    covered: Flags
    differs: Flags
    open: Flags
    steps: Array
    cut: Array
    first_look_s: Array


def adaptive(job: Job, effect: float, studies: int, seed: tuple[int, ...]) -> Adaptive:
    """Run studies whose lengths follow the production rules.

    Args:
        job: the program.
        effect: logarithm of the time of the second arm over that of the first.
        studies: number of studies.
        seed: seed of all noise.
    """
    rng = np.random.default_rng(seed)
    pilots = [pilot(job, rng, effect) for _ in range(studies)]
    steps = np.array([one.final_steps for one in pilots])
    most = horizon(job)
    later = later_logs(job, rng, steps, most) + effect
    logs, seconds = np.empty((studies, most)), np.empty((studies, most))
    for row, one in enumerate(pilots):
        logs[row], seconds[row] = _joined(job, one, later[row])
    found = ends(logs, effect)
    return Adaptive(
        width_s=_at(seconds, found.width),
        verdict_s=_at(seconds, found.verdict),
        covered=found.covered,
        differs=np.asarray(found.verdict <= most),
        open=np.asarray(found.width > most),
        steps=steps,
        cut=np.array([one.cut for one in pilots]),
        first_look_s=np.array([one.first_look_s for one in pilots]),
    )


def _joined(job: Job, one: Pilot, later: Array) -> tuple[Array, Array]:
    """Return the log-ratios of a study and the time until the end of each block."""
    first = np.array([block.logs[1] - block.logs[0] for block in one.blocks])
    lost = len(one.seconds) - len(first)
    seconds = np.array(one.seconds[lost:])
    seconds[0] += sum(one.seconds[:lost])
    rest = len(later) - len(first)
    block_s = 2 * job_seconds(job, one.cut, one.final_steps, "linear")
    return (
        np.concatenate((first, later[:rest])),
        np.cumsum(np.concatenate((seconds, np.full(rest, block_s)))),
    )


def _at(seconds: Array, blocks: Integers) -> Array:
    """Return the time at a number of blocks; at the last block where there are fewer."""
    most = seconds.shape[1]
    return np.asarray(seconds[np.arange(len(blocks)), np.minimum(blocks, most) - 1])
