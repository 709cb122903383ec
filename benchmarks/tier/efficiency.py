"""Efficiencies, measured by `assay tier bench`, and heat maps."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from assay.records.codec import decode
from assay.tier.efficiency import Cell, Device
from assay.tier.heatmap import heatmap_svg
from assay.units import show_count

from .bench import Bench
from .cells import TILED, TILED_OF_DRAM
from .results import Efficiency

FOR_TARGETS = 0.25
"""Share of the budget for further rounds of programs with a large variation."""


def measured(bench: Bench) -> Efficiency:
    """Measure with one thread and with one per CPU; repeat long cells that have a target.

    Raises:
        SystemExit: the command failed, or the budget was too small for any figure.
    """
    about = bench.about(1)
    threads = dict.fromkeys((1, len(os.sched_getaffinity(0))))
    device, cells = _cells(
        bench,
        (1.0 - FOR_TARGETS) * bench.budget_s,
        *("--threads", ",".join(map(str, threads))),
    )
    return Efficiency(
        about=about,
        budget_s=bench.budget_s,
        device=device,
        cells=with_more(cells, more_for_targets(bench, FOR_TARGETS * bench.budget_s)),
    )


def more_for_targets(bench: Bench, budget_s: float) -> tuple[Cell, ...]:
    """Measure the tiled programs, which have a target, with one thread.

    Raises:
        SystemExit: as `measured`.
    """
    words = itertools.chain.from_iterable(("--work", name) for name in TILED)
    size = ("--threads", "1", "--data", f"{TILED_OF_DRAM:g}")
    return _cells(bench, budget_s, *words, *size)[1]


def with_more(cells: Sequence[Cell], more: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the cells with the rounds of both; cells that only `more` has are left out."""

    def key(cell: Cell) -> tuple[str, int, float, float]:
        return cell.work, cell.threads, cell.dram_ratio, cell.intensity

    further = {key(one): one for one in more}

    def joined(one: Cell) -> Cell:
        other = further.get(key(one))
        if other is None:
            return one
        memory_s, tier_s = one.memory_s + other.memory_s, one.tier_s + other.tier_s
        return replace(one, memory_s=memory_s, tier_s=tier_s)

    return tuple(map(joined, cells))


def _cells(bench: Bench, budget_s: float, *words: str) -> tuple[Device, tuple[Cell, ...]]:
    command = [
        *(sys.executable, "-m", "assay", "tier", "bench", "--json"),
        *("--dram", str(bench.dram_bytes), "--path", str(bench.folder)),
        *("--budget", f"{budget_s}s", *words),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"`assay tier bench` ended with {done.returncode}")
    output: dict[str, Any] = json.loads(done.stdout)
    cells = tuple(decode(json.dumps(one), Cell) for one in output["cells"])
    if not cells:
        raise SystemExit("`assay tier bench` measured nothing: --budget is too small")
    return decode(json.dumps(output["device"]), Device), cells


def thread_counts(cells: Sequence[Cell]) -> tuple[int, ...]:
    """Return the measured numbers of threads."""
    return tuple(sorted({one.threads for one in cells}))


def picture_of(threads: int) -> str:
    """Return the name of a picture, in the folder of the page."""
    return f"tier-efficiency-{show_count(threads, 'thread').replace(' ', '-')}.svg"


def pictures(part: Efficiency) -> dict[str, str]:
    """Return a picture for each number of threads, by file name."""
    return {
        picture_of(count): heatmap_svg(
            [one for one in part.cells if one.threads == count],
            part.device,
            part.about.dram_bytes,
        )
        for count in thread_counts(part.cells)
    }
