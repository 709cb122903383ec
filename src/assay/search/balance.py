"""Balance: configurations that together use every value of every parameter about equally often."""

from __future__ import annotations

import random
from collections.abc import Sequence

from assay.records import Configuration
from assay.search.features import Features
from assay.search.space import SearchSpace

DRAWN = 100
"""Random configurations that the chosen ones are among."""


def balanced(
    space: SearchSpace,
    features: Features,
    known: Sequence[Configuration],
    count: int,
    seed: int,
) -> list[Configuration]:
    """Up to ``count`` configurations of values that few of the others have.

    Args:
        space: to choose from.
        features: of the space.
        known: what was launched.
        count: how many.
        seed: of the draws.
    """
    import numpy as np

    rng = random.Random(seed)
    drawn = dict.fromkeys(c for _ in range(DRAWN) if (c := space.draw(rng)) is not None)
    pool = [c for c in drawn if c not in set(known)]
    if not pool:
        return []
    levels = features.levels([*sorted(known, key=str), *pool])
    used, free = levels[: len(known)], levels[len(known) :]
    chosen: list[int] = []
    while len(chosen) < min(count, len(pool)):
        taken = np.vstack([used, free[chosen]])
        shares = [
            1.0 / (1.0 + np.bincount(taken[:, k], minlength=int(levels[:, k].max()) + 1))
            for k in range(levels.shape[1])
        ]
        rare = sum((share[free[:, k]] for k, share in enumerate(shares)), np.zeros(len(pool)))
        rare[chosen] = -1.0
        chosen.append(int(np.argmax(rare)))
    return [pool[at] for at in chosen]
