"""Estimates of configurations from launches at one fidelity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.stats.elimination import RIDGE
from assay.stats.launch_noise import pooled_variance
from assay.stats.progress.fidelity import Estimate
from assay.stats.progress.reports import Array


@dataclass(frozen=True, slots=True)
class LevelValue:
    """Value of one launch.

    Attributes:
        name: name of the configuration.
        block: number of its block.
        value: logarithm of the objective, with the sign such that lower is better.
    """

    name: str
    block: int
    value: float


def level_estimates(values: Sequence[LevelValue]) -> dict[str, Estimate]:
    """Return an estimate for each configuration, relative to the mean over all of them.

    The model is "block + configuration", fitted by least squares as in
    ``assay.stats.elimination.arm_effects``, with repeats within a block. The variance of a launch
    is pooled over configurations and drawn towards a prior, because a search has few launches of
    each.

    Args:
        values: values of one fidelity.
    """
    if not values:
        return {}
    names = {name: at for at, name in enumerate(dict.fromkeys(one.name for one in values))}
    blocks = {block: at for at, block in enumerate(dict.fromkeys(one.block for one in values))}
    column = np.array([names[one.name] for one in values])
    row = np.array([blocks[one.block] for one in values])
    y = np.array([one.value for one in values])
    counts = np.zeros((len(blocks), len(names)))
    np.add.at(counts, (row, column), 1.0)
    sizes = counts.sum(axis=1)
    means = np.bincount(row, y) / sizes
    effects = _effects(counts, np.bincount(column, y - means[row]).astype(np.float64))
    rest = y - effects[column]
    rest -= (np.bincount(row, rest) / sizes)[row]
    degrees = max(0, len(values) - len(blocks) - len(names) + 1)
    squares = float(rest @ rest) if degrees else 0.0
    variance = pooled_variance(squares, degrees)
    launches = counts.sum(axis=0)
    return {
        name: Estimate(float(effects[at]), math.sqrt(variance / float(launches[at])))
        for name, at in names.items()
    }


def _effects(counts: Array, distances: Array) -> Array:
    """Return the effects of the configurations, with mean 0.

    Args:
        counts: number of launches, blocks x configurations.
        distances: sum over the launches of a configuration of the distances to their block means.
    """
    shares = counts / counts.sum(axis=1, keepdims=True)
    laplacian = np.diag(counts.sum(axis=0)) - counts.T @ shares
    found: Array = np.linalg.solve(laplacian + RIDGE * np.eye(len(distances)), distances)
    found -= found.mean()
    return found
