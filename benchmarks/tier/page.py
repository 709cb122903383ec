"""The page of the benchmark, made of its results alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from assay.units import show_bytes, show_count, show_duration
from benchmarks.markdown import section, table

from . import __doc__ as description
from .efficiency import picture_of, thread_counts
from .results import About, Efficiency, Measured, OnDisks, Rates, Results, Row
from .targets import ratios, rows_of
from .ways import ONE_DISK, TIER

_MADE = (
    "`make bench-tier BENCH=--write` measures all parts and writes this page and [its raw "
    'figures](tier.json); `BENCH="--write --part rates"` measures one part again and keeps the '
    "others."
)


def text(results: Results) -> str:
    """Everything, as Markdown; parts that were never measured are left out."""
    targets = rows_of(results)
    parts = (
        f"# Data that exceed memory\n\n{(description or '').strip()}\n\n{_MADE}",
        section("Rates", _rates(results.rates) if results.rates else ()),
        section("Several disks", _disks(results.disks) if results.disks else ()),
        section("Efficiency", _efficiency(results.efficiency) if results.efficiency else ()),
        section("Targets", [table(("target", "seen", ""), targets)] if targets else ()),
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _rates(part: Rates) -> Iterator[str]:
    yield _measured(part.about, show_count(part.about.rounds, "round"))
    yield (
        "GB/s, medians over the rounds, with the least and the most; beside them how many "
        "times that is of the tier's, the median of the rounds' ratios. The device alone reads as "
        "many bytes in the same order (tiles: forward), 2 MiB at a time, eight under way."
    )
    heads = ("program", "data", "way", "GB/s", "tier is, times")
    yield table(heads, [(row.cell, _size(row), *_rate(part, row, TIER.name)) for row in part.rows])


def _disks(part: OnDisks) -> Iterator[str]:
    yield _measured(part.about, show_count(part.about.rounds, "round"))
    slow, fast = (f(part.disk_rates) // 1_000_000 for f in (min, max))
    yield (
        f"The tier on loop devices, each throttled by a control group to {slow} MB/s for reading "
        f"and as much for writing, the fast one to {fast}. Data in memory are not read, so "
        "rates are above those of the disks. A disk that is named twice has twice the share."
    )
    heads = ("program", "disks", "GB/s", "times one")
    yield table(heads, [(row.cell, *_rate(part, row, ONE_DISK.name)) for row in part.rows])


def _efficiency(part: Efficiency) -> Iterator[str]:
    least, most = (f(len(one.memory_s) for one in part.cells) for f in (min, max))
    rounds = show_count(most, "round") if least == most else f"{least} to {most} rounds"
    yield _measured(part.about, f"{rounds} of each cell in {show_duration(part.budget_s)}")
    yield (
        "Figures of `assay tier bench` "
        "([method](../reference/tier.md#how-fast-programs-are-with-it)). Each box is the speed "
        "with storage behind the given amount of DRAM, in per cent of the speed in memory alone. "
        "The figure below it is that of a perfect overlap of work and transfers, min(1, I / I\\*). "
        "Threads are those of the program; the pager has one of its own."
    )
    for count in thread_counts(part.cells):
        yield f"![Efficiencies with {show_count(count, 'thread')}]({picture_of(count)})"


def _measured(about: About, rounds: str) -> str:
    where = about.machine
    load = ", ".join(f"{one:.2f}" for one in about.load)
    return (
        f"{about.date}, assay {about.assay}, {rounds}, {show_bytes(about.dram_bytes)} of memory; "
        f"{where.model}, {show_count(where.cpus, 'CPU')}, Linux {where.kernel}. Load before "
        f"(1, 5, 15 minutes) {load}."
    )


def _size(row: Row) -> str:
    return f"{row.of_dram:g} times {show_bytes(row.dram_bytes)}"


def _rate(part: Measured, row: Row, other: str) -> tuple[str, str, str]:
    """Return the way, its rate, and the ratio to another way of the same program."""
    same = (one for one in part.rows if (one.cell, one.of_dram) == (row.cell, row.of_dram))
    beside = next((one.passes for one in same if one.way == other), ())
    rate = _span([one.rate for one in row.passes])
    if not beside:
        return row.way, rate, ""
    pair = (beside, row.passes) if other == TIER.name else (row.passes, beside)
    return row.way, rate, f"{statistics.median(ratios(*pair)):.2f}"


def _span(rates: Sequence[float]) -> str:
    least, middle, most = (f(rates) / 1e9 for f in (min, statistics.median, max))
    return f"{middle:.3g} ({least:.3g} to {most:.3g})"
