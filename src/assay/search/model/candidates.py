"""Candidates: the configurations that a search may propose, as arrays of codes.

A space with few configurations is enumerated once. Of a larger one each block draws random
configurations, and adds launched ones and the neighbours of the best.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from assay.records import DEFAULT, Configuration
from assay.search.model.features import Features
from assay.search.space.search_space import SearchSpace

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

MAX_ENUMERATED = 20_000
"""Maximum size of a space that is enumerated; larger ones are sampled."""
POOL_SAMPLES = 1200
"""Random configurations in the pool of a larger space, besides the neighbours of the best."""
TESTED_DRAWS = 32
"""Random configurations of which all must be valid, for a pool whose validity is tested only when
one is chosen: to plan a launch with a hundred settings takes a millisecond."""


@dataclass(frozen=True)
class Candidates:
    """Configurations as codes.

    Attributes:
        features: encoding of the configurations.
        codes: their codes, configurations x settings.
        is_tested: whether all of them are known to be valid.
    """

    features: Features
    codes: Array
    is_tested: bool = True

    @functools.cached_property
    def rows(self) -> Array:
        """Encoded columns, configurations x columns."""
        return self.features.coding.rows(self.codes)

    @functools.cached_property
    def levels(self) -> Places:
        """Level numbers, configurations x settings."""
        found = self.features.coding.levels(self.codes)
        return _by_appearance(found) if self.is_tested else found

    @functools.cached_property
    def keys(self) -> list[bytes]:
        """Hashable code of each configuration."""
        return keys_of(self.codes)

    def configuration(self, at: int) -> Configuration:
        """Return one of the configurations."""
        return self.features.coding.configuration(self.codes[at])

    def configurations(self) -> list[Configuration]:
        """Return all configurations."""
        return [self.configuration(at) for at in range(len(self.codes))]

    def places(self, configurations: Iterable[Configuration]) -> Places:
        """Return the number of each configuration; -1 for those that are no candidates."""
        import numpy as np

        numbers = {key: at for at, key in enumerate(self.keys)}
        keys = keys_of(self.features.codes(list(configurations)))
        return np.array([numbers.get(key, -1) for key in keys], dtype=np.intp)

    def selected(self, among: Array) -> Candidates:
        """Return a part of the candidates."""
        return Candidates(self.features, self.codes[among], self.is_tested)


def _by_appearance(levels: Places) -> Places:
    """Return the levels of each setting, numbered by their first candidate.

    A probe draws a level by its number: values that no candidate has must not change the draw.
    """
    import numpy as np

    found = np.empty_like(levels)
    for at in range(levels.shape[1]):
        _, first, places = np.unique(levels[:, at], return_index=True, return_inverse=True)
        found[:, at] = np.argsort(np.argsort(first))[places]
    return found


def keys_of(codes: Array) -> list[bytes]:
    """Return a hashable form of each row of codes."""
    return [row.tobytes() for row in codes]


class CandidateSource:
    """Candidates of the blocks of a search; each block's follow from its seed."""

    def __init__(self) -> None:
        # A cache: the configurations of a space never change.
        self._every: WeakKeyDictionary[SearchSpace, Candidates | None] = WeakKeyDictionary()

    def enumerated(self, space: SearchSpace, features: Features) -> Candidates | None:
        """Return all configurations but the default; ``None`` if the space has too many."""
        if space not in self._every:
            every = space.enumerate(MAX_ENUMERATED)
            self._every[space] = None if every is None else _of(features, every)
        return self._every[space]

    def sampled(
        self,
        space: SearchSpace,
        features: Features,
        known: Sequence[Configuration],
        centres: Sequence[Configuration],
        seed: int,
    ) -> Candidates:
        """Return random and known configurations, and the neighbours of the best.

        Args:
            space: search space of the study.
            features: encoding of its configurations.
            known: launched configurations, and those of earlier studies.
            centres: the best configurations.
            seed: seed of the draws.
        """
        import numpy as np

        drawn = _drawn(space, features, seed)
        if drawn is None:
            return self._drawn_singly(space, features, known, centres, seed)
        near = [features.coding.neighbours(row) for row in features.codes(centres)]
        return _distinct(
            features, np.vstack([features.codes(known), drawn, *near]), is_tested=False
        )

    def _drawn_singly(
        self,
        space: SearchSpace,
        features: Features,
        known: Sequence[Configuration],
        centres: Sequence[Configuration],
        seed: int,
    ) -> Candidates:
        """Return the candidates of a space with conditions, names or many invalid combinations."""
        rng = random.Random(seed)
        pool = dict.fromkeys(known)
        for _ in range(POOL_SAMPLES):
            drawn = space.draw(rng)
            if drawn is not None:
                pool.setdefault(drawn)
        for centre in centres:
            for near in space.neighbours(centre):
                pool.setdefault(near)
        return _of(features, list(pool))


def _of(features: Features, configurations: Sequence[Configuration]) -> Candidates:
    return _distinct(features, features.coding.codes(configurations), is_tested=True)


def _drawn(space: SearchSpace, features: Features, seed: int) -> Array | None:
    """Return the codes of random configurations; ``None`` if they have to be drawn singly."""
    import numpy as np

    if not space.is_product:
        return None
    coding = features.coding
    codes = coding.drawn(POOL_SAMPLES, np.random.default_rng(seed))
    tested = (coding.configuration(row) for row in codes[:TESTED_DRAWS])
    return codes if all(map(space.valid, tested)) else None


def _distinct(features: Features, codes: Array, is_tested: bool) -> Candidates:
    """Return distinct candidates without the default."""
    import numpy as np

    default = keys_of(features.codes([DEFAULT]))[0]
    firsts: dict[bytes, int] = {}
    for at, key in enumerate(keys_of(codes)):
        firsts.setdefault(key, at)
    firsts.pop(default, None)
    kept = np.array(list(firsts.values()), dtype=np.intp)
    return Candidates(features, codes[kept], is_tested)
