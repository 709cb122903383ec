"""Disturbed blocks: error rates of rule 13 while other processes use the machine.

Whether a block is disturbed depends on the counts of the kernel, the time of day and the length of
its launches, but not on its arms. So identical arms must not be called different more often than
without a load. A load that follows the arms must be found before it causes a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.search.history.correlated_load import MIN_DIFFERENCE_CPUS
from assay.search.history.disturbance import TICK_S, OutsideLoad
from assay.stats.correlated_load import is_correlated
from assay.stats.peeking import simulate_studies

from .identical import generator
from .noise import SPREAD, Array, Flags, orders, sides
from .tally import ALPHA, Row, Share, row_of

ABOVE = 0.1
"""Largest share of the CPUs that other processes use in an undisturbed block."""
CPUS = 2
LAUNCH_S = 0.5
OWN = 0.5
"""Share of the CPUs that a launch uses."""

Taking = Callable[[np.random.Generator, int, int], Array]
"""Function that draws the share of the CPUs that other processes use, studies x launches."""


def bursts(lasts: float, every: float, low: float, high: float) -> Taking:
    """Return a load in bursts of ``lasts`` launches on average, one in ``every`` launches."""

    def taken(rng: np.random.Generator, studies: int, launches: int) -> Array:
        starts = rng.random((studies, launches)) < 1.0 / (every - lasts)
        stops = rng.random((studies, launches)) < 1.0 / lasts
        draws = rng.uniform(low, high, (studies, launches))
        takes = np.zeros((studies, launches))
        on = rng.random(studies) < lasts / every
        share = draws[:, 0].copy()
        for k in range(launches):
            begins = ~on & starts[:, k]
            share = np.where(begins, draws[:, k], share)
            on = (on & ~stops[:, k]) | begins
            takes[:, k] = np.where(on, share, 0.0)
        return takes

    return taken


def constant(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """Return a load that differs by up to a tenth between launches."""
    level = rng.uniform(0.15, 0.6, (studies, 1))
    return level * rng.uniform(0.9, 1.1, (studies, launches))


def periodic(blocks: int) -> Taking:
    """Return a load during the first launch of each block, or of every n-th block."""

    def taken(rng: np.random.Generator, studies: int, launches: int) -> Array:
        on = np.arange(launches) % (2 * blocks) == 0
        return np.where(on, constant(rng, studies, launches), 0.0)

    return taken


def from_the_middle(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """Return a load that begins at a random launch."""
    begins = rng.integers(0, launches, (studies, 1))
    return np.where(np.arange(launches) >= begins, constant(rng, studies, launches), 0.0)


OTHERS: dict[str, Taking] = {
    "constant, 15 to 60 %": constant,
    "for 12 launches in 60, 5 to 60 %": bursts(12, 60, 0.05, 0.6),
    "for 1 launch in 8, 5 to 60 %": bursts(1, 8, 0.05, 0.6),
    "for 30 launches in 60, 8 to 15 %": bursts(30, 60, 0.08, 0.15),
    "for 30 launches in 60, 5 to 60 %": bursts(30, 60, 0.05, 0.6),
    "first launch of each block, 15 to 60 %": periodic(1),
    "first launch of every other block, 15 to 60 %": periodic(2),
    "from a random launch on, 15 to 60 %": from_the_middle,
}


@dataclass(frozen=True)
class Disturbed:
    """Identical arms under a load.

    Attributes:
        ruled: results with the rule.
        unruled: results of the same streams without the rule, with all blocks.
        disturbed: share of disturbed blocks.
        following: studies whose load counted as one that follows the arms.
        gain: studies of a true gain of 5 % that end with *faster*, with the rule.
        gain_blocks: median number of blocks after which they end.
    """

    ruled: Row
    unruled: Row
    disturbed: Share
    following: Share
    gain: Share
    gain_blocks: float


GAIN = 0.05
"""True gain that studies under each load must find."""


def disturbed(name: str, studies: int, blocks: int, seed: int) -> Disturbed:
    """Return the results under one kind of load."""
    rng = generator(seed, name)
    takes = OTHERS[name](rng, studies, 2 * blocks)
    launches = SPREAD * rng.standard_normal(takes.shape) + np.log1p(takes)
    outside, walls = _counted(launches, takes, rng)
    out = _disturbed(outside, walls)
    swap = orders(launches, rng)
    a, b = sides(launches, swap)
    hidden = following(*sides(outside / (CPUS * walls), swap))
    better = simulate_studies(
        a, b + math.log1p(-GAIN), disturbed=out, coverage=False, visible=~hidden
    )
    found = [ending.blocks for ending in better if ending.verdict == "faster"]
    return Disturbed(
        row_of(name, simulate_studies(a, b, disturbed=out, visible=~hidden)),
        row_of(f"{name}: all blocks", simulate_studies(a, b)),
        Share(int(out.sum()), out.size),
        Share(int(hidden.any(axis=1).sum()), studies),
        Share(len(found), studies),
        float(np.median(found)) if found else math.nan,
    )


FOLLOWING = (0.05, 0.15, 0.3, 0.6)
"""Shares of the CPUs that a load uses during the launches of one arm only."""


FOLLOWED_BLOCKS = 40


@dataclass(frozen=True)
class Followed:
    """Identical arms, and a load during the launches of the second.

    Attributes:
        share: share of the CPUs that the load uses.
        found: studies in which the load was found at some interim analysis.
        blocks: median number of blocks after which it was found.
        told: studies that end with *faster* or *slower* nevertheless.
        unruled: the same without a check of the load.
    """

    share: float
    found: Share
    blocks: float
    told: Share
    unruled: Share


def followed(share: float, studies: int, seed: int) -> Followed:
    """Return the results under a load that follows the arms."""
    blocks = FOLLOWED_BLOCKS
    rng = generator(seed, f"follows {share}")
    takes = np.zeros((studies, 2 * blocks))
    # The order within a block does not matter here: the first launch is that of the first arm.
    takes[:, 1::2] = share * rng.uniform(0.9, 1.1, (studies, blocks))
    launches = SPREAD * rng.standard_normal(takes.shape) + np.log1p(takes)
    outside, walls = _counted(launches, takes, rng)
    out = _disturbed(outside, walls)
    a, b = launches[:, ::2], launches[:, 1::2]
    shares = outside / (CPUS * walls)
    hidden = following(shares[:, ::2], shares[:, 1::2])
    found = hidden.any(axis=1)
    ruled, unruled = (
        simulate_studies(a, b, disturbed=out, coverage=False, visible=visible)
        for visible in (~hidden, None)
    )
    return Followed(
        share,
        Share(int(found.sum()), studies),
        float(np.median(hidden[found].argmax(axis=1) + 1)) if found.any() else math.nan,
        Share(sum(e.differs for e in ruled), studies),
        Share(sum(e.differs for e in unruled), studies),
    )


def following(first: Array, second: Array) -> Flags:
    """Return whether a load counts as one that follows the arms, studies x blocks.

    Args:
        first, second: share of the CPUs that other processes used during the launch of each arm.
    """
    studies, blocks = first.shape
    n = np.arange(1, blocks + 1)
    means = [np.cumsum(arm, axis=1) / n for arm in (first, second)]
    possible = (np.maximum(*means) > ABOVE) & (
        abs(means[1] - means[0]) > MIN_DIFFERENCE_CPUS * ABOVE
    )
    step = TICK_S / LAUNCH_S
    found = np.zeros((studies, blocks), dtype=np.bool_)
    for i, k in zip(*np.nonzero(possible), strict=True):
        pairs = list(zip(first[i, : k + 1].tolist(), second[i, : k + 1].tolist(), strict=True))
        rest = [tuple(min(1.0, share / (1.0 - OWN)) for share in pair) for pair in pairs]
        found[i, k] = is_correlated(pairs, rest, ALPHA, resolution=step)
    return found


def _counted(launches: Array, takes: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the CPU time of other processes in ticks of the kernel, and wall times, per launch."""
    walls = LAUNCH_S * np.exp(launches)
    begins = rng.random((*takes.shape, CPUS))
    ticks = np.floor((takes * walls)[..., None] / TICK_S + begins) - np.floor(begins)
    return TICK_S * ticks.sum(axis=2), walls


def _disturbed(outside: Array, walls: Array) -> npt.NDArray[np.bool_]:
    """Return whether a block counts as disturbed, studies x blocks."""
    of_block, capacity = (
        one.reshape(len(outside), -1, 2).sum(axis=2) for one in (outside, CPUS * walls)
    )
    found = [
        OutsideLoad(s, of, 2.0 * CPUS).disturbed(ABOVE)
        for s, of in zip(of_block.ravel().tolist(), capacity.ravel().tolist(), strict=True)
    ]
    return np.array(found).reshape(of_block.shape)
