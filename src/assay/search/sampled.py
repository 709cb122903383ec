"""Sampled: configurations that are best by a model of few settings that is drawn by chance.

Each comes from a model that is drawn with its probability, and from effects that are drawn from
that model (posterior sampling; Thompson, 1933). What the model says nothing of is random, so that
settings that the best so far happens to have are told apart from those that make it good.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from assay.records import Configuration, Range, Value
from assay.search.features import Features
from assay.search.space import SearchSpace
from assay.search.sparse import SparseModels

if TYPE_CHECKING:
    import numpy as np

MAX_COMBINATIONS = 64
"""Of the values of the settings of a model."""
PLACES = 7
"""Values of a setting that may take any number in a range."""


def sampled(
    space: SearchSpace,
    features: Features,
    belief: SparseModels,
    taken: Set[Configuration],
    count: int,
    seed: int,
) -> list[Configuration]:
    """Up to ``count`` configurations; each is missing with the probability that many matter.

    Args:
        space: of the study.
        features: places its configurations.
        belief: the models.
        taken: configurations that are not proposed.
        count: size of the batch.
        seed: of all draws.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    found: list[Configuration] = []
    for others in space.spread(count, random.Random(seed)):
        settings = belief.sample_settings(rng)
        if settings:
            names = [list(space.parameters)[k] for k in settings]
            best = _best(_combinations(space, names), features, belief, settings, rng)
            whole = space.canonical(Configuration({**others.without(*names), **best}))
            if whole not in taken and whole not in found and space.valid(whole):
                found.append(whole)
    return found


def _best(
    combinations: Sequence[Configuration],
    features: Features,
    belief: SparseModels,
    settings: tuple[int, ...],
    rng: np.random.Generator,
) -> Configuration:
    """The values of some settings that are best by one draw of their effects."""
    effects = belief.sample_effects(settings, features.rows(combinations), rng)
    return combinations[int(effects.argmin())]


def _combinations(space: SearchSpace, names: Sequence[str]) -> list[Configuration]:
    products = itertools.product(*(_values(space, name) for name in names))
    return [
        Configuration({n: v for n, v in zip(names, values, strict=True) if v is not None})
        for values in itertools.islice(products, MAX_COMBINATIONS)
    ]


def _values(space: SearchSpace, name: str) -> tuple[Value | None, ...]:
    options = space.options(name)
    if options is not None:
        return options
    domain = space.parameters[name].domain
    assert isinstance(domain, Range)
    return (None, *(domain.at(k / (PLACES - 1)) for k in range(PLACES)))
