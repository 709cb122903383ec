"""Page of the benchmark, rendered from stored results."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from assay.units import show_bytes, show_count, show_duration
from benchmarks.markdown import REASON, section, table, targets_table, verdict

from .cells import CYCLE, MIN_INTENSITY, PAGES, RECORDS, ROWS, TILES, UPDATE
from .efficiency import picture_of, thread_counts
from .results import About, Efficiency, Measured, OnDisks, Rates, Results, Row
from .targets import ratios, rows_of
from .ways import (
    ADVISOR,
    DEVICE,
    MAPPED,
    MEMORY,
    ONE_DISK,
    PROGRAM_ADVISED,
    REPLAYED,
    SWAP,
    TIER,
)

INTRODUCTION = (
    "This page shows the speed of programs whose data exceed memory, with [`assay "
    "tier`](../reference/tier.md), with swap, and with mapped files. It is for readers who want to "
    "know whether storage can replace memory for their program."
)
METHOD = (
    "- **Memory.** A control group limits the memory of a program.\n"
    "- **Rounds.** Each round runs each program in each way, in a new random order.\n"
    "- **Programs.** The kernel `traversal` of the catalogue accesses the words of an array in "
    "different orders. Each result is compared with the correct one.\n"
    "- **Rate.** Bytes of the array divided by the time of one pass."
)
WAYS = (
    (MEMORY.name, "memory for all data"),
    (
        DEVICE.name,
        "no program: as many bytes are read from the device (O_DIRECT, 2 MiB per request, 8 "
        "requests at a time)",
    ),
    (TIER.name, "`assay tier`"),
    (
        REPLAYED.name,
        "`assay tier` with a recorded trace of accesses, from an untimed run just before",
    ),
    (f"{SWAP.name}, page-cluster N", "swap that reads 2^N pages at once (default: N = 3)"),
    (PROGRAM_ADVISED.name, "the program announces its accesses to the kernel"),
    (ADVISOR.name, "`assay tier` as an advisor of the kernel"),
    (MAPPED.name, "large allocations are a mapped file"),
)
TERMS = (
    ("forward, backward", "the program accesses the words of an array in this order"),
    ("swap", "swap with the default of the kernel, which reads 8 pages at once"),
    ("best swap", "fastest of the measured numbers of pages that swap reads at once"),
    ("efficiency", "speed relative to that in memory alone"),
    (
        "I / I\\*",
        "computation time per transferred GiB, divided by the time of the transfer; at 1, both "
        "are equally long",
    ),
    (
        f"efficiency from {MIN_INTENSITY:g} I\\*",
        f"efficiency of the cells in which I / I\\* is at least {MIN_INTENSITY:g}",
    ),
)
PROGRAMS = (
    ("forward, backward", "words in ascending or descending order"),
    (TILES.name, "matrix with rows of 16 MiB, in columns of 2 MiB"),
    (ROWS.name, "matrix with rows of 1 MiB, in columns of 64 KiB"),
    (UPDATE.name, "forward; each word is read and written"),
    (PAGES.name, "pages in random order"),
    (RECORDS.name, "one field of each record after the other"),
    (CYCLE.name, "forward, repeatedly"),
)
USAGE = (
    "`make bench-tier BENCH=--write` measures all parts and writes this page and [its raw "
    'figures](tier.json). `BENCH="--write --part rates"` measures one part again and keeps the '
    "others."
)


def text(results: Results) -> str:
    """Return the page; it has no section for a part that was not measured."""
    parts = (
        "# Data that exceed memory",
        INTRODUCTION,
        section("Targets", _targets(results)),
        section("Method", [METHOD, table(("way", "meaning"), WAYS), USAGE]),
        section("Rates", _rates(results.rates) if results.rates else ()),
        section("Several disks", _disks(results.disks) if results.disks else ()),
        section("Efficiency", _efficiency(results.efficiency) if results.efficiency else ()),
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _targets(results: Results) -> Iterator[str]:
    rows = rows_of(results)
    if not rows:
        return
    parts = (results.rates, results.disks, results.efficiency)
    about = [part.about for part in parts if part is not None]
    models = ", ".join(dict.fromkeys(one.machine.model for one in about))
    dates = sorted({one.date for one in about})
    span = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    yield (
        f"Measured on {models}, {span}. Rates are those of the tier. The targets of efficiency "
        "apply to programs with one thread; the pager uses another one."
    )
    yield table(("term", "meaning"), TERMS)
    heads = ("measure", "target", "measured", "verdict", REASON)
    yield targets_table(heads, [(*row[:3], verdict(row[3]), row[4]) for row in rows])


def _rates(part: Rates) -> Iterator[str]:
    yield _measured(part.about, show_count(part.about.rounds, "round"))
    yield (
        "GB/s are medians over the rounds, with the range in parentheses. The last column is the "
        "rate of the tier divided by that of the row, as the median over the rounds: above 1, the "
        "tier is faster. The device alone reads in the order of the program (for tiles: forward)."
    )
    yield table(("program", "order of accesses"), PROGRAMS)
    heads = ("program", "data", "way", "GB/s", "tier, relative to it")
    yield table(heads, [(row.cell, _size(row), *_rate(part, row, TIER.name)) for row in part.rows])


def _disks(part: OnDisks) -> Iterator[str]:
    yield _measured(part.about, show_count(part.about.rounds, "round"))
    slow, fast = (f(part.disk_rates) // 1_000_000 for f in (min, max))
    yield (
        "The tier uses loop devices. A control group limits each of them to "
        f"{slow} MB/s for reading and as much for writing, and the fast one to {fast} MB/s. The "
        "tier does not read data that are in memory, so the rates exceed those of the disks. A "
        "disk that is listed twice has twice the share of the data."
    )
    heads = ("program", "disks", "GB/s", "relative to one disk")
    yield table(heads, [(row.cell, *_rate(part, row, ONE_DISK.name)) for row in part.rows])


def _efficiency(part: Efficiency) -> Iterator[str]:
    least, most = (f(len(one.memory_s) for one in part.cells) for f in (min, max))
    rounds = show_count(most, "round") if least == most else f"{least} to {most} rounds"
    yield _measured(part.about, f"{rounds} of each cell in {show_duration(part.budget_s)}")
    yield (
        "Figures of `assay tier bench` ([method](../reference/tier.md#efficiency)). Each box shows "
        "the speed with storage behind the given amount of DRAM, in percent of the speed in memory "
        "alone. The number below it is the efficiency of a perfect overlap of work and transfers, "
        "min(1, I / I\\*). The number of threads is that of the program; the pager uses another "
        "thread."
    )
    for count in thread_counts(part.cells):
        yield f"![Efficiencies with {show_count(count, 'thread')}]({picture_of(count)})"


def _measured(about: About, rounds: str) -> str:
    where = about.machine
    load = ", ".join(f"{one:.2f}" for one in about.load)
    return (
        f"Measured on {about.date} with assay {about.assay} on {where.model}, "
        f"{show_count(where.cpus, 'CPU')}, Linux {where.kernel}: {rounds}, "
        f"{show_bytes(about.dram_bytes)} of memory. Load average before (1, 5, 15 minutes): {load}."
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
