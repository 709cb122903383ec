"""Random search: points in random order, the default first; the best observation wins."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from assay.testing.replay.method import MethodResult
from assay.testing.replay.observations import ObservedMinimum
from assay.testing.replay.world import World


class RandomSearch:
    """Random search that launches each point once at most."""

    name = "random"

    def search(self, world: World, launches: int, seed: int) -> MethodResult:
        """See ``Method.search``."""
        return next(self.search_each(world, (launches,), seed))

    def search_each(self, world: World, counts: Sequence[int], seed: int) -> Iterator[MethodResult]:
        """See ``AnytimeMethod.search_each``."""
        points = list(range(len(world.table.points)))
        random.Random(f"{seed}/random").shuffle(points)
        points.remove(world.default)
        order = iter([world.default, *points])
        seen = ObservedMinimum(world)
        for count in counts:
            while world.launches < count and (point := next(order, None)) is not None:
                seen.launch(point)
            yield seen.found()
