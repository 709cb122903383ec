"""Thompson sampling: configurations that are optimal in randomly drawn sparse models.

Each comes from a model that is drawn with its probability, and from effects that are drawn from
that model (posterior sampling; Thompson, 1933). Settings outside the model get random values, which
separates the settings that cause the gain of the incumbent from those it happens to have.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING

from assay.records import Configuration, Range, Value
from assay.search.model.features import Features
from assay.search.model.sparse import SparseModels
from assay.search.space.search_space import SearchSpace

if TYPE_CHECKING:
    import numpy as np

MAX_COMBINATIONS = 64
"""Maximum number of combinations of the settings of a model; of more, a random subset is used."""
RANGE_POSITIONS = 7
"""Number of values of a setting with a continuous range."""


def sample_configurations(
    space: SearchSpace,
    features: Features,
    belief: SparseModels,
    taken: Set[Configuration],
    count: int,
    seed: int,
) -> list[Configuration]:
    """Return up to ``count`` configurations, one for each drawn model of one or two settings.

    Args:
        space: search space of the study.
        features: encoding of its configurations.
        belief: sparse models of the launches.
        taken: configurations not to propose.
        count: size of the batch.
        seed: seed of all draws.
    """
    import numpy as np

    rng, draws = np.random.default_rng(seed), random.Random(seed)
    found: list[Configuration] = []
    for others in space.balanced_sample(count, draws):
        settings = belief.sample_settings(rng)
        if settings:
            names = [list(space.parameters)[k] for k in settings]
            best = _best(_combinations(space, names, draws), features, belief, settings, rng)
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
    """Return the best values of some settings, by one draw of their effects."""
    effects = belief.sample_effects(settings, features.rows(combinations), rng)
    return combinations[int(effects.argmin())]


def _combinations(
    space: SearchSpace, names: Sequence[str], draws: random.Random
) -> list[Configuration]:
    """Return the combinations of the values of some settings, or a random subset of them."""
    values = [_values(space, name) for name in names]
    if math.prod(map(len, values)) <= MAX_COMBINATIONS:
        some: Iterable[tuple[Value | None, ...]] = itertools.product(*values)
    else:
        some = (tuple(map(draws.choice, values)) for _ in range(MAX_COMBINATIONS))
    return [
        Configuration({n: v for n, v in zip(names, one, strict=True) if v is not None})
        for one in some
    ]


def _values(space: SearchSpace, name: str) -> tuple[Value | None, ...]:
    options = space.options(name)
    if options is not None:
        return options
    domain = space.parameters[name].domain
    assert isinstance(domain, Range)
    return (None, *(domain.at(k / (RANGE_POSITIONS - 1)) for k in range(RANGE_POSITIONS)))
