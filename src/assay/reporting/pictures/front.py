"""Front: picture of confirmed points in two objectives, with intervals and the search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.records import Goal
from assay.reporting.formatting import change, whole_change
from assay.reporting.front import FrontFigure, FrontMark
from assay.reporting.pictures.canvas import (
    POINTS_PER_PIXEL,
    SMALL_PX,
    STACKED,
    WEIGHTS,
    WIDE,
    canvas,
    dots,
    plot,
    put_text,
    ticks,
)
from assay.reporting.pictures.theme import LIGHT, Finish, finish
from assay.reporting.pictures.thin import thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOG_SPAN = 4.0
"""Ratio of extreme values above which the axis is logarithmic."""
_ROUND = (1.0, 2.0, 5.0)
_BETWEEN = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
"""Ticks within a decade, for few and for many ticks."""
_PAD = 0.08


def front_svg(
    figure: FrontFigure, width: int = WIDE, name: str = "front", done: Finish = finish
) -> str:
    """Return the picture, with the default at the intersection of two lines."""
    narrow = width < STACKED
    height, left, top, bottom = (320 if narrow else 400), (56 if narrow else 68), 30, 46
    with canvas() as new:
        fig, ax = plot(new, width, height, (left, 18, top, bottom))
        _axes(ax, figure, (width - left - 18, height - top - bottom))
        for line in (ax.axhline, ax.axvline):
            line(1.0, color=LIGHT["baseline"], linewidth=1.2, zorder=2)
        tried = [p for p in figure.tried if _inside(ax, p)]
        kept = thin(tried, (1.0, 1.0), round(width * POINTS_PER_PIXEL))
        dots(ax, kept, "other", 4.2, order=3, faint=True)
        _joining_line(ax, figure)
        for mark in figure.marks:
            _mark(ax, mark)
        ax.grid(color=LIGHT["grid"], linewidth=0.8, zorder=0)
        ax.set_axisbelow(True)
        words = f"change of {figure.up} ({_better(figure.goals[1])} is better)"
        put_text(fig, 8, height - 12, words, colour="muted", size=SMALL_PX)
        words = f"change of {figure.across} ({_better(figure.goals[0])} is better)"
        put_text(fig, width - 18, 8, words, colour="muted", size=SMALL_PX, align="right")
        title = f"{figure.up} against {figure.across}"
        return done(fig, name, title, _words(figure))


def _better(goal: Goal) -> str:
    return "less" if goal is Goal.LOWER else "more"


def _axes(ax: Axes, figure: FrontFigure, size: tuple[int, int]) -> None:
    ends = [_ends(figure, at) for at in (0, 1)]
    for axis, scale, limit, (low, high), pixels, label in (
        (ax.xaxis, ax.set_xscale, ax.set_xlim, ends[0], size[0], 74),
        (ax.yaxis, ax.set_yscale, ax.set_ylim, ends[1], size[1], 42),
    ):
        _axis(axis, scale, limit, (low, high), max(2, pixels // label))


def _ends(figure: FrontFigure, at: int) -> tuple[float, float]:
    """Return the axis range, which excludes distant points of the search if there are others."""
    shown = [mark.ratios for mark in figure.marks] or figure.tried
    needed = [1.0, *(ratios[at] for ratios in shown)]
    for mark in figure.marks:
        ci = (mark.across, mark.up)[at]
        needed += [end for end in ci if end is not None and end > 0]
    low, high = min(needed), max(needed)
    room = max(math.log(high / low), 0.02)
    logs = [math.log(tried[at]) for tried in figure.tried]
    near = [v for v in logs if math.log(low) - room <= v <= math.log(high) + room]
    low, high = min([low, *map(math.exp, near)]), max([high, *map(math.exp, near)])
    pad = max((high / low) ** _PAD, 1.004)
    return low / pad, high * pad


def _axis(axis: Any, scale: Any, limit: Any, ends: tuple[float, float], at_most: int) -> None:
    low, high = ends
    if high / low <= _LOG_SPAN:
        limit(low, high)
        ticks(axis, low, high, at_most, whole_change)
        return
    scale("log")
    limit(low, high)
    axis.minorticks_off()
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in (_BETWEEN, _ROUND, (1.0,)):
        places = [10.0**d * k for d in decades for k in steps if low <= 10.0**d * k <= high]
        if len(places) <= at_most:
            break
    axis.set_ticks(places, [whole_change(place) for place in places])


def _inside(ax: Axes, point: tuple[float, float]) -> bool:
    limits = (ax.get_xlim(), ax.get_ylim())
    return all(low <= v <= high for v, (low, high) in zip(point, limits, strict=True))


def _joining_line(ax: Axes, figure: FrontFigure) -> None:
    """Draw the line that joins the points of the front."""
    points = figure.joined_points
    ax.plot(
        [x for x, _ in points],
        [y for _, y in points],
        color=LIGHT["winner_soft"],
        linewidth=2.0,
        zorder=4,
    )


def _mark(ax: Axes, mark: FrontMark) -> None:
    """Draw a point with both intervals; points outside the front are hollow."""
    colour = LIGHT["winner"] if mark.label else LIGHT["other"]
    x, y = mark.ratios
    left, right = _bar(mark.across, ax.get_xlim())
    lower, upper = _bar(mark.up, ax.get_ylim())
    ax.plot([left, right], [y, y], color=colour, linewidth=1.6, zorder=5)
    ax.plot([x, x], [lower, upper], color=colour, linewidth=1.6, zorder=5)
    ax.plot(
        [x],
        [y],
        linestyle="none",
        marker="o",
        markersize=7.0,
        markerfacecolor=colour if mark.label else LIGHT["panel"],
        markeredgecolor=colour,
        zorder=6,
    )
    if mark.label:
        ax.annotate(
            mark.label,
            (x, y),
            xytext=(7, 6),
            textcoords="offset points",
            color=LIGHT["ink"],
            fontsize=12.0,
            fontweight=WEIGHTS[600],
            zorder=7,
        )


def _bar(ci: tuple[float | None, float | None], limits: tuple[float, float]) -> Sequence[float]:
    """Return the ends of a bar; open ends are at the edge."""
    return [limits[at] if end is None else end for at, end in enumerate(ci)]


def _words(figure: FrontFigure) -> str:
    sentences = [
        f"{f'point {mark.label}' if mark.label else 'off the front'}, {mark.name}: "
        f"{figure.across} {change(mark.ratios[0])}, {figure.up} {change(mark.ratios[1])}"
        for mark in figure.marks
    ]
    return f"Against the default: {'; '.join(sentences)}."
