"""The race behind ``assay tune`` with a warm start from an earlier study of a recorded space."""

from __future__ import annotations

import enum
import math
import random
import statistics
from dataclasses import replace

from assay.records import EarlierStudy
from assay.search.model.gp import GpSearcher
from assay.search.model.warm_start import MAX_CONFIGURATIONS, limit_results, transferable_results
from assay.testing.replay.method import MethodResult
from assay.testing.replay.race_search import RaceSearch, ReplayedStudy, TableSpace
from assay.testing.replay.table import Table
from assay.testing.replay.world import World

SEED_OF_EARLIER = 10_000
"""Offset of the seed of the earlier study: another default, other noise."""


class EarlierStudyKind(enum.StrEnum):
    """Relation of an earlier study to the space."""

    TRUE = "true"
    ALTERED = "altered"
    REVERSED = "reversed"


class WarmSearch:
    """A search with a warm start.

    Args:
        name: name in reports.
        launches: number of launches of the earlier study.
        telling: relation of the earlier study's table to the world's.
    """

    def __init__(
        self, name: str, launches: int = 50, telling: EarlierStudyKind = EarlierStudyKind.TRUE
    ) -> None:
        self.name = name
        self._launches = launches
        self._telling = telling

    def search(self, world: World, launches: int, seed: int) -> MethodResult:
        """See ``Method.search``."""
        earlier = self._earlier(world, seed)
        return RaceSearch(self.name, GpSearcher(earlier=(earlier,))).search(world, launches, seed)

    def _earlier(self, world: World, seed: int) -> EarlierStudy:
        table = world.table
        if self._telling is EarlierStudyKind.REVERSED:
            table = reversed_table(table)
        elif self._telling is EarlierStudyKind.ALTERED:
            table = altered_table(table, seed)
        before = world.like(table, seed + SEED_OF_EARLIER)
        study = ReplayedStudy.of(before, GpSearcher(), self._launches, seed + SEED_OF_EARLIER)
        space = TableSpace(world.table, world.default)
        known, left_out = transferable_results(study.spec, study.completed_race.samples, space)
        return EarlierStudy(
            study="earlier",
            command="recorded",
            launches=len(study.completed_race.samples),
            known_configurations=limit_results(known, MAX_CONFIGURATIONS),
            unused_configurations=left_out,
        )


def reversed_table(table: Table) -> Table:
    """Return a table with the order of the means reversed, on the same scale."""
    means = [mean for mean in table.means if mean is not None]
    turn = min(means) * max(means)
    return replace(
        table,
        means=tuple(None if mean is None else turn / mean for mean in table.means),
        repeats=tuple(tuple(turn / value for value in values) for values in table.repeats),
    )


def altered_table(table: Table, seed: int) -> Table:
    """Return a table with an additional random effect of each value of each parameter.

    It simulates another input: the logarithms have a correlation of about 0.7 with the original
    ones.
    """
    rng = random.Random(f"{seed}/altered")
    logs = [math.log(mean) for mean in table.means if mean is not None]
    sd = statistics.pstdev(logs) / math.sqrt(max(1, len(table.columns)))
    of_values = [
        {value: rng.gauss(0.0, sd) for value in table.domain(column)}
        for column in range(len(table.columns))
    ]
    factors = [
        math.exp(math.fsum(own[v] for own, v in zip(of_values, point, strict=True)))
        for point in table.points
    ]
    return replace(
        table,
        means=tuple(
            None if mean is None else mean * factor
            for mean, factor in zip(table.means, factors, strict=True)
        ),
        repeats=tuple(
            tuple(value * factor for value in values)
            for values, factor in zip(table.repeats, factors, strict=False)  # means only
        ),
    )
