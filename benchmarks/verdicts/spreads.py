"""Error rates of verdicts on equal spreads, and of modes found in unimodal data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assay.records.claim import SpreadVerdict
from assay.stats.confidence_sequence import half_width
from assay.stats.modes import find_modes
from assay.stats.spread import BATCH_BLOCKS, EQUIVALENCE_RATIO, SpreadEffect, spread_effect

from .identical import generator
from .noise import LAUNCHES, SPREAD, Array, dealt
from .tally import ALPHA, Share

EQUAL = (
    "Gaussian",
    "log-normal",
    "bimodal, 1/2 slow",
    "bimodal, 1/10 slow",
    "heavy tails, t3",
    "heavy tails, Pareto 1",
    "AR(1), 0.9",
    "one step of 10 %",
    "second of a block 1 % slower, noise 0.3 %",
)
"""Noises of both arms."""
WIDER = (1.5, 2.0, 3.0)
ONE_PEAK = (
    "Gaussian",
    "log-normal",
    "heavy tails, t3",
    "heavy tails, t2",
    "heavy tails, Pareto 1",
    "drift 20 %, noise 1 %",
    "AR(1), 0.9",
)
"""Noises without modes."""
LAUNCHES_SEEN = (20, 50, 200)
EVERY = 10


@dataclass(frozen=True)
class SpreadRow:
    """Verdicts on the spread of one arm relative to another.

    Attributes:
        name: noise.
        told: studies with *tighter* or *wider* at some interim analysis.
        missed: studies whose interval missed the true ratio at some interim analysis.
        same: studies with *same* first.
        blocks: median number of blocks after which *tighter* or *wider* was found.
    """

    name: str
    told: Share
    missed: Share
    same: Share
    blocks: float


def equal(name: str, studies: int, blocks: int, seed: int) -> SpreadRow:
    """Return the results for arms with the same noise."""
    rng = generator(seed, f"spread, {name}")
    a, b = dealt(LAUNCHES[name](rng, studies, 2 * blocks), rng)
    return _row(name, np.exp(a), np.exp(b), 1.0)


def wider(factor: float, studies: int, blocks: int, seed: int) -> SpreadRow:
    """Return the results for Gaussian arms, the second with a multiple of the first's spread."""
    rng = generator(seed, f"spread, {factor:g}")
    a, b = (1.0 + SPREAD * sd * rng.standard_normal((studies, blocks)) for sd in (1.0, factor))
    return _row(f"Gaussian, {factor:g} times as wide", a, b, factor)


def _row(name: str, a: Array, b: Array, truth: float) -> SpreadRow:
    """Return a row from ``spread_effect``, which runs where the plain t interval could decide."""
    batches = a.shape[1] // BATCH_BLOCKS
    n = np.arange(1, batches + 1.0)
    logs = np.log(_spreads(b, batches) / _spreads(a, batches))
    mean = np.cumsum(logs, axis=1) / n
    square = np.maximum(np.cumsum(logs**2, axis=1) - n * mean**2, 1e-30)
    width = np.array([half_width(k, 1.0, ALPHA) for k in range(1, batches + 1)])
    half = np.sqrt(square / np.maximum(n - 1.0, 1.0)) * width
    lo, hi = mean - half, mean + half
    near = math.log(EQUIVALENCE_RATIO)
    decides = (lo > 0.0) | (hi < 0.0) | ((lo >= -near) & (hi <= near))
    misses = (lo > math.log(truth)) | (hi < math.log(truth))
    different = same = missed = 0
    at = []
    for i in range(len(a)):

        def effect_at(k: int, i: int = i) -> SpreadEffect:
            seen = BATCH_BLOCKS * (k + 1)
            return spread_effect(a[i, :seen].tolist(), b[i, :seen].tolist(), alpha=ALPHA)

        for k in np.flatnonzero(decides[i]).tolist():
            verdict = effect_at(k).verdict
            if verdict is SpreadVerdict.UNCLEAR:
                continue
            same += verdict is SpreadVerdict.SAME
            if verdict is not SpreadVerdict.SAME:
                different += 1
                at.append(BATCH_BLOCKS * (k + 1))
            break
        found = (effect_at(k) for k in np.flatnonzero(misses[i]).tolist())
        missed += any(not seen.lo <= truth <= seen.hi for seen in found)
    median = float(np.median(at)) if at else math.nan
    studies = len(a)
    return SpreadRow(
        name, Share(different, studies), Share(missed, studies), Share(same, studies), median
    )


def _spreads(values: Array, batches: int) -> Array:
    """Return p90 - p10 of each batch."""
    parts = values[:, : batches * BATCH_BLOCKS].reshape(len(values), batches, BATCH_BLOCKS)
    low, high = np.quantile(parts, (0.1, 0.9), axis=2)
    found: Array = np.maximum(high - low, 1e-12)
    return found


@dataclass(frozen=True)
class ModesRow:
    """Shares of unimodal studies with two groups, by number of launches and at any interim
    analysis."""

    name: str
    found: dict[int, Share]
    ever: Share


def one_peak(name: str, studies: int, seed: int) -> ModesRow:
    """Return the results for one noise without modes."""
    rng = generator(seed, f"modes, {name}")
    longest = max(LAUNCHES_SEEN)
    values = np.exp(LAUNCHES[name](rng, studies, longest))
    seen = {n: [find_modes(row[:n].tolist()) is not None for row in values] for n in LAUNCHES_SEEN}
    ever = 0
    for i, row in enumerate(values):
        ever += any(seen[n][i] for n in LAUNCHES_SEEN) or any(
            find_modes(row[:n].tolist()) is not None for n in range(EVERY, longest + 1, EVERY)
        )
    return ModesRow(
        name, {n: Share(sum(f), studies) for n, f in seen.items()}, Share(ever, studies)
    )
