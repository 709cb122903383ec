"""What is measured, in which ways, and what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass

from .measuring import Cell
from .ways import (
    ADVISOR,
    MAPPED,
    MEMORY,
    ONE_DISK,
    SWAP,
    SWAPS,
    TIER,
    TWO_DISKS,
    UNEQUAL,
    UNEQUAL_TWICE,
    Way,
)

ADVISED = "swap, told ahead"
"""Swap at its default, with a program that says what comes and what is done with."""

_DATA = 4.0
FORWARD = Cell("forward", "traversal", "forward", _DATA, advised="advised")
BACKWARD = Cell("backward", "traversal", "backward", _DATA)
TILES = Cell("tiles of 2 MiB", "traversal", "tiles", _DATA)
UPDATE = Cell("read and written", "traversal", "forward", _DATA, ("--update", "1"))
ROWS = Cell("rows of 64 KiB", "traversal", "rows", _DATA)
PAGES = Cell("random pages of 4 KiB", "traversal", "pages", _DATA, share=0.25)
RECORDS = Cell("1 KiB of each 72 KiB", "traversal", "records", _DATA, share=0.25)
CYCLE = Cell("again and again", "traversal", "forward", 1.5, samples=10)
FITS = Cell("fits: read", "traversal", "forward", 0.5)
FITS_UPDATE = Cell("fits: read and written", "traversal", "forward", 0.5, ("--update", "1"))

WAYS: dict[Cell, tuple[Way, ...]] = {
    FORWARD: (MEMORY, TIER, *SWAPS, ADVISOR, MAPPED),
    BACKWARD: (TIER, SWAP, ADVISOR),
    TILES: (TIER, SWAP, ADVISOR, MAPPED),
    UPDATE: (MEMORY, TIER, SWAP, ADVISOR, MAPPED),
    ROWS: (TIER, SWAP, MAPPED),
    PAGES: (TIER, *SWAPS[:2], ADVISOR),
    RECORDS: (TIER, SWAP),
    CYCLE: (MEMORY, TIER, SWAP, ADVISOR, MAPPED),
    FITS: (MEMORY, TIER),
    FITS_UPDATE: (MEMORY, TIER),
}

ON_DISKS: dict[Cell, tuple[Way, ...]] = {
    FORWARD: (ONE_DISK, TWO_DISKS, UNEQUAL, UNEQUAL_TWICE),
    BACKWARD: (ONE_DISK, TWO_DISKS),
    TILES: (ONE_DISK, TWO_DISKS),
    UPDATE: (ONE_DISK, TWO_DISKS),
}
"""The tier on throttled disks."""
TWICE = 1.8
"""So many times what one gives two equal disks are to give, at least."""

DEVICE = "device"
BEST_SWAP = "best swap"


@dataclass(frozen=True)
class Target:
    """The tier's rate is to be at least so many times that of another way."""

    cell: Cell
    beside: str
    at_least: float


TARGETS = (
    *(Target(cell, DEVICE, 0.9) for cell in (FORWARD, BACKWARD, TILES)),
    *(Target(cell, SWAP.name, 6.0) for cell in (FORWARD, BACKWARD, TILES)),
    Target(FORWARD, BEST_SWAP, 4.0),
    Target(FORWARD, ADVISED, 2.0),
    Target(UPDATE, SWAP.name, 6.0),
    Target(UPDATE, MAPPED.name, 1.5),
    Target(ROWS, SWAP.name, 4.0),
    Target(ROWS, MAPPED.name, 5.0),
    Target(PAGES, BEST_SWAP, 1.0),
    Target(FITS, MEMORY.name, 0.98),
    Target(FITS_UPDATE, MEMORY.name, 0.98),
)
