"""Scalarisation: several objectives as one, so that a single-objective searcher finds a front.

Each weighting of the objectives has its own best configuration, and each point of a front is the
best by some weighting (augmented Tchebycheff; Knowles, ParEGO, IEEE Transactions on Evolutionary
Computation 10:50, 2006). So each block draws new weights, and the blocks together cover the front.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import replace

from assay.records import Configuration
from assay.search.model.pareto import extent
from assay.search.model.searcher import Trial

AUGMENTATION = 0.05
"""Share of the weighted sum beside the largest term: between two points with equal largest
terms, the sum decides (Knowles 2006)."""

ObjectiveTrials = Sequence[Sequence[Trial]]
"""The same launches, in the same order, for each objective."""


def random_weights(objectives: int, rng: random.Random) -> tuple[float, ...]:
    """Return random weights that add up to 1, uniformly distributed."""
    cuts = sorted(rng.random() for _ in range(objectives - 1))
    ends = [0.0, *cuts, 1.0]
    return tuple(b - a for a, b in itertools.pairwise(ends))


def scalarised(
    trials_by_objective: ObjectiveTrials, weights: Sequence[float], min_extent: float
) -> list[Trial]:
    """Return the launches with one value each: the weighted combination of the objectives.

    Objectives are measured from the best of the front, in units of its extent. A launch that lacks
    one of the values has none.

    Args:
        trials_by_objective: launches for each objective.
        weights: weight of each objective; they add up to 1.
        min_extent: minimum extent of a front.
    """
    points = list(mean_points(trials_by_objective).values())
    if not points:
        return [replace(trial, value=None) for trial in trials_by_objective[0]]
    scale = extent(points, min_extent)
    # Scaled back to logarithms, the scale that searchers expect.
    usual = sum(weight * size for weight, (_, size) in zip(weights, scale, strict=True))
    found = []
    for launch in zip(*trials_by_objective, strict=True):
        point = point_of(launch)
        value = None if point is None else usual * _tchebycheff(point, weights, scale)
        censored = any(trial.censored for trial in launch)
        found.append(replace(launch[0], value=value, censored=censored))
    return found


def _tchebycheff(
    point: Sequence[float], weights: Sequence[float], scale: Sequence[tuple[float, float]]
) -> float:
    terms = [
        weight * (value - low) / size
        for value, weight, (low, size) in zip(point, weights, scale, strict=True)
    ]
    return max(terms) + AUGMENTATION * math.fsum(terms)


def point_of(launch: Sequence[Trial]) -> tuple[float, ...] | None:
    """Return the values of one launch in each objective; ``None`` if one is missing."""
    values = [trial.value for trial in launch]
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else None


def mean_points(trials_by_objective: ObjectiveTrials) -> dict[Configuration, tuple[float, ...]]:
    """Return the mean values of each configuration in each objective, ignoring blocks."""
    found: dict[Configuration, list[tuple[float, ...]]] = {}
    for launch in zip(*trials_by_objective, strict=True):
        point = point_of(launch)
        if point is not None:
            found.setdefault(launch[0].configuration, []).append(point)
    return {
        configuration: tuple(
            math.fsum(values) / len(values) for values in zip(*points, strict=True)
        )
        for configuration, points in found.items()
    }
