"""Sample means: estimates of each configuration from its own launches, without a model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.records import DEFAULT, Configuration
from assay.search.model.searcher import (
    UNKNOWN_BELIEF,
    Belief,
    Contrast,
    Estimate,
    Trial,
    default_deviation,
)
from assay.search.space.search_space import SearchSpace
from assay.stats.elimination import arm_effects

MIN_CONFIGURATIONS = 4
"""Minimum number of configurations to estimate the share of a difference that is chance."""


@dataclass(frozen=True)
class MeanEffect:
    """Mean effect of a configuration against the default.

    Attributes:
        configuration: any except the default.
        score: mean log ratio to the default, with block effects removed; NaN without a value.
        launches: number of values.
    """

    configuration: Configuration
    score: float
    launches: int


def mean_effects(trials: Sequence[Trial]) -> list[MeanEffect]:
    """Return the mean effect of each configuration, in the order of first launches."""
    import numpy as np

    columns = {DEFAULT: 0}
    rows: dict[int, int] = {}
    for trial in trials:
        columns.setdefault(trial.configuration, len(columns))
        rows.setdefault(trial.block, len(rows))
    matrix = np.full((len(rows), len(columns)), math.nan)
    for trial in trials:
        if trial.value is not None:
            matrix[rows[trial.block], columns[trial.configuration]] = trial.value
    if not rows:
        return []
    found = arm_effects(matrix)
    zero = 0.0 if math.isnan(found[0]) else found[0]
    counts = (~np.isnan(matrix)).sum(axis=0)
    return [
        MeanEffect(configuration, found[k] - zero, int(counts[k]))
        for configuration, k in columns.items()
        if configuration != DEFAULT
    ]


class SampleMeans:
    """The methods of a searcher that need no model."""

    def verify(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """See ``Searcher.verify``: the best sample means."""
        able = [s for s in mean_effects(trials) if s.launches]
        ranked = sorted(able, key=lambda s: (s.score, str(s.configuration)))
        return [s.configuration for s in ranked[:count]]

    def core(self, space: SearchSpace, trials: Sequence[Trial]) -> list[Configuration]:
        """See ``Searcher.core``: settings are unknown."""
        return []

    def belief(self, space: SearchSpace, trials: Sequence[Trial]) -> Belief:
        """See ``Searcher.belief``: settings are unknown."""
        return UNKNOWN_BELIEF

    def contrasts(
        self, space: SearchSpace, trials: Sequence[Trial], wanted: Sequence[Contrast]
    ) -> list[Estimate]:
        """See ``Searcher.contrasts``: sample means of launched configurations."""
        known = {s.configuration: (s.score, s.launches) for s in mean_effects(trials) if s.launches}
        known[DEFAULT] = (0.0, sum(t.configuration == DEFAULT for t in trials))
        deviation = default_deviation(trials)
        return [_estimate(contrast, known, deviation) for contrast in wanted]

    def remaining_gain(
        self, space: SearchSpace, trials: Sequence[Trial], confidence: float, seed: int
    ) -> float:
        """See ``Searcher.remaining_gain``: unknown for configurations that were not launched."""
        return math.inf


def _estimate(
    contrast: Contrast, known: Mapping[Configuration, tuple[float, int]], deviation: float
) -> Estimate:
    if not contrast.keys() <= known.keys():
        return Estimate(0.0, math.inf)
    kept = _shrinkage(known, deviation)
    mean = kept * math.fsum(weight * known[c][0] for c, weight in contrast.items())
    parts = [weight**2 / max(1, known[c][1]) for c, weight in contrast.items()]
    whole = deviation * math.sqrt(math.fsum(parts)) if parts else 0.0
    return Estimate(mean, whole)  # the shrinkage is itself an estimate


def _shrinkage(known: Mapping[Configuration, tuple[float, int]], deviation: float) -> float:
    """Return the shrinkage of differences from the default (James and Stein, 1961).

    Of many configurations without an effect one looks good by chance. Without an estimate of the
    noise, or with few configurations, there is no shrinkage (1).
    """
    others = [(score, launches) for c, (score, launches) in known.items() if c != DEFAULT]
    if len(others) < MIN_CONFIGURATIONS or not math.isfinite(deviation):
        return 1.0
    default = known[DEFAULT][1]
    luck = [deviation**2 * (1.0 / max(1, n) + 1.0 / max(1, default)) for _, n in others]
    observed = math.fsum(score**2 for score, _ in others)
    chance = math.fsum(luck) * (len(others) - 2) / len(others)
    return max(1e-6, 1.0 - chance / observed) if observed > 0.0 else 1.0
