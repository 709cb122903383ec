"""Targets and figures, row by row."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from assay.tier.efficiency import POLYNOMIALS
from assay.tier.efficiency import Cell as EfficiencyCell
from assay.units import show_count

from .cells import (
    CYCLE,
    EFFICIENT,
    ENOUGH,
    HELD,
    ON_DISKS,
    TARGETS,
    TILED,
    TILED_OF_DRAM,
    TWICE,
    Target,
)
from .efficiency import thread_counts
from .measuring import Pass
from .results import Efficiency, OnDisks, Rates, Results
from .ways import ONE_DISK, TIER, TWO_DISKS

Row = tuple[str, str, str]
"""Target, figure, and verdict."""
NOT_ASKED = "for comparison"


def rows_of(results: Results) -> list[Row]:
    """Return the rows of all measured parts."""
    rows: list[Row] = []
    if results.rates is not None:
        rows += _of_rates(results.rates)
    if results.disks is not None:
        rows += _of_disks(results.disks)
    if results.efficiency is not None:
        rows += _of_efficiency(results.efficiency)
    return rows


def ratios(ours: Sequence[Pass], theirs: Sequence[Pass]) -> list[float]:
    """Rates over rates, of each round."""
    return [mine.rate / other.rate for mine, other in zip(ours, theirs, strict=True)]


def _of_rates(part: Rates) -> Iterator[Row]:
    for target in TARGETS:
        seen = _seen(target, part)
        if seen is not None:
            asked = f"{target.cell.name}: {target.at_least:g} times {target.beside}"
            yield asked, f"{seen:.2f} times", _verdict(seen, target.at_least)
    shares = [one.held for one in part.of(CYCLE, TIER) if one.held is not None]
    if shares:
        held = statistics.median(shares)
        asked = f"{CYCLE.name}: {_percent(HELD)} served from memory"
        yield asked, _percent(held), _verdict(held, HELD)


def _seen(target: Target, part: Rates) -> float | None:
    tier = part.of(target.cell, TIER)
    if not tier:
        return None
    others = [found for way in target.ways if (found := part.of(target.cell, way))]
    if not others:
        return None
    best = max(others, key=lambda passes: statistics.median(one.rate for one in passes))
    return statistics.median(ratios(tier, best))


def _of_disks(part: OnDisks) -> Iterator[Row]:
    for cell in ON_DISKS:
        one, two = (part.of(cell, way) for way in (ONE_DISK, TWO_DISKS))
        if one and two:
            seen = statistics.median(ratios(two, one))
            asked = f"{cell.name}: {TWICE:g} times one disk with two"
            yield asked, f"{seen:.2f} times", _verdict(seen, TWICE)


def _of_efficiency(part: Efficiency) -> Iterator[Row]:
    """The target is for one thread, besides that of the pager."""
    for count in thread_counts(part.cells):
        cells = [one for one in part.cells if one.threads == count]
        with_threads = show_count(count, "thread")
        for work in POLYNOMIALS:
            asked = (
                f"{work.name}, {with_threads}: {_percent(EFFICIENT)} of the speed in memory "
                f"from {ENOUGH:g} I\\* on"
            )
            yield _least(asked, [one for one in cells if _does_enough(one, work.name)], count)
        for name in TILED:
            asked = (
                f"{name}, {with_threads}: {_percent(EFFICIENT)} of the speed in memory "
                f"with data of {TILED_OF_DRAM:g} times DRAM"
            )
            found = [c for c in cells if (c.work, c.of_dram) == (name, TILED_OF_DRAM)]
            yield _least(asked, found, count)


def _does_enough(cell: EfficiencyCell, work: str) -> bool:
    """Return the cells of that work with data larger than DRAM."""
    return cell.work == work and cell.of_balance is not None and cell.of_balance >= ENOUGH


def _least(asked: str, cells: Sequence[EfficiencyCell], threads: int) -> Row:
    if not cells:
        return asked, "not measured", ""
    least = min(one.efficiency for one in cells)
    of = f", the least of {len(cells)} cells" if cells[1:] else ""
    verdict = _verdict(least, EFFICIENT) if threads == 1 else NOT_ASKED
    return asked, f"{_percent(least)}{of}", verdict


def _verdict(seen: float, at_least: float) -> str:
    return "met" if seen >= at_least else "missed"


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"
