"""Searcher: proposes configurations from what was observed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.records import DEFAULT, Configuration
from assay.search.space import SearchSpace


@dataclass(frozen=True)
class Observation:
    """What is known of one configuration.

    Attributes:
        configuration: canonical.
        score: log ratio to the default of the same block, averaged; lower is better. Right-censored
            launches enter with their cap, so the score is then a lower bound.
        launches: how many it rests on.
        censored: whether a cap is among them.
        failed: it gave no value at all.
    """

    configuration: Configuration
    score: float
    launches: int
    censored: bool = False
    failed: bool = False


RANDOM_TRIES = 50
"""Random draws for each configuration that is still wanted, before the neighbours of those that are
known are gone through: in a small space nearly every draw is known."""


class Searcher(Protocol):
    """Proposes what to try next.

    A searcher keeps no state between calls: what it proposes follows from its arguments alone, so
    that a resumed study goes on as an unbroken one would have.
    """

    name: str

    def propose(
        self, space: SearchSpace, seen: Sequence[Observation], count: int, seed: int
    ) -> list[Configuration]:
        """Up to ``count`` valid configurations, neither among ``seen`` nor the default.

        Fewer only where no more are found.
        """
        ...


def fresh(
    space: SearchSpace,
    wanted: Sequence[Configuration],
    known: set[Configuration],
    count: int,
    rng: random.Random,
) -> list[Configuration]:
    """Make ``wanted`` valid, new and ``count`` many.

    Duplicates are a decision of the race, which replicates on purpose; a searcher that proposes
    what is known gets the nearest valid point that is not, and random ones fill the rest.
    """
    # The default runs in every block as it is.
    taken = {*known, DEFAULT}
    chosen: list[Configuration] = []
    for candidates in _candidates(space, wanted, taken, count, rng):
        if len(chosen) == count:
            break
        found = next((c for c in candidates if c not in taken), None)
        if found is not None:
            taken.add(found)
            chosen.append(found)
    return chosen


def _candidates(
    space: SearchSpace,
    wanted: Sequence[Configuration],
    taken: set[Configuration],
    count: int,
    rng: random.Random,
) -> Iterator[Iterable[Configuration]]:
    """What may be chosen, one group for each choice: wanted ones, random ones, and what is left."""
    for proposal in wanted:
        candidate = space.repair(proposal, rng)
        yield itertools.chain((candidate,), space.neighbours(candidate))
    for _ in range(RANDOM_TRIES * count):
        drawn = space.draw(rng)
        if drawn is None:
            break
        yield (drawn,)
    for _ in range(count):
        known = sorted(taken, key=str)
        yield (c for origin in known for c in space.neighbours(origin))
