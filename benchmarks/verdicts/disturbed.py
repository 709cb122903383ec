"""Disturbed: others use the machine, and rule 13 says which blocks an answer rests on.

A block counts as disturbed by the time of day, the length of its launches and the counts of the
kernel, not by its arms. So identical arms must be called different no more often than without a
load.
A load that follows the arms must be found before it makes a verdict.
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
from assay.stats.peeking import simulate_looks

from .identical import generator
from .noise import SPREAD, Array, Flags, orders, sides
from .tally import ALPHA, Row, Share, row_of

ABOVE = 0.1
"""Share of the CPUs that others may take, as a study has it unless told otherwise."""
CPUS = 2
LAUNCH_S = 0.5
OWN = 0.5
"""Share of the CPUs that a launch uses itself."""

Taking = Callable[[np.random.Generator, int, int], Array]
"""Draws the share of the CPUs that others take during each launch: studies x launches."""


def bursts(lasts: float, every: float, low: float, high: float) -> Taking:
    """Take bursts: ``lasts`` launches long on average, once in ``every`` launches."""

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
    """Take as much during every launch, but for a tenth of it."""
    level = rng.uniform(0.15, 0.6, (studies, 1))
    return level * rng.uniform(0.9, 1.1, (studies, launches))


def periodic(blocks: int) -> Taking:
    """Take CPUs during the first launch of each block, or of every other one and so on."""

    def taken(rng: np.random.Generator, studies: int, launches: int) -> Array:
        on = np.arange(launches) % (2 * blocks) == 0
        return np.where(on, constant(rng, studies, launches), 0.0)

    return taken


def from_the_middle(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """Begin at a random launch."""
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
        ruled: by the rule.
        unruled: the same streams, with all blocks and no rule.
        disturbed: share of the blocks.
        following: studies in which the load was taken for one that follows the arms.
        gain: studies of a true gain of 5 % that end with *faster*, under the rule.
        gain_blocks: median of the blocks after which they do.
    """

    ruled: Row
    unruled: Row
    disturbed: Share
    following: Share
    gain: Share
    gain_blocks: float


GAIN = 0.05
"""The true gain that is to be shown under each load."""


def disturbed(name: str, studies: int, blocks: int, seed: int) -> Disturbed:
    """One kind of others."""
    rng = generator(seed, name)
    takes = OTHERS[name](rng, studies, 2 * blocks)
    launches = SPREAD * rng.standard_normal(takes.shape) + np.log1p(takes)
    outside, walls = _counted(launches, takes, rng)
    out = _disturbed(outside, walls)
    swap = orders(launches, rng)
    a, b = sides(launches, swap)
    hidden = following(*sides(outside / (CPUS * walls), swap))
    better = simulate_looks(
        a, b + math.log1p(-GAIN), disturbed=out, coverage=False, visible=~hidden
    )
    told = [ending.blocks for ending in better if ending.verdict == "faster"]
    return Disturbed(
        row_of(name, simulate_looks(a, b, disturbed=out, visible=~hidden)),
        row_of(f"{name}: all blocks", simulate_looks(a, b)),
        Share(int(out.sum()), out.size),
        Share(int(hidden.any(axis=1).sum()), studies),
        Share(len(told), studies),
        float(np.median(told)) if told else math.nan,
    )


FOLLOWING = (0.05, 0.15, 0.3, 0.6)
"""Shares of the CPUs that a load takes during the launches of one arm alone."""


FOLLOWED_BLOCKS = 40


@dataclass(frozen=True)
class Followed:
    """Identical arms, and a load during the launches of the second.

    Attributes:
        share: of the CPUs, that it takes.
        found: studies in which it was found at some look.
        blocks: median of the blocks after which it was.
        told: studies that end with *faster* or *slower* all the same.
        unruled: the same where the load is not looked for.
    """

    share: float
    found: Share
    blocks: float
    told: Share
    unruled: Share


def followed(share: float, studies: int, seed: int) -> Followed:
    """A load that follows the arms."""
    blocks = FOLLOWED_BLOCKS
    rng = generator(seed, f"follows {share}")
    takes = np.zeros((studies, 2 * blocks))
    # Places within a block are alike here: the first launch stands for the first arm.
    takes[:, 1::2] = share * rng.uniform(0.9, 1.1, (studies, blocks))
    launches = SPREAD * rng.standard_normal(takes.shape) + np.log1p(takes)
    outside, walls = _counted(launches, takes, rng)
    out = _disturbed(outside, walls)
    a, b = launches[:, ::2], launches[:, 1::2]
    shares = outside / (CPUS * walls)
    hidden = following(shares[:, ::2], shares[:, 1::2])
    found = hidden.any(axis=1)
    ruled, unruled = (
        simulate_looks(a, b, disturbed=out, coverage=False, visible=visible)
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
    """Studies x blocks: where a load counts as one that follows the arms.

    Args:
        first, second: share of the CPUs that others took during the launch of each arm.
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
    """CPU time of others during each launch, in ticks as the kernel has it, and wall times."""
    walls = LAUNCH_S * np.exp(launches)
    begins = rng.random((*takes.shape, CPUS))
    ticks = np.floor((takes * walls)[..., None] / TICK_S + begins) - np.floor(begins)
    return TICK_S * ticks.sum(axis=2), walls


def _disturbed(outside: Array, walls: Array) -> npt.NDArray[np.bool_]:
    """Tell the blocks that count as disturbed."""
    of_block, capacity = (
        one.reshape(len(outside), -1, 2).sum(axis=2) for one in (outside, CPUS * walls)
    )
    found = [
        OutsideLoad(s, of, 2.0 * CPUS).disturbed(ABOVE)
        for s, of in zip(of_block.ravel().tolist(), capacity.ravel().tolist(), strict=True)
    ]
    return np.array(found).reshape(of_block.shape)
