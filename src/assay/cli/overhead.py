"""The costs of observing, in words for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records.observation import USUAL
from assay.records.overhead import Cost, ObservedCost, Overhead
from assay.search.floor import day
from assay.units import significant

HEADS = ("observation", "program", "bare", "wall", "user", "sys", "spread")


def overhead_lines(found: Overhead) -> Iterator[str]:
    """Yield a table of all figures, and the observations without figures."""
    pairs = min(cost.pairs for cost in found.costs)
    yield (
        f"Cost of observing on this machine: share of the program's wall time, median of {pairs} "
        "pairs with and without, and its 95 % interval."
    )
    yield ""
    rows = [HEADS, *(_row(cost) for cost in found.costs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
    for observation, reason in found.absent.items():
        yield f"  not measured: {observation}: {reason}"


def summary_lines(found: Overhead) -> Iterator[str]:
    """Yield a line for each observation: its largest cost in wall time, and for which program."""
    yield f"measured {day(found.at_s)} by assay {found.engine} (`assay study calibrate --overhead`)"
    by_observation: dict[str, list[ObservedCost]] = {}
    for cost in found.costs:
        by_observation.setdefault(cost.observation, []).append(cost)
    width = max(map(len, by_observation))
    for observation, costs in by_observation.items():
        largest = max(costs, key=lambda cost: cost.wall.share)
        mark = _mark(observation) if any(cost.is_dear for cost in costs) else ""
        yield f"{observation:{width}}  {_words(largest.wall)} of {largest.program}{mark}"


def _mark(observation: str) -> str:
    """Return the remark on an observation that is dear."""
    return ", too dear: off in launches that count" if observation in USUAL else ", too dear"


def _row(cost: ObservedCost) -> tuple[str, ...]:
    bare = f"{significant(1e3 * cost.bare_s, 3)} ms"
    shares = (_words(share) for share in (cost.wall, cost.user, cost.sys, cost.spread))
    return (cost.observation, cost.program, bare, *shares)


def _words(cost: Cost | None) -> str:
    """``+0.3 % (-0.1 to +0.7)``; a dash where it was not measured."""
    if cost is None:
        return "-"
    return f"{100 * cost.share:+.1f} % ({100 * cost.low:+.1f} to {100 * cost.high:+.1f})"
