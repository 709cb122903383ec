"""Targets of the tier, and verdicts on the measured figures."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from assay.tier.efficiency import POLYNOMIALS
from assay.tier.efficiency import Cell as EfficiencyCell
from assay.units import show_count

from .cells import (
    CYCLE,
    MIN_DISK_RATIO,
    MIN_EFFICIENCY,
    MIN_FROM_MEMORY,
    MIN_INTENSITY,
    ON_DISKS,
    TARGETS,
    TILED,
    TILED_OF_DRAM,
    Target,
)
from .efficiency import thread_counts
from .measuring import Pass
from .results import Efficiency, OnDisks, Rates, Results
from .ways import ONE_DISK, TIER, TWO_DISKS

Row = tuple[str, str, str, str, str]
"""Measure, limit, figure, verdict, and reason of a miss."""
NO_TARGET = "for comparison"
UNKNOWN = "cause not yet known"


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
    """Return the ratio of two rates in each round."""
    return [mine.rate / other.rate for mine, other in zip(ours, theirs, strict=True)]


def _row(measure: str, limit: str, figure: str, *, met: bool) -> Row:
    return measure, limit, figure, "met" if met else "missed", "" if met else UNKNOWN


def _of_rates(part: Rates) -> Iterator[Row]:
    for target in TARGETS:
        ratio = _ratio(target, part)
        if ratio is not None:
            yield _row(
                f"{target.cell.name}: rate relative to {target.beside}",
                f"at least {target.at_least:g} times",
                f"{ratio:.2f} times",
                met=ratio >= target.at_least,
            )
    shares = [one.memory_share for one in part.of(CYCLE, TIER) if one.memory_share is not None]
    if shares:
        share = statistics.median(shares)
        yield _row(
            f"{CYCLE.name}: reads served from memory",
            f"at least {_percent(MIN_FROM_MEMORY)}",
            _percent(share),
            met=share >= MIN_FROM_MEMORY,
        )


def _ratio(target: Target, part: Rates) -> float | None:
    """Return the median ratio of the tier's rate to that of the best of the target's ways."""
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
            ratio = statistics.median(ratios(two, one))
            yield _row(
                f"{cell.name}: rate with two disks relative to one",
                f"at least {MIN_DISK_RATIO:g} times",
                f"{ratio:.2f} times",
                met=ratio >= MIN_DISK_RATIO,
            )


def _of_efficiency(part: Efficiency) -> Iterator[Row]:
    """Yield the rows of all numbers of threads; the targets apply to one thread."""
    for count in thread_counts(part.cells):
        cells = [one for one in part.cells if one.threads == count]
        threads = show_count(count, "thread")
        for work in POLYNOMIALS:
            measure = f"{work.name}, {threads}: efficiency from {MIN_INTENSITY:g} I\\*"
            yield _lowest(
                measure, [one for one in cells if _has_enough_work(one, work.name)], count
            )
        for name in TILED:
            measure = f"{name}, {threads}: efficiency with data of {TILED_OF_DRAM:g} times DRAM"
            found = [c for c in cells if (c.work, c.dram_ratio) == (name, TILED_OF_DRAM)]
            yield _lowest(measure, found, count)


def _has_enough_work(cell: EfficiencyCell, work: str) -> bool:
    """Return whether a cell is of that work, and has enough of it for the target."""
    return (
        cell.work == work and cell.balance_ratio is not None and cell.balance_ratio >= MIN_INTENSITY
    )


def _lowest(measure: str, cells: Sequence[EfficiencyCell], threads: int) -> Row:
    limit = f"at least {_percent(MIN_EFFICIENCY)}" if threads == 1 else "none"
    if not cells:
        return measure, limit, "not measured", "", ""
    lowest = min(one.efficiency for one in cells)
    figure = _percent(lowest) + (f", the lowest of {len(cells)} cells" if cells[1:] else "")
    if threads != 1:
        return measure, limit, figure, NO_TARGET, ""
    return _row(measure, limit, figure, met=lowest >= MIN_EFFICIENCY)


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"
