"""Score: how good what was found truly is."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.testing.replay.method import AnytimeMethod, Method, MethodResult
from assay.testing.replay.world import World


@dataclass(frozen=True)
class Row:
    """One search.

    Attributes:
        table, method, seed, launches: which.
        regret: true mean of what is recommended over the best, less 1; where higher is better the
            best over it.
        claim: the ratio to the default that was claimed; ``None`` where none was.
        ratio: the true one of what is recommended.
        covered: whether an interval that was given holds it.
        false_win: another configuration than the default is recommended, and is truly no better.
        run_s: what all launches took, time-outs at their caps.
        timeouts, invalid: launches that were stopped; proposals that were no valid point.
        think_s: median time of a proposal.
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
        """For JSON."""
        return asdict(self)


def score(world: World, method: Method, launches: int, seed: int) -> Row:
    """Let a method search a fresh world, and hold its answer against the truth.

    Raises:
        AssayError: the method cannot run here.
    """
    return _row(world, method.name, method.search(world, launches, seed), launches, seed)


def score_each(
    fresh: Callable[[], World], method: Method, counts: Sequence[int], seed: int
) -> list[Row]:
    """Score a method after several numbers of launches, in one search where it can.

    Args:
        fresh: makes the world.
        method: searches.
        counts: of launches, rising.
        seed: of the method.

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
