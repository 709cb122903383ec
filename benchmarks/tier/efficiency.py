"""Efficiencies: what `assay tier bench` measures, and its heat maps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from assay.records.codec import decode
from assay.tier.efficiency import Cell, Device
from assay.tier.heatmap import heatmap_svg
from assay.units import show_count

from .bench import Bench
from .results import Efficiency


def measured(bench: Bench) -> Efficiency:
    """With one thread, and with one for each CPU.

    Raises:
        SystemExit: it ends with an error, which it tells itself, or has measured nothing.
    """
    about = bench.about(1)
    done = subprocess.run(_command(bench), stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"`assay tier bench` ended with {done.returncode}")
    told: dict[str, Any] = json.loads(done.stdout)
    cells = tuple(decode(json.dumps(one), Cell) for one in told["cells"])
    if not cells:
        raise SystemExit("`assay tier bench` measured nothing: --budget is too small")
    return Efficiency(
        about=about,
        budget_s=bench.budget_s,
        device=decode(json.dumps(told["device"]), Device),
        cells=cells,
    )


def _command(bench: Bench) -> list[str]:
    threads = dict.fromkeys((1, len(os.sched_getaffinity(0))))
    return [
        *(sys.executable, "-m", "assay", "tier", "bench", "--json"),
        *("--dram", str(bench.dram_bytes), "--path", str(bench.folder)),
        *("--budget", f"{bench.budget_s}s", "--threads", ",".join(map(str, threads))),
    ]


def thread_counts(cells: Sequence[Cell]) -> tuple[int, ...]:
    """Those that were measured, each once."""
    return tuple(sorted({one.threads for one in cells}))


def picture_of(threads: int) -> str:
    """Name of the file, beside the page."""
    return f"tier-efficiency-{show_count(threads, 'thread').replace(' ', '-')}.svg"


def pictures(part: Efficiency) -> dict[str, str]:
    """A picture for each number of threads, by the names of their files."""
    return {
        picture_of(count): heatmap_svg(
            [one for one in part.cells if one.threads == count],
            part.device,
            part.about.dram_bytes,
        )
        for count in thread_counts(part.cells)
    }
