"""Measured programs, their ways and their targets."""

from __future__ import annotations

from dataclasses import dataclass

from .measuring import Cell
from .ways import (
    ADVISOR,
    DEVICE,
    MAPPED,
    MEMORY,
    ONE_DISK,
    PROGRAM_ADVISED,
    REPLAYED,
    SWAP,
    SWAPS,
    TIER,
    TWO_DISKS,
    UNEQUAL,
    UNEQUAL_TWICE,
    Way,
)

_DATA = 4.0
FORWARD = Cell("forward", "traversal", "forward", _DATA, advised="advised")
FORWARD_OF_MUCH = Cell("forward", "traversal", "forward", 8.0)
BACKWARD = Cell("backward", "traversal", "backward", _DATA, order="backward")
TILES = Cell("tiles of 2 MiB", "traversal", "tiles", _DATA)
UPDATE = Cell("read and written", "traversal", "forward", _DATA, ("--update", "1"))
ROWS = Cell("rows of 64 KiB", "traversal", "rows", _DATA)
PAGES = Cell("random pages of 4 KiB", "traversal", "pages", _DATA, share=0.25)
RECORDS = Cell("1 KiB of each 72 KiB", "traversal", "records", _DATA, share=0.25)
CYCLE = Cell("repeated cycle", "traversal", "forward", 1.5, samples=10)
FITS = Cell("fits into memory, read", "traversal", "forward", 0.5, repeats=5)
FITS_UPDATE = Cell(
    "fits into memory, read and written", "traversal", "forward", 0.5, ("--update", "1"), repeats=5
)

WAYS: dict[Cell, tuple[Way, ...]] = {
    FORWARD: (MEMORY, DEVICE, TIER, *SWAPS, PROGRAM_ADVISED, ADVISOR, MAPPED),
    FORWARD_OF_MUCH: (TIER, SWAP, MAPPED),
    BACKWARD: (DEVICE, TIER, SWAP, ADVISOR),
    TILES: (DEVICE, TIER, SWAP, ADVISOR, MAPPED),
    UPDATE: (MEMORY, TIER, SWAP, ADVISOR, MAPPED),
    ROWS: (TIER, SWAP, MAPPED),
    PAGES: (TIER, REPLAYED, *SWAPS[:2], ADVISOR),
    RECORDS: (TIER, REPLAYED, SWAP),
    CYCLE: (MEMORY, TIER, REPLAYED, SWAP, ADVISOR, MAPPED),
    FITS: (MEMORY, TIER),
    FITS_UPDATE: (MEMORY, TIER),
}

ON_DISKS: dict[Cell, tuple[Way, ...]] = {
    FORWARD: (ONE_DISK, TWO_DISKS, UNEQUAL, UNEQUAL_TWICE),
    BACKWARD: (ONE_DISK, TWO_DISKS),
    TILES: (ONE_DISK, TWO_DISKS),
    UPDATE: (ONE_DISK, TWO_DISKS),
}
"""Programs and ways of the tier on throttled disks."""
MIN_DISK_RATIO = 1.8
"""Least ratio of the throughput of two equal disks to that of one."""

QUICK: dict[Cell, tuple[Way, ...]] = {
    FORWARD: (DEVICE, TIER, REPLAYED, SWAP, PROGRAM_ADVISED),
    FITS: (TIER,),
}
QUICK_ON_DISKS: dict[Cell, tuple[Way, ...]] = {FORWARD: (ONE_DISK, TWO_DISKS)}
"""Programs and ways of a smoke test."""


@dataclass(frozen=True)
class Target:
    """Least ratio of the tier's rate to that of the best of some ways.

    Attributes:
        cell: program.
        beside: name of the ways, for the page.
        at_least: least ratio.
        ways: ways that are compared.
    """

    cell: Cell
    beside: str
    at_least: float
    ways: tuple[Way, ...]


def _beside(cell: Cell, way: Way, at_least: float) -> Target:
    return Target(cell, way.name, at_least, (way,))


TARGETS = (
    *(_beside(cell, DEVICE, 0.9) for cell in (FORWARD, BACKWARD, TILES)),
    *(_beside(cell, SWAP, 6.0) for cell in (FORWARD, BACKWARD, TILES)),
    Target(FORWARD, "best swap", 4.0, SWAPS),
    _beside(FORWARD, PROGRAM_ADVISED, 2.0),
    _beside(UPDATE, SWAP, 6.0),
    _beside(UPDATE, MAPPED, 1.5),
    _beside(ROWS, SWAP, 4.0),
    _beside(ROWS, MAPPED, 5.0),
    Target(PAGES, "best swap", 1.0, SWAPS),
    _beside(FITS, MEMORY, 0.98),
    _beside(FITS_UPDATE, MEMORY, 0.98),
)
MIN_FROM_MEMORY = 0.5
"""Least share of the reads of a repeated cycle that memory serves."""

MIN_EFFICIENCY = 0.8
"""Least efficiency of programs with enough work."""
MIN_INTENSITY = 1.3
"""Least arithmetic intensity of a polynomial with enough work, in multiples of the balance of work
and transfers."""
TILED = ("LU by tiles", "LU from the left")
TILED_OF_DRAM = 2.0
"""Programs of `assay tier bench` with enough work by their order, and the size of their data."""
