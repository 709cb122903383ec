"""Score: true quality of the result of a search."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.testing.replay.method import AnytimeMethod, Method, MethodResult
from assay.testing.replay.world import World


@dataclass(frozen=True)
class Row:
    """Scores of one search.

    Attributes:
        table, method, seed, launches: identification of the search.
        regret: true mean of the recommendation over the best, less 1; the inverse ratio if higher
            is better.
        claim: claimed ratio to the default; ``None`` without a claim.
        ratio: true ratio of the recommendation to the default.
        covered: whether the interval contains the true ratio.
        false_win: whether the recommendation differs from the default but is not better.
        run_s: total time of the launches, time-outs at their caps, in seconds.
        timeouts, invalid: number of stopped launches, and of invalid proposals.
        think_s: median time of a proposal, in seconds.
    """

    table: str
    method: str
    seed: int
    launches: int
    regret: float
    claim: float | None
    ratio: float
    covered: bool | None
    false_win: bool
    run_s: float
    timeouts: int
    invalid: int
    think_s: float

    def document(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return asdict(self)


def score(world: World, method: Method, launches: int, seed: int) -> Row:
    """Run a method in a new world, and compare its result with the truth.

    Raises:
        AssayError: the method cannot run here.
    """
    return _row(world, method.name, method.search(world, launches, seed), launches, seed)


def score_each(
    fresh: Callable[[], World], method: Method, counts: Sequence[int], seed: int
) -> list[Row]:
    """Score a method after several numbers of launches, in one search if possible.

    Args:
        fresh: returns a new world.
        method: search method.
        counts: numbers of launches, ascending.
        seed: seed of the method.

    Raises:
        AssayError: the method cannot run here.
    """
    if not isinstance(method, AnytimeMethod):
        return [score(fresh(), method, count, seed) for count in counts]
    world = fresh()
    answers = zip(counts, method.search_each(world, counts, seed), strict=True)
    return [_row(world, method.name, found, count, seed) for count, found in answers]


def _row(world: World, name: str, found: MethodResult, launches: int, seed: int) -> Row:
    return Row(
        table=world.table.name,
        method=name,
        seed=seed,
        launches=launches,
        regret=world.regret(found.point),
        claim=found.ratio,
        ratio=world.ratio(found.point),
        covered=_covered(world, found),
        false_win=found.point != world.default and not _better(world, found),
        run_s=world.spent,
        timeouts=world.timeouts,
        invalid=found.invalid,
        think_s=statistics.median(found.think_s) if found.think_s else 0.0,
    )


def _better(world: World, found: MethodResult) -> bool:
    ratio = world.ratio(found.point)
    return ratio > 1.0 if world.higher else ratio < 1.0


def _covered(world: World, found: MethodResult) -> bool | None:
    if found.interval is None:
        return None
    low, high = found.interval
    return low <= world.ratio(found.point) <= high
