"""Disturbed: others use the machine now and then, and rule 13 leaves blocks out.

What is left out depends on time, on how long a launch takes and on what the kernel counts, not on
the arms; so identical arms must be told apart no more often than without.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.search.disturbance import TICK_S, Conditions, withheld
from assay.stats.peeking import peek

from .identical import generator
from .noise import SPREAD, Array, dealt
from .tally import Row, Share, row_of

ABOVE = 0.1
"""Share of the CPUs that others may take, as a study has it unless told otherwise."""
CPUS = 2
LAUNCH_S = 0.5


@dataclass(frozen=True)
class Others:
    """Who else works: for so many launches at a time, so often, with so much of the CPUs."""

    lasts: float
    every: float
    takes: tuple[float, float]


OTHERS = {
    "others for 12 launches in 60, taking 5 to 60 %": Others(12, 60, (0.05, 0.6)),
    "others for 1 launch in 8, taking 5 to 60 %": Others(1, 8, (0.05, 0.6)),
    "others for 30 launches in 60, taking 8 to 15 %": Others(30, 60, (0.08, 0.15)),
}


@dataclass(frozen=True)
class Disturbed:
    """With the rule, and the same streams without it.

    Attributes:
        left_out: share of the blocks.
        withheld: studies in which no verdict could be given at the end.
    """

    ruled: Row
    unruled: Row
    left_out: Share
    withheld: Share


def disturbed(name: str, studies: int, blocks: int, seed: int) -> Disturbed:
    """One kind of others."""
    rng = generator(seed, name)
    takes = _taken(OTHERS[name], rng, studies, 2 * blocks)
    launches = SPREAD * rng.standard_normal(takes.shape) + np.log1p(takes)
    a, b = dealt(launches, rng)
    sound = ~_disturbed(launches, takes, rng)
    kept = [np.flatnonzero(row) for row in sound]
    counts = [max(1, len(k)) for k in kept]
    left, right, visible = np.zeros_like(a), np.zeros_like(b), np.zeros(a.shape, dtype=np.bool_)
    for i, at in enumerate(kept):
        left[i, : len(at)], right[i, : len(at)] = a[i, at], b[i, at]
        # The n-th sound block is the (at + 1)-th of all: the rest were left out.
        visible[i, : len(at)] = [not withheld(int(k) - n, int(k) + 1) for n, k in enumerate(at)]
    lost = (~sound).sum(axis=1)
    return Disturbed(
        row_of(f"{name}: left out", peek(left, right, visible=visible, counts=counts)),
        row_of(f"{name}: kept", peek(a, b)),
        Share(int(lost.sum()), sound.size),
        Share(sum(withheld(int(n), blocks) for n in lost), studies),
    )


def _taken(others: Others, rng: np.random.Generator, studies: int, launches: int) -> Array:
    """Share of the CPUs that others take during each launch: on and off, two states of a chain."""
    starts = rng.random((studies, launches)) < 1.0 / (others.every - others.lasts)
    stops = rng.random((studies, launches)) < 1.0 / others.lasts
    draws = rng.uniform(*others.takes, (studies, launches))
    takes = np.zeros((studies, launches))
    on = rng.random(studies) < others.lasts / others.every
    share = draws[:, 0].copy()
    for k in range(launches):
        begins = ~on & starts[:, k]
        share = np.where(begins, draws[:, k], share)
        on = (on & ~stops[:, k]) | begins
        takes[:, k] = np.where(on, share, 0.0)
    return takes


def _disturbed(launches: Array, takes: Array, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Which blocks the rule leaves out, from counts in ticks as the kernel has them."""
    walls = LAUNCH_S * np.exp(launches)
    begins = rng.random((*takes.shape, CPUS))
    ticks = np.floor((takes * walls)[..., None] / TICK_S + begins) - np.floor(begins)
    outside = (TICK_S * ticks.sum(axis=2)).reshape(len(takes), -1, 2).sum(axis=2)
    capacity = CPUS * walls.reshape(len(takes), -1, 2).sum(axis=2)
    found = [
        Conditions(s, of, 2.0 * CPUS).disturbed(ABOVE)
        for s, of in zip(outside.ravel().tolist(), capacity.ravel().tolist(), strict=True)
    ]
    return np.array(found).reshape(outside.shape)
