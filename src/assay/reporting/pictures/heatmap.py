"""Heat map: one cell for each pair of values of two settings, with its median.

The scale is one hue from strong (best) to faint (worst), so that lightness alone is sufficient, for
colour-blind readers, in print, and on dark pages, where it runs from light to dark. All steps have
a contrast to the text above 4.5 (WCAG 2.2, 1.4.3), which a test verifies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.reporting.arms import Role
from assay.reporting.cells import STEPS, HeatCell, HeatFigure
from assay.reporting.formatting import shorten
from assay.reporting.pictures.canvas import SMALL_PX, STACKED, WEIGHTS, WIDE, bare, canvas, put_text
from assay.reporting.pictures.theme import LIGHT, Finish, finish
from assay.units import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 34
_ABOVE = 44
_BELOW = 52
_CHARACTER = 6.6
"""Width of a digit, in pixels."""
_WIDEST = 120
"""Maximum width of a column, in pixels."""


def heat_svg(
    figure: HeatFigure, width: int = WIDE, name: str = "heat", done: Finish = finish
) -> str:
    """Return the heat map; on narrow pictures the setting with fewer values is horizontal."""
    narrow = width < STACKED
    if narrow:
        figure = figure.transposed()
    longest = max(map(len, (*figure.rows, figure.down)))
    left = min(round(width * 0.34), 22 + round(min(longest, 24) * _CHARACTER))
    column = min((width - left - 12) / len(figure.columns), _WIDEST)
    right = width - left - column * len(figure.columns)
    height = _ABOVE + _ROW * len(figure.rows) + _BELOW
    with canvas() as new:
        fig = new(width, height)
        ax = fig.add_axes(
            (
                left / width,
                _BELOW / height,
                (width - left - right) / width,
                _ROW * len(figure.rows) / height,
            )
        )
        bare(ax)
        ax.spines["bottom"].set_visible(False)
        ax.set_xticks([])
        ax.set_xlim(0, len(figure.columns))
        ax.set_ylim(len(figure.rows), 0)
        shown = _texts(figure, column)
        for cell, text in zip(figure.cells, shown, strict=True):
            _draw(ax, cell, text)
        _heads(fig, figure, left, column)
        _legend(fig, figure, left, width)
        unit = f" in {figure.scale.unit}" if figure.scale.unit else ""
        title = f"{figure.metric}{unit} over {figure.across} and {figure.down}"
        return done(fig, name, title, _words(figure))


def prints_values(figure: HeatFigure, width: int = WIDE) -> bool:
    """Return whether cells are wide enough for their values."""
    column = (width * 0.66 - 12) / len(figure.columns)
    return bool(_texts(figure, column)[0])


def _texts(figure: HeatFigure, column: float) -> list[str]:
    """Return the texts of cells with as many digits as fit, at least three; otherwise empty."""
    room = int((column - 6) / _CHARACTER)
    whole = [figure.scale.number(c.value) if c.value is not None else c.note for c in figure.cells]
    if max(map(len, whole)) <= room:
        return whole
    short = [
        significant(c.value / figure.scale.factor, 3) if c.value is not None else "\u2013"
        for c in figure.cells
    ]
    return short if max(map(len, short)) <= room else [""] * len(short)


def _draw(ax: Axes, cell: HeatCell, text: str) -> None:
    from matplotlib.patches import Rectangle

    marked = cell.role is not Role.OTHER
    inset = 0.02
    known = cell.value is not None
    ax.add_patch(
        Rectangle(
            (cell.column + inset, cell.row + inset * 2),
            1 - 2 * inset,
            1 - 4 * inset,
            facecolor=LIGHT[f"heat_{cell.step}"] if known else LIGHT["band"],
            edgecolor=LIGHT[cell.role.value] if marked else "none",
            linewidth=2.2 if marked else 0.0,
            zorder=3 if marked else 2,
        )
    )
    ax.text(
        cell.column + 0.5,
        cell.row + 0.5,
        text,
        ha="center",
        va="center_baseline",
        fontsize=SMALL_PX,
        fontweight=WEIGHTS[600 if marked else 400],
        color=LIGHT["ink" if known else "muted"],
        zorder=4,
    )


def _heads(fig: Figure, figure: HeatFigure, left: int, column: float) -> None:
    """Draw the names of the settings, and their values along both sides."""
    height = fig.get_size_inches()[1] * 72
    top = height - _ABOVE
    put_text(fig, left, height - 12, shorten(figure.across, 48), colour="muted", size=SMALL_PX)
    put_text(
        fig,
        left - 10,
        top + 8,
        shorten(figure.down, 24),
        colour="muted",
        size=SMALL_PX,
        align="right",
    )
    most = max(2, int((column - 2) / _CHARACTER))
    every = 1 if most >= min(4, max(map(len, figure.columns))) else 2
    for at, label in enumerate(figure.columns):
        if at % every == 0:
            x = left + (at + 0.5) * column
            put_text(fig, x, top + 8, shorten(label, most), size=SMALL_PX, align="center")
    for at, label in enumerate(figure.rows):
        y = top - (at + 0.5) * _ROW - 4
        put_text(fig, left - 10, y, shorten(label, 24), size=SMALL_PX, align="right")


def _legend(fig: Figure, figure: HeatFigure, left: int, width: int) -> None:
    """Draw the colours from best to worst, with the values at both ends."""
    from matplotlib.patches import Rectangle

    height = fig.get_size_inches()[1] * 72
    best, worst = (figure.scale.quantity(v) for v in (figure.best, figure.worst))
    swatch, gap = 18, 8
    first = f"best {best}"
    x = left + len(first) * _CHARACTER * 0.95 + gap
    if x + STEPS * swatch + gap + (len(worst) + 6) * _CHARACTER > width:
        left = 8
        x = left + len(first) * _CHARACTER * 0.95 + gap
    put_text(fig, left, 16, first, size=SMALL_PX, colour="muted")
    for step in range(STEPS):
        fig.add_artist(
            Rectangle(
                ((x + step * swatch) / width, 12 / height),
                swatch / width,
                14 / height,
                facecolor=LIGHT[f"heat_{step}"],
                edgecolor="none",
            )
        )
    end = x + STEPS * swatch + gap
    put_text(fig, end, 16, f"{worst} worst", size=SMALL_PX, colour="muted")


def _words(figure: HeatFigure) -> str:
    known = [c for c in figure.cells if c.value is not None]
    parts = [
        f"{figure.across} {figure.columns[c.column]}, {figure.down} {figure.rows[c.row]}: "
        f"{figure.scale.quantity(c.value or 0.0)}"
        for c in known
    ]
    return "; ".join(parts[:12]) + ("." if len(parts) <= 12 else "; and more, all in the table.")
