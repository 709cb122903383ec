"""Simulated jobs: programs whose launches differ, warm up, and write checkpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

SHAPES = ("linear", "exponential", "abrupt")


@dataclass(frozen=True)
class Job:
    """A program.

    Attributes:
        name: title of its row.
        step_s: time of a steady step, in seconds.
        launch_sd: standard deviation between launches, relative.
        start_s: time before the first step.
        warm_up: steps of the warm-up; an exponential one has a quarter as its time constant.
        step_sd: standard deviation of a step, relative.
        correlation: of neighbouring steps, AR(1).
        checkpoint_s: time of a checkpoint.
        every: steps between two checkpoints; 0 without them.
        whole: steps of a whole launch.
        limit: largest ratio of the time to that of the best fixed length.
    """

    name: str
    step_s: float
    launch_sd: float
    start_s: float = 10.0
    warm_up: int = 100
    step_sd: float = 0.05
    correlation: float = 0.6
    checkpoint_s: float = 2.0
    every: int = 50
    whole: int = 2000
    limit: float = 1.2

    @property
    def mean_step_s(self) -> float:
        """Time of a steady step, checkpoints included."""
        return self.step_s + (self.checkpoint_s / self.every if self.every else 0.0)

    def fixed_s(self, shape: str = "linear") -> float:
        """Mean time until the end of the warm-up."""
        warm = self.step_s * float(slowdown(self, shape, self.warm_up).sum())
        dips = self.warm_up // self.every * self.checkpoint_s if self.every else 0.0
        return self.start_s + warm + dips

    def noise_sd(self, steps: Array) -> Array:
        """Return the standard deviation of the mean of steady steps, relative to the mean."""
        phi = self.correlation
        n = np.asarray(steps, dtype=np.float64)
        inflation = (1 + phi) / (1 - phi) - 2 * phi * (1 - phi**n) / (n * (1 - phi) ** 2)
        share = self.step_s / self.mean_step_s
        return np.asarray(share * self.step_sd * np.sqrt(inflation / n))


def slowdown(job: Job, shape: str, steps: int) -> Array:
    """Return the time of each step in units of the steady one: half slower at first."""
    at = np.arange(steps)
    if shape == "linear":
        extra = np.clip(1.0 - at / job.warm_up, 0.0, None)
    elif shape == "exponential":
        extra = np.exp(-at / (job.warm_up / 4))
    else:
        extra = (at < job.warm_up).astype(np.float64)
    return 1.0 + 0.5 * extra


def launches(
    job: Job, rng: np.random.Generator, factors: Array, steps: int, shape: str = "linear"
) -> Array:
    """Return the time at the end of each step since the start of the launch.

    Args:
        job: the program.
        rng: source of the noise of steps and launches.
        factors: effect of the arm on the time, one for each launch.
        steps: number of steps.
        shape: shape of the warm-up.

    Returns:
        Times in seconds, launches x (steps + 1), beginning with the first step's start.
    """
    many = len(factors)
    phi = job.correlation
    raw = rng.standard_normal((many, steps))
    raw[:, 0] /= math.sqrt(1 - phi * phi)
    noise = math.sqrt(1 - phi * phi) * lfilter([1.0], [1.0, -phi], raw, axis=1)
    seconds = job.step_s * slowdown(job, shape, steps) * (1.0 + job.step_sd * noise)
    if job.every:
        seconds[:, job.every - 1 :: job.every] += job.checkpoint_s
    seconds *= (factors * np.exp(job.launch_sd * rng.standard_normal(many)))[:, np.newaxis]
    ends = np.empty((many, steps + 1))
    ends[:, 0] = job.start_s
    np.cumsum(seconds, axis=1, out=ends[:, 1:])
    ends[:, 1:] += job.start_s
    return ends


JOBS: tuple[Job, ...] = (
    *(
        Job(f"{1e3 * step:.0f} ms, launch {sd:.1%}".replace(".0%", "%"), step, sd)
        for step in (0.05, 0.2)
        for sd in (0.003, 0.01, 0.03)
    ),
    Job(
        "a: start 60 s, steps 10 % AR(1) 0.9",
        0.2,
        0.003,
        start_s=60.0,
        step_sd=0.1,
        correlation=0.9,
        checkpoint_s=0.0,
        every=0,
        limit=1.4,
    ),
    Job(
        "b: 1 s, warm-up 20, launch 2 %",
        1.0,
        0.02,
        start_s=2.0,
        warm_up=20,
        step_sd=0.01,
        checkpoint_s=0.0,
        every=0,
        limit=1.4,
    ),
    Job(
        "c: start 300 s, warm-up 200",
        0.2,
        0.01,
        start_s=300.0,
        warm_up=200,
        limit=1.4,
    ),
    Job(
        "d: checkpoint 30 s every 500",
        0.2,
        0.01,
        checkpoint_s=30.0,
        every=500,
        limit=1.4,
    ),
)
"""The six jobs of one shape and the four on which a constant length fails."""
