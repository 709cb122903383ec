"""Number of launches that a true gain requires, relative to a paired t test of the right size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assay.records.claim import Verdict
from assay.stats.peeking import simulate_studies

from .identical import generator
from .noise import LAUNCHES, SPREAD, Array, dealt
from .student import critical
from .tally import ALPHA, Share

GAIN = 0.02
POWER = 0.9
ALLOWED = 1.5
"""Multiple of the fixed size within which a study should be decided."""
MAX_BLOCKS = 400
"""Number of simulated blocks."""
NOISES = (
    "Gaussian",
    "log-normal",
    "bimodal, 1/2 slow",
    "bimodal, 1/10 slow",
    "heavy tails, t3",
    "AR(1), 0.5",
    "AR(1), 0.9",
    "drift 20 %, noise 1 %",
    "one step of 10 %",
    "second of a block 1 % slower, noise 0.3 %",
    "second of a block 1 % slower, noise 0.5 %",
)


@dataclass(frozen=True)
class Cost:
    """Number of blocks to show a true gain.

    Attributes:
        name: noise.
        fixed: blocks of the paired t test of 90 % power; ``None`` for more than ``MAX_BLOCKS``.
        mean: mean number of blocks; undecided studies count as ``MAX_BLOCKS``.
        within: studies with *faster* within 1.5 times the fixed size.
        wrong: studies with another verdict first.
    """

    name: str
    fixed: int | None
    mean: float
    within: Share | None
    wrong: Share


def cost(name: str, studies: int, seed: int, gain: float = GAIN) -> Cost:
    """Return the results for one noise, with an arm that takes ``gain`` less time."""
    rng = generator(seed, f"power, {name}")
    shift = -math.log1p(-gain)
    a, b = dealt(LAUNCHES[name](rng, studies, 2 * MAX_BLOCKS), rng)
    endings = simulate_studies(a, b - shift, coverage=False)
    exact = name == "Gaussian"
    effect = shift / (math.sqrt(2.0) * SPREAD)
    fixed = fixed_size(effect) if exact else _seen_size(b - a, shift)
    right = [e.blocks if e.verdict is Verdict.FASTER else MAX_BLOCKS for e in endings]
    within = None
    if fixed is not None:
        within = Share(sum(n <= ALLOWED * fixed and n < MAX_BLOCKS for n in right), studies)
    right_verdicts = (Verdict.FASTER, Verdict.UNCLEAR)
    wrong = Share(sum(e.verdict not in right_verdicts for e in endings), studies)
    return Cost(name, fixed, float(np.mean(right)), within, wrong)


def _seen_size(log_ratios: Array, shift: float) -> int | None:
    """Return the least number of blocks from which the test finds the shift in 90 % of studies."""
    n = np.arange(1, log_ratios.shape[1] + 1.0)
    shifted = log_ratios - shift
    mean = np.cumsum(shifted, axis=1) / n
    square = np.maximum(np.cumsum(shifted**2, axis=1) - n * mean**2, 1e-30)
    t = mean / np.sqrt(square / np.maximum(n - 1.0, 1.0) / n)
    critical_at = np.array([math.inf, *(critical(k - 1) for k in range(2, len(n) + 1))])
    enough = (t < -critical_at).mean(axis=0) >= POWER
    short = np.flatnonzero(~enough)
    first = int(short[-1]) + 2 if len(short) else 1
    return first if first <= len(n) else None


def fixed_size(effect: float) -> int:
    """Return the pairs of a paired t test of 90 % power for a mean of ``effect`` deviations."""
    return next(n for n in range(3, 10_000) if t_power(n, effect) >= POWER)


def t_power(n: int, effect: float, alpha: float = ALPHA) -> float:
    """Return the power of a paired t test of n pairs at a mean of ``effect`` deviations."""
    nu = n - 1
    s = np.linspace(1e-6, 6.0, 20001)  # sample deviation over the true one
    density = np.exp(
        (nu - 1) * np.log(s) - nu * s * s / 2
        + math.log(2.0) + nu / 2 * math.log(nu / 2) - math.lgamma(nu / 2)
    )  # fmt: skip
    weights = density / density.sum()
    z = critical(nu, alpha) * s - effect * math.sqrt(n)
    return float(weights @ np.array([0.5 * math.erfc(v / math.sqrt(2.0)) for v in z]))
