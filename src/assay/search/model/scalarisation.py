"""Scalar: several objectives as one, so that a searcher of one can look for a front.

Each weighting of the objectives has its own best configuration, and each point of a front is the
best by some weighting (augmented Tchebycheff; Knowles, ParEGO, IEEE Transactions on Evolutionary
Computation 10:50, 2006). So a block draws weights anew, and the front is come upon piece by piece.
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
"""Share of the weighted sum beside the largest term: of two that are equal in that, the better in
the others is better (Knowles 2006)."""

ObjectiveTrials = Sequence[Sequence[Trial]]
"""The same launches, in the same order, once for each objective."""


def random_weights(objectives: int, rng: random.Random) -> tuple[float, ...]:
    """Random shares that add up to 1, all alike likely."""
    cuts = sorted(rng.random() for _ in range(objectives - 1))
    ends = [0.0, *cuts, 1.0]
    return tuple(b - a for a, b in itertools.pairwise(ends))


def scalarised(facets: ObjectiveTrials, shares: Sequence[float], least: float) -> list[Trial]:
    """The launches with one value each: the lower the better by these shares.

    Objectives are measured from the best of the front, in units of its extent. What one of them
    has no value of has none.

    Args:
        facets: of each objective.
        shares: one for each objective; they add up to 1.
        least: extent of a front that counts as none.
    """
    points = list(mean_points(facets).values())
    if not points:
        return [replace(trial, value=None) for trial in facets[0]]
    scale = extent(points, least)
    # In the size of logarithms again, of which searchers know how large they are.
    usual = sum(share * size for share, (_, size) in zip(shares, scale, strict=True))
    found = []
    for launch in zip(*facets, strict=True):
        point = point_of(launch)
        value = None if point is None else usual * _tchebycheff(point, shares, scale)
        censored = any(trial.censored for trial in launch)
        found.append(replace(launch[0], value=value, censored=censored))
    return found


def _tchebycheff(
    point: Sequence[float], shares: Sequence[float], scale: Sequence[tuple[float, float]]
) -> float:
    terms = [
        share * (value - low) / size
        for value, share, (low, size) in zip(point, shares, scale, strict=True)
    ]
    return max(terms) + AUGMENTATION * math.fsum(terms)


def point_of(launch: Sequence[Trial]) -> tuple[float, ...] | None:
    """What one launch gave in each objective; ``None`` where it lacks one."""
    values = [trial.value for trial in launch]
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else None


def mean_points(facets: ObjectiveTrials) -> dict[Configuration, tuple[float, ...]]:
    """The mean of what each configuration gave in each objective, blocks apart or not."""
    found: dict[Configuration, list[tuple[float, ...]]] = {}
    for launch in zip(*facets, strict=True):
        point = point_of(launch)
        if point is not None:
            found.setdefault(launch[0].configuration, []).append(point)
    return {
        configuration: tuple(
            math.fsum(values) / len(values) for values in zip(*points, strict=True)
        )
        for configuration, points in found.items()
    }
