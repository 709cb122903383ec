"""Points of the expected Pareto front that are worth confirming."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.records import DEFAULT, Configuration
from assay.search.model.negligible import is_negligible
from assay.search.model.pareto import spread_subset
from assay.search.model.sample_means import SampleMeans
from assay.search.model.searcher import Contrast, Estimate, Searcher, Trial
from assay.search.space.search_space import SearchSpace

NEGLIGIBLE_DEVIATIONS = 1.0
"""A setting stays only if its expected loss exceeds this number of standard deviations: no
reduction by launches follows, and most settings have no effect on most programs."""


@dataclass(frozen=True)
class ObjectiveModels:
    """Models of the search, one for each objective.

    Attributes:
        space: search space of the study.
        searchers: one for each objective.
        trials: the launches, for each objective.
    """

    space: SearchSpace
    searchers: Sequence[Searcher | SampleMeans]
    trials: Sequence[Sequence[Trial]]

    def contrasts(self, wanted: Sequence[Contrast]) -> list[tuple[Estimate, ...]]:
        """Return the estimates of contrasts, one estimate for each objective."""
        pairs = zip(self.searchers, self.trials, strict=True)
        by_objective = [s.contrasts(self.space, trials, wanted) for s, trials in pairs]
        return list(zip(*by_objective, strict=True))


def best_points(
    known: ObjectiveModels, among: Iterable[Configuration], count: int, margin: float
) -> list[Configuration]:
    """Return up to ``count`` points of the expected front, without negligible settings.

    Args:
        known: models of the search.
        among: successful configurations.
        count: maximum number of points.
        margin: ratio differences below it count as none; a configuration without a larger expected
            gain in any objective is left out.
    """
    tolerance = math.log1p(margin)
    ordered = sorted(set(among) - {DEFAULT}, key=lambda c: (len(c), str(c)))
    found = known.contrasts([{c: 1.0, DEFAULT: -1.0} for c in ordered])
    able = [
        (c, tuple(e.mean for e in estimates))
        for c, estimates in zip(ordered, found, strict=True)
        if all(math.isfinite(e.deviation) for e in estimates)
        and min(e.mean for e in estimates) < -tolerance
    ]
    indices = spread_subset([point for _, point in able], count, tolerance)
    lean = (without_negligible(known, able[at][0], tolerance) for at in indices)
    return [c for c in dict.fromkeys(lean) if c]


def without_negligible(
    known: ObjectiveModels, configuration: Configuration, tolerance: float
) -> Configuration:
    """Return a configuration without the settings that are negligible in every objective."""
    (found,) = known.contrasts([{configuration: 1.0, DEFAULT: -1.0}])
    gain = min(estimate.mean for estimate in found)  # expected gain in each objective
    launches = min(map(len, known.trials))
    lean = configuration
    while smaller := _smaller(known.space, lean):
        losses = known.contrasts([{c: 1.0, configuration: -1.0} for c in smaller])
        idle = [
            i
            for i, loss in enumerate(losses)
            if all(is_negligible(e, gain, tolerance, NEGLIGIBLE_DEVIATIONS, launches) for e in loss)
        ]
        if not idle:
            break
        lean = smaller[min(idle, key=lambda i: max(e.mean for e in losses[i]))]
    return lean


def _smaller(space: SearchSpace, configuration: Configuration) -> list[Configuration]:
    """Return the valid configurations with one setting less."""
    found = [space.canonical(configuration.without(name)) for name in configuration]
    return [c for c in dict.fromkeys(found) if c and space.valid(c)]
