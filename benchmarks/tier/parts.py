"""Parts of the benchmark, which yield their results after each round."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace

from . import disks
from .bench import Bench
from .cells import ON_DISKS, QUICK, QUICK_ON_DISKS, WAYS
from .efficiency import measured
from .results import Efficiency, OnDisks, Part, Rates
from .rounds import in_rounds
from .ways import DISK_RATES


def _rates(bench: Bench) -> Generator[Rates, None, None]:
    """Measure the programs in all ways."""
    ways = QUICK if bench.quick else WAYS
    place = bench.place(max(cell.of_dram for cell in ways))
    for number, rows in enumerate(in_rounds(ways, place, bench), 1):
        yield Rates(about=bench.about(number), rows=rows)


def _on_disks(bench: Bench) -> Generator[OnDisks, None, None]:
    """Measure the programs with the tier on throttled disks, if they are available."""
    if lacking := disks.lacking():
        print(f"benchmarks.tier: disks are not measured: {lacking}", file=sys.stderr)
        return
    ways = QUICK_ON_DISKS if bench.quick else ON_DISKS
    place = bench.place(max(cell.of_dram for cell in ways))
    # A disk that is listed twice stores more than its share.
    room = 2 * place.data_bytes + (64 << 20)
    with disks.throttled(bench.folder, room, DISK_RATES) as several:
        found = in_rounds(ways, replace(place, disks=several), bench)
        for number, rows in enumerate(found, 1):
            yield OnDisks(about=bench.about(number), rows=rows, disk_rates=DISK_RATES)


def _efficiency(bench: Bench) -> Generator[Efficiency, None, None]:
    """Measure programs with storage behind memory, relative to memory alone."""
    yield measured(bench)


PARTS: Mapping[str, Callable[[Bench], Generator[Part, None, None]]] = {
    "rates": _rates,
    "disks": _on_disks,
    "efficiency": _efficiency,
}
"""Functions of the parts, by name."""
