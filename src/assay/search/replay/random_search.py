"""Random search: points in random order, the default first; the best seen wins."""

from __future__ import annotations

import random

from assay.search.replay.method import Found
from assay.search.replay.seen import Seen
from assay.search.replay.world import World


class RandomSearch:
    """Each point once at most."""

    name = "random"

    def search(self, world: World, launches: int, seed: int) -> Found:
        """See ``Method.search``."""
        points = list(range(len(world.table.points)))
        random.Random(f"{seed}/random").shuffle(points)
        points.remove(world.default)
        seen = Seen(world)
        for point in [world.default, *points][:launches]:
            seen.launch(point)
        return seen.found()
