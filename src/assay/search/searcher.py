"""Searcher: proposes configurations from what was observed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.records import Configuration
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


class Searcher(Protocol):
    """Proposes what to try next.

    A searcher keeps no state between calls: what it proposes follows from its arguments alone, so
    that a resumed study goes on as an unbroken one would have.
    """

    name: str

    def propose(
        self, space: SearchSpace, seen: Sequence[Observation], count: int, seed: int
    ) -> list[Configuration]:
        """Up to ``count`` valid configurations that are not among ``seen``.

        Fewer only where the space has no more.
        """
        ...


class RandomSearcher:
    """Uniform over the values of each parameter: the baseline of every comparison."""

    name = "random"

    def propose(
        self, space: SearchSpace, seen: Sequence[Observation], count: int, seed: int
    ) -> list[Configuration]:
        """See ``Searcher.propose``."""
        rng = random.Random(seed)
        return fresh(space, [], {o.configuration for o in seen}, count, rng)


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
    taken = set(known)
    chosen: list[Configuration] = []
    for proposal in wanted:
        candidate = space.repair(proposal, rng)
        if candidate in taken:
            candidate = next((c for c in space.neighbours(candidate) if c not in taken), candidate)
        if candidate not in taken and len(chosen) < count:
            taken.add(candidate)
            chosen.append(candidate)
    for _ in range(50 * count):
        if len(chosen) == count:
            break
        candidate = space.draw(rng)
        if candidate not in taken:
            taken.add(candidate)
            chosen.append(candidate)
    return chosen
