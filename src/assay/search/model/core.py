"""Core: the few settings of the best configuration that matter, where few settings matter."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence, Set

from assay.records import DEFAULT, Configuration, Value
from assay.search.model.features import Features
from assay.search.model.searcher import MIN_SPARSITY_PROBABILITY
from assay.search.model.sparse import SparseModels
from assay.search.space.search_space import SearchSpace

MAX_SETTING_SETS = 24
"""Maximum number of setting sets among which the best lean configuration is searched."""
MAX_COMBINATIONS = 64
"""Maximum number of combinations of the values of a set of settings."""
EQUIVALENCE_DEVIATIONS = 1.5
"""A part of a configuration is equivalent unless it is worse by more standard deviations than
this."""
SETTING_PENALTY = 0.02
"""Penalty of each setting of a lean configuration, as a difference of logarithms: most settings
have no effect."""
MAX_LAUNCHES = 3
"""Launches from which a lean configuration is not launched again for being the best."""


def best_core(
    space: SearchSpace,
    features: Features,
    belief: SparseModels,
    failed: Set[Configuration],
    launched: Mapping[Configuration, int],
) -> list[Configuration]:
    """Return the lean configuration with the best expectation, if few settings matter.

    Args:
        space: search space of the study.
        features: encoding of its configurations.
        belief: sparse models of the launches.
        failed: configurations not to launch again.
        launched: number of launches of each configuration.
    """
    if belief.sparse_probability < MIN_SPARSITY_PROBABILITY:
        return []
    launched_values = _launched_values(space, launched)
    leading = belief.leading(MAX_SETTING_SETS)
    among = [c for settings, _ in leading for c in _lean(space, settings, launched_values, failed)]
    best = _best(features, belief, among, launched)
    return [] if best is None else [best]


def _best(
    features: Features,
    belief: SparseModels,
    among: list[Configuration],
    launched: Mapping[Configuration, int],
) -> Configuration | None:
    """Return the lean configuration with the best expectation, or an equivalent part of it.

    A part takes precedence if the whole was launched: of settings that were only launched together
    one may have no effect. ``None`` without an expected gain, or if all have enough launches.
    """
    import numpy as np

    among = list(dict.fromkeys(among))
    if not among:
        return None
    rows = features.rows([*among, DEFAULT])
    weights = np.hstack([np.eye(len(among)), -np.ones((len(among), 1))])
    known = np.full(len(rows), -1, dtype=np.intp)
    mean, deviation = belief.contrasts(rows, known, weights)
    price = np.array([SETTING_PENALTY * len(c) for c in among])
    at = int(np.argmin(mean + price))
    best = among[at]
    if mean[at] >= 0.0:
        return None
    if best in launched:
        low = mean - EQUIVALENCE_DEVIATIONS * deviation
        parts = [
            k
            for k, c in enumerate(among)
            if c not in launched and c.items() < best.items() and low[k] <= mean[at]
        ]
        if parts:
            return among[min(parts, key=lambda k: float(low[k]))]
    return best if launched.get(best, 0) < MAX_LAUNCHES else None


def _lean(
    space: SearchSpace,
    settings: tuple[int, ...],
    launched_values: Mapping[str, Sequence[Value | None]],
    failed: Set[Configuration],
) -> list[Configuration]:
    """Return the valid configurations that set exactly these settings, to launched values."""
    names = [list(space.parameters)[k] for k in settings]
    found: dict[Configuration, None] = {}
    products = itertools.product(*(launched_values[name] for name in names))
    for combination in itertools.islice(products, MAX_COMBINATIONS):
        pairs = zip(names, combination, strict=True)
        one = Configuration({name: value for name, value in pairs if value is not None})
        one = space.canonical(one)
        if one != DEFAULT and one not in failed and space.valid(one):
            found.setdefault(one)
    return list(found)


def _launched_values(
    space: SearchSpace, launched: Iterable[Configuration]
) -> dict[str, tuple[Value | None, ...]]:
    """Return the launched values of each setting, its default first."""
    known = list(launched)
    return {
        name: tuple(dict.fromkeys([None, *(c[name] for c in known if name in c)]))
        for name in space.parameters
    }
