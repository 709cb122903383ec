"""A searcher alone, without a race, to evaluate its proposals."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence

from assay.records import DEFAULT, Configuration
from assay.search.model.searcher import Searcher, Trial, estimates, successful_configurations
from assay.testing.replay.method import MethodResult
from assay.testing.replay.race_search import TableSpace
from assay.testing.replay.world import World

BATCH = 4


class SearcherSearch:
    """Launches the default and blocks of proposals; the best posterior mean wins.

    Args:
        name: name in reports.
        searcher: searcher to evaluate.
        batch: number of launches in a block.
    """

    def __init__(self, name: str, searcher: Searcher, batch: int = BATCH) -> None:
        self.name = name
        self._searcher = searcher
        self._batch = batch

    def search(self, world: World, launches: int, seed: int) -> MethodResult:
        """See ``Method.search``."""
        return next(self.search_each(world, (launches,), seed))

    def search_each(self, world: World, counts: Sequence[int], seed: int) -> Iterator[MethodResult]:
        """See ``AnytimeMethod.search_each``."""
        space = TableSpace(world.table, world.default)
        trials: list[Trial] = []
        waiting = [DEFAULT]
        block, think_s = 0, []
        for count in counts:
            while world.launches < count:
                if not waiting:
                    block += 1
                    began = time.perf_counter()
                    waiting = self._proposals(space, trials, f"{seed}/{block}")
                    took_s = time.perf_counter() - began
                    think_s += [took_s / len(waiting)] * len(waiting)
                trials.append(_launched(world, space, waiting.pop(0), block))
            yield MethodResult(self._best(space, trials, world), None, think_s=tuple(think_s))

    def _proposals(
        self, space: TableSpace, trials: Sequence[Trial], place: str
    ) -> list[Configuration]:
        seed = random.Random(place).getrandbits(31)
        found = self._searcher.propose(space, trials, self._batch, seed)
        return found or self._searcher.verify(space, trials, self._batch, seed) or [DEFAULT]

    def _best(self, space: TableSpace, trials: Sequence[Trial], world: World) -> int:
        able = sorted(successful_configurations(trials), key=lambda c: (len(c), str(c)))
        found = estimates(self._searcher, space, trials, able)
        known = [(e.mean, i) for i, e in enumerate(found) if math.isfinite(e.deviation)]
        return space.point(able[min(known)[1]]) if known else world.default


def _launched(world: World, space: TableSpace, configuration: Configuration, block: int) -> Trial:
    value = world.launch(space.point(configuration)).value
    sign = -1.0 if world.higher else 1.0
    return Trial(configuration, block, None if value is None else sign * math.log(value))
