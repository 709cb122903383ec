"""Times of launches of the same program, in the order of the launches.

They are logarithms, studies x launches. The true ratio of two arms dealt from them is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.stats.block_order import BLOCKS_PER_GROUP, swapped_blocks

Array: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Draw = Callable[[np.random.Generator, int, int], Array]

SPREAD = 0.01
"""Typical noise of one launch, relative."""
VALUES = 20
"""Number of values that a program measures within one launch, if it measures several."""


@dataclass(frozen=True)
class Stream:
    """Times on a machine, in order.

    Attributes:
        launches: one value per launch, studies x launches.
        within: first values within the first launches, studies x launches x values; absent if each
            value is that of a launch.
    """

    launches: Array
    within: Array | None = None


def gaussian(rng: np.random.Generator, studies: int, launches: int) -> Array:
    return SPREAD * rng.standard_normal((studies, launches))


def log_normal(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """Return a floor plus a skewed addition with a median of 2 %."""
    return np.log1p(0.02 * np.exp(rng.standard_normal((studies, launches))))


def bimodal(share: float) -> Draw:
    """Return a noise with two modes that are 5 % apart, and this share of slow launches."""

    def noise(rng: np.random.Generator, studies: int, launches: int) -> Array:
        slow = rng.random((studies, launches)) < share
        return 0.2 * SPREAD * rng.standard_normal((studies, launches)) + 0.05 * slow

    return noise


def student(degrees: float) -> Draw:
    def noise(rng: np.random.Generator, studies: int, launches: int) -> Array:
        return SPREAD * rng.standard_t(degrees, (studies, launches))

    return noise


def pareto(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """Return a floor plus an addition without a mean (tail index 1)."""
    return np.log1p(SPREAD * rng.pareto(1.0, (studies, launches)))


def autoregressive(phi: float) -> Draw:
    def noise(rng: np.random.Generator, studies: int, launches: int) -> Array:
        values = SPREAD * rng.standard_normal((studies, launches))
        values[:, 1:] *= math.sqrt(1.0 - phi * phi)
        for k in range(1, launches):
            values[:, k] += phi * values[:, k - 1]
        return values

    return noise


def drift(noise: float) -> Draw:
    """Return a drift of 20 % over 400 launches with Gaussian noise, in percent."""

    def values(rng: np.random.Generator, studies: int, launches: int) -> Array:
        slope = 0.2 / 400 * np.arange(launches)
        return noise / 100.0 * rng.standard_normal((studies, launches)) + slope

    return values


def step(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """Return noise with a step of 10 % at a random launch."""
    at = rng.integers(0, launches, (studies, 1))
    return gaussian(rng, studies, launches) + 0.1 * (np.arange(launches) >= at)


def steps(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """Return jumps of typically 5 % before one launch in twenty, with little other noise."""
    jumps = 0.05 * rng.standard_normal((studies, launches))
    jumps *= rng.random((studies, launches)) < 0.05
    return np.cumsum(jumps, axis=1) + 0.2 * gaussian(rng, studies, launches)


def position(noise: float) -> Draw:
    """Return a noise, in percent, in which the second launch of each block is 1 % slower."""

    def values(rng: np.random.Generator, studies: int, launches: int) -> Array:
        late = 0.01 * (np.arange(launches) % 2)
        return noise / 100.0 * rng.standard_normal((studies, launches)) + late

    return values


def quantised(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """Return 10 s with 0.1 % noise on a clock with ticks of 0.1 s."""
    seconds = 10.05 + 0.01 * rng.standard_normal((studies, launches))
    return np.log(np.maximum(np.round(seconds, 1), 0.1))


LAUNCHES: dict[str, Draw] = {
    "Gaussian": gaussian,
    "log-normal": log_normal,
    "bimodal, 1/2 slow": bimodal(0.5),
    "bimodal, 1/10 slow": bimodal(0.1),
    "bimodal, 1/50 slow": bimodal(0.02),
    "heavy tails, t3": student(3.0),
    "heavy tails, t2": student(2.0),
    "heavy tails, Pareto 1": pareto,
    "drift 20 %, noise 1 %": drift(1.0),
    "drift 20 %, noise 0.05 %": drift(0.05),
    "one step of 10 %": step,
    "many steps": steps,
    "AR(1), 0.5": autoregressive(0.5),
    "AR(1), 0.9": autoregressive(0.9),
    "AR(1), 0.99": autoregressive(0.99),
    "AR(1), -0.9": autoregressive(-0.9),
    "second of a block 1 % slower, noise 0.05 %": position(0.05),
    "second of a block 1 % slower, noise 0.3 %": position(0.3),
    "second of a block 1 % slower, noise 0.5 %": position(0.5),
    "coarse clock": quantised,
}

WITHIN: dict[str, float] = {
    f"{VALUES} values a launch, correlation {rho:g}": rho for rho in (0.25, 0.5, 0.8)
}
"""Share of the variance of a value that all values of its launch share."""

NOISES: tuple[str, ...] = (*LAUNCHES, *WITHIN)


def stream(name: str, rng: np.random.Generator, studies: int, launches: int) -> Stream:
    """Return the stream of a name."""
    if name in LAUNCHES:
        return Stream(LAUNCHES[name](rng, studies, launches))
    parts = [_launches_of(WITHIN[name], rng, size, launches) for size in _parts(studies)]
    return Stream(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


PART = 500
"""Number of studies whose values within launches are in memory at a time."""
KEPT = (40, 3)
"""Numbers of launches, and of values of each, that are stored for rules on values in launches."""


def _parts(studies: int) -> list[int]:
    whole, rest = divmod(studies, PART)
    return [PART] * whole + [rest] * (rest > 0)


def _launches_of(
    rho: float, rng: np.random.Generator, studies: int, launches: int
) -> tuple[Array, Array]:
    """Return the times of launches, and the first values within the first launches."""
    common = math.sqrt(rho) * rng.standard_normal((studies, launches, 1))
    own = math.sqrt(1.0 - rho) * rng.standard_normal((studies, launches, VALUES))
    values = SPREAD * (common + own)
    return np.log(np.exp(values).mean(axis=2)), values[:, : KEPT[0], : KEPT[1]].copy()


def dealt(launches: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return A and B, studies x blocks, in the order of a study with two launches per block.

    Each study begins at a random place in a group of balanced blocks, as after a survey.
    """
    return sides(launches, orders(launches, rng))


def orders(launches: Array, rng: np.random.Generator) -> Flags:
    """Return whether B is first, studies x blocks, with two launches per block."""
    studies, blocks = launches.shape[0], launches.shape[1] // 2
    swap = swapped_blocks(
        rng.integers(0, 1 << 32, (studies, blocks // BLOCKS_PER_GROUP + 2)),
        blocks + BLOCKS_PER_GROUP,
    )
    begins = rng.integers(0, BLOCKS_PER_GROUP, (studies, 1))
    found: Flags = np.take_along_axis(swap, begins + np.arange(blocks), axis=1)
    return found


def shuffled(launches: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return A and B, studies x blocks, in random order within each block of two launches."""
    return sides(launches, rng.random((launches.shape[0], launches.shape[1] // 2)) < 0.5)


def sides(launches: Array, swap: Flags) -> tuple[Array, Array]:
    """Return A and B, studies x blocks, from the figures of two launches per block."""
    first, second = launches[:, : 2 * swap.shape[1] : 2], launches[:, 1::2]
    return np.where(swap, second, first), np.where(swap, first, second)
