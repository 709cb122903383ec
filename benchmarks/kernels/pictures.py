"""Rooflines of measured kernels."""

from __future__ import annotations

import re

from assay.workloads.ladder import Step
from assay.workloads.roofline import roofline_svg
from assay.workloads.roofs import Roofs
from benchmarks.overhead.reading import Table

from .pieces import BANDWIDTH, PEAK, ROOF, Piece

SHOWN = (("horner", "L2, read, degree 256"), ("dgemm", "L2"), ("acoustic", "DRAM"))
"""Pieces of work with a picture on the page."""


def file_of(name: str, case: str) -> str:
    """Return the name of a picture's file, in the folder of the page."""
    return f"kernels-{'-'.join(re.findall('[A-Za-z0-9]+', f'{name} {case}'))}.svg"


def pictures(table: Table, found: list[Piece]) -> dict[str, str]:
    """Return the rooflines of these pieces, by file name."""
    return {
        file_of(piece.kernel.kernel, piece.name): svg
        for piece in found
        if (piece.kernel.kernel, piece.name) in SHOWN and (svg := _roofline(table, piece))
    }


def _roofline(table: Table, piece: Piece) -> str | None:
    peak, moved = (table.median(piece.key(ROOF, quantity)) for quantity in (PEAK, BANDWIDTH))
    if not peak or not moved:
        return None
    taken_us = {one: table.median(piece.key(one.variant)) for one in piece.kernel.available}
    steps = [Step(one, None, 1e-6 * us, None) for one, us in taken_us.items() if us]
    return roofline_svg(piece.kernel, steps, Roofs(gflop_per_s=peak, gb_per_s=moved))
