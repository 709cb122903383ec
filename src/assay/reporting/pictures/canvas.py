"""Canvas: an empty picture in CSS pixels, and common drawing functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.reporting.pictures.theme import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WIDE = 880


NARROW = 340
"""Widths of pictures in CSS pixels; below ``STACKED`` labels are above rows."""


STACKED = 600


_FONT_PX = 11.5


SMALL_PX = 11.0

WEIGHTS = {400: "normal", 600: "semibold"}
"""Font weights; before 3.11 Matplotlib's SVG accepts only names."""


POINTS_PER_PIXEL = 3.0
"""Maximum number of points of one colour per pixel of width; more would overlap."""


@contextmanager
def canvas() -> Iterator[Callable[[float, float], Figure]]:
    """Return a factory of empty figures, in pixels, with temporary settings of Matplotlib."""
    import logging
    import warnings

    # Without a writable home directory Matplotlib reports a temporary font cache.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    def new(width: float, height: float) -> Figure:
        figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        figure.patch.set_visible(False)
        FigureCanvasSVG(figure)
        return figure

    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    settings: dict[Any, Any] = {
        "text.parse_math": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "assay",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "path.simplify": False,
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # glyphs that the measuring font lacks: the browser has more
        yield new


def dots(
    ax: Axes,
    points: Sequence[tuple[float, float]],
    colour: str,
    size: float,
    *,
    order: int = 2,
    faint: bool = False,
) -> None:
    """Draw round points of one colour; ``size`` is their diameter in pixels.

    All points are one path of zero-length lines with round ends, a fifth of the size of markers.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if not points:
        return
    path = Path([p for p in points for _ in range(2)], [Path.MOVETO, Path.LINETO] * len(points))
    ax.add_patch(
        PathPatch(
            path,
            fill=False,
            edgecolor=LIGHT[colour],
            linewidth=size,
            capstyle="round",
            alpha=0.55 if faint else 0.8,
            zorder=order,
        )
    )


def pluses(ax: Axes, points: Sequence[tuple[float, float]], *, order: int = 2) -> None:
    """Draw left-out launches in another shape and colour, without points outside the axes."""
    ax.plot(
        [x for x, _ in points],
        [y for _, y in points],
        linestyle="none",
        marker="+",
        markersize=5,
        markeredgecolor=LIGHT["warn"],
        markeredgewidth=0.9,
        alpha=0.7,
        zorder=order,
    )


def plot(
    new: Callable[[float, float], Figure],
    width: int,
    height: int,
    margins: tuple[int, int, int, int],
) -> tuple[Figure, Axes]:
    """Return a picture of one plot with left, right, upper and lower ``margins`` in pixels."""
    left, right, top, bottom = margins
    fig = new(width, height)
    ax = fig.add_axes(
        (
            left / width,
            bottom / height,
            (width - left - right) / width,
            (height - top - bottom) / height,
        )
    )
    bare(ax)
    ax.spines["left"].set_visible(False)
    return fig, ax


def bare(ax: Axes) -> None:
    """Remove the frame except the line at the bottom."""
    ax.patch.set_visible(False)
    ax.set_yticks([])
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(LIGHT["grid"])
    ax.tick_params(length=0, colors=LIGHT["muted"], labelsize=SMALL_PX, pad=6)


def ticks(
    axis: Any,
    low: float,
    high: float,
    at_most: int,
    show: Callable[[float], str],
    *,
    whole: bool = False,
) -> None:
    """Set up to ``at_most`` round ticks between ``low`` and ``high``, formatted by ``show``."""
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(nbins=at_most, integer=whole, steps=[1, 2, 2.5, 5, 10])
    places = [float(p) for p in locator.tick_values(low, high) if low <= p <= high]
    axis.set_ticks(places, [show(p) for p in places])


def text_width(words: str, size: float = _FONT_PX, weight: int = 400) -> float:
    """Return the width of a text in pixels in DejaVu Sans, an upper bound for common fonts."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight=WEIGHTS[weight])
    width, _, _ = text_to_path.get_text_width_height_descent(words, font, ismath=False)
    return float(width)


def put_text(
    fig: Figure,
    x: float,
    y: float,
    words: str,
    *,
    colour: str = "ink",
    size: float = _FONT_PX,
    weight: int = 400,
    align: str = "left",
    backed: bool = False,
) -> None:
    """Draw text at a position in pixels from the lower left corner, optionally on a ground."""
    width, height = fig.get_size_inches() * 72
    fig.text(
        x / width,
        y / height,
        words,
        color=LIGHT[colour],
        fontsize=size,
        fontweight=WEIGHTS[weight],
        ha=align,
        va="baseline",
        bbox={"facecolor": LIGHT["panel"], "edgecolor": "none", "pad": 1.5} if backed else None,
    )
