"""Rounds: each runs every program in every way, in a new random order."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping

from .bench import Bench
from .measuring import Cell, Pass, measure
from .results import Row
from .ways import Place, Way

Ways = Mapping[Cell, tuple[Way, ...]]


def in_rounds(ways: Ways, place: Place, bench: Bench) -> Iterator[tuple[Row, ...]]:
    """Yield the figures of all rounds so far, after each round.

    Raises:
        SystemExit: as `measure`.
    """
    found: dict[tuple[Cell, Way], list[Pass]] = {
        (cell, way): [] for cell, several in ways.items() for way in several
    }
    rng = random.Random(0)
    for number in range(bench.rounds):
        order = [(cell, way) for cell, way in found for _ in range(max(cell.repeats, way.repeats))]
        rng.shuffle(order)
        several: dict[tuple[Cell, Way], list[Pass]] = {key: [] for key in found}
        for cell, way in order:
            one = measure(cell, way, place, bench.seconds)
            several[cell, way].append(one)
            _print(number, cell, way, one)
        for key, passes in several.items():
            found[key].append(_median(passes))
        yield tuple(_row(cell, way, place, passes) for (cell, way), passes in found.items())


def _median(passes: list[Pass]) -> Pass:
    """Return the median run of a round; the slower one of two."""
    return sorted(passes, key=lambda one: one.wall_s)[len(passes) // 2]


def _row(cell: Cell, way: Way, place: Place, passes: list[Pass]) -> Row:
    return Row(
        cell=cell.name,
        of_dram=cell.of_dram,
        dram_bytes=cell.dram_bytes(place),
        way=way.name,
        passes=tuple(passes),
    )


def _print(number: int, cell: Cell, way: Way, one: Pass) -> None:
    size = f"{cell.of_dram:g} times memory"
    print(
        f"round {number + 1}: {cell.name}, {size}, {way.name}: {one.rate / 1e9:.3f} GB/s",
        file=sys.stderr,
        flush=True,
    )
