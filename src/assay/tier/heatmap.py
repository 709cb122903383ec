"""Heat map: efficiencies over data size / DRAM and operations per byte, with the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.reporting.pictures.canvas import SMALL_PX, WIDE, canvas, put_text, text_width
from assay.reporting.pictures.theme import LIGHT, finish, standalone
from assay.tier.efficiency import OTHER_WORKS, POLYNOMIALS, Cell, Device
from assay.units import show_bytes, show_count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEFT, _ROW, _HEAD, _GAP = 190, 34, 44, 26
_SHADES = 7


def heatmap_svg(cells: Sequence[Cell], device: Device, dram_bytes: int) -> str:
    """Return a map for each polynomial and one for other programs, for each number of threads.

    Args:
        cells: measured cells; at least one.
        device: device of the model.
        dram_bytes: DRAM size of the programs.
    """
    counts = sorted({cell.threads for cell in cells})
    maps = [
        (f"{name}, {show_count(count, 'thread')}" if counts[1:] else name, along, rows)
        for count in counts
        for name, along, rows in _maps([cell for cell in cells if cell.threads == count])
        if rows
    ]
    height = 70 + sum(_HEAD + _ROW * len(rows) + _GAP for _, _, rows in maps)
    with canvas() as new:
        fig = new(WIDE, height)
        title = "Efficiency of the memory tier"
        put_text(fig, 8, height - 20, title, weight=600)
        description = (
            "per cent of the speed in memory alone; small numbers: perfect overlap min(1, I / "
            f"I*). {show_bytes(dram_bytes)} of DRAM, backing store reads "
            f"{show_bytes(device.read)}/s, writes {show_bytes(device.write)}/s"
        )
        put_text(fig, 8, height - 38, description, colour="muted", size=SMALL_PX)
        top = float(height - 56)
        for name, along, rows in maps:
            _draw(fig, top, name, along, rows)
            top -= _HEAD + _ROW * len(rows) + _GAP
        return standalone(finish(fig, "efficiency", title, _words(cells)))


Rows = dict[str, dict[str, Cell]]
"""Cells by row name and column name."""


def _maps(cells: Sequence[Cell]) -> Iterator[tuple[str, str, Rows]]:
    """Yield name, axis label and cells of each map, for one number of threads."""
    for work in POLYNOMIALS:
        yield work.name, "operations per byte of the data", _by_intensity(cells, work.name)
    yield "other programs", "data size / DRAM", _by_size(cells, {work.name for work in OTHER_WORKS})


def _by_intensity(cells: Sequence[Cell], work: str) -> Rows:
    rows: Rows = {}
    for cell in sorted(cells, key=lambda cell: (cell.dram_ratio, cell.intensity)):
        if cell.work == work:
            row = rows.setdefault(f"{cell.dram_ratio:g} times DRAM", {})
            row[f"{cell.intensity:g}"] = cell
    return rows


def _by_size(cells: Sequence[Cell], names: set[str]) -> Rows:
    rows: Rows = {}
    for cell in sorted(cells, key=lambda cell: cell.dram_ratio):
        if cell.work in names:
            rows.setdefault(cell.work, {})[f"{cell.dram_ratio:g}"] = cell
    return rows


def _draw(fig: Figure, top: float, name: str, along: str, rows: Rows) -> None:
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    wide = (WIDE - _LEFT - 12) / max(len(columns), 1)
    put_text(fig, 8, top - 14, name, weight=600, size=SMALL_PX + 1)
    after = max(_LEFT, 20 + text_width(name, SMALL_PX + 1, 600))
    put_text(fig, after, top - 14, along, colour="muted", size=SMALL_PX)
    for place, column in enumerate(columns):
        middle = _LEFT + (place + 0.5) * wide
        put_text(fig, middle, top - 32, column, colour="muted", size=SMALL_PX, align="center")
    for number, (row, found) in enumerate(rows.items()):
        lower = top - _HEAD - _ROW * (number + 1) + 6
        put_text(fig, 8, lower + 11, row, size=SMALL_PX)
        for place, column in enumerate(columns):
            if column in found:
                _box(fig, _LEFT + place * wide, lower, wide - 3, found[column])


def _box(fig: Figure, left: float, lower: float, wide: float, cell: Cell) -> None:
    from matplotlib.patches import Rectangle

    width, height = fig.get_size_inches() * 72
    shade = min(_SHADES - 1, max(0, int((1.0 - cell.efficiency) * _SHADES)))
    fig.add_artist(
        Rectangle(
            (left / width, lower / height),
            wide / width,
            (_ROW - 3) / height,
            transform=fig.transFigure,
            facecolor=LIGHT[f"heat_{shade}"],
            edgecolor="none",
        )
    )
    middle = left + wide / 2
    put_text(fig, middle, lower + 15, f"{100 * cell.efficiency:.0f}", weight=600, align="center")
    model = f"{100 * cell.model:.0f}"
    put_text(fig, middle, lower + 3, model, colour="muted", size=SMALL_PX - 1, align="center")


def _words(cells: Sequence[Cell]) -> str:
    seen = sorted(cell.efficiency for cell in cells)
    return (
        f"Efficiencies of {len(seen)} cells, from {100 * seen[0]:.0f} to {100 * seen[-1]:.0f} "
        "per cent; each box contains the efficiency and that of the model."
    )
