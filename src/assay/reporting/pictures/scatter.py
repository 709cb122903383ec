"""Scatter: picture of all launches of a sweep over one setting, with a line of medians."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.records import Goal
from assay.reporting.arms import Role
from assay.reporting.cells import MAX_POSITIONS, ScatterFigure
from assay.reporting.formatting import shorten
from assay.reporting.pictures.canvas import (
    POINTS_PER_PIXEL,
    SMALL_PX,
    STACKED,
    WIDE,
    canvas,
    dots,
    plot,
    pluses,
    put_text,
    ticks,
)
from assay.reporting.pictures.theme import LIGHT, finish
from assay.reporting.pictures.thin import thin
from assay.units import show_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOG_SPAN = 20.0
"""Ratio of extreme values above which the axis is logarithmic."""
_TICK = 52
"""Width of the label of a value, in pixels."""


def scatter_svg(figure: ScatterFigure, width: int = WIDE, name: str = "scatter") -> str:
    """Return launches as dots, medians as a line; time-outs and outliers are at the edge."""
    narrow = width < STACKED
    height, left, top, bottom = (260 if narrow else 280), 62, 30, 44
    with canvas() as new:
        fig, ax = plot(new, width, height, (left, 18, top, bottom))
        _value_axis(ax, figure)
        _setting_axis(ax, figure, width - left - 18)
        _launches(ax, figure, (width - left - 18, height - top - bottom))
        if figure.baseline is not None:
            ax.axhline(figure.baseline, color=LIGHT["baseline"], linewidth=1.2, zorder=2)
        ax.plot(
            [x for x, _ in figure.medians],
            [y for _, y in figure.medians],
            color=LIGHT["winner"],
            linewidth=2.0,
            marker="o" if len(figure.medians) <= MAX_POSITIONS else None,
            markersize=4.0,
            zorder=5,
        )
        ax.grid(axis="y", color=LIGHT["grid"], linewidth=0.8, zorder=0)
        unit = f" in {figure.scale.unit}" if figure.scale.unit else ""
        better = "less" if figure.goal is Goal.LOWER else "more"
        words = f"{figure.metric}{unit} ({better} is better)"
        put_text(fig, 8, height - 12, words, colour="muted", size=SMALL_PX)
        setting = shorten(figure.setting, 40)
        put_text(fig, width - 18, 8, setting, colour="muted", size=SMALL_PX, align="right")
        title = f"{figure.metric}{unit} over {figure.setting}"
        return finish(fig, name, title, _words(figure))


def _value_axis(ax: Axes, figure: ScatterFigure) -> None:
    low, high = figure.frame
    if low > 0 and high / low > _LOG_SPAN:
        ax.set_yscale("log")
        ax.minorticks_off()
        ax.set_ylim(low / 1.2, high * 1.2)
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        places = [10.0**d * k for d in decades for k in (1, 3)]
        places = [p for p in places if low / 1.2 <= p <= high * 1.2]
        ax.set_yticks(places, [figure.scale.number(p) for p in places])
        return
    pad = (high - low or abs(high) or 1.0) * 0.07
    ax.set_ylim(low - pad, high + pad)
    ticks(ax.yaxis, low - pad, high + pad, 5, figure.scale.number)


def _setting_axis(ax: Axes, figure: ScatterFigure, pixels: float) -> None:
    first, last = figure.places[0], figure.places[-1]
    logarithmic = figure.base is not None and first > 0
    if logarithmic:
        ax.set_xscale("log", base=figure.base or 10.0)
        ax.minorticks_off()
        pad = (last / first) ** 0.04
        ax.set_xlim(first / pad, last * pad)
    else:
        pad = (last - first) * 0.04
        ax.set_xlim(first - pad, last + pad)
    room = max(2, int(pixels / _TICK))
    if len(figure.places) <= room and _labels_fit(figure, pixels):
        ax.set_xticks(figure.places, [_shown(v) for v in figure.places])
    elif logarithmic:
        base = figure.base or 10.0
        powers = range(
            math.ceil(math.log(first, base) - 1e-9), math.floor(math.log(last, base) + 1e-9) + 1
        )
        every = math.ceil(len(powers) / room)
        places = [base**power for power in powers][::every]
        ax.set_xticks(places, [_shown(v) for v in places])
    else:
        ticks(ax.xaxis, first, last, room, _shown)


def _labels_fit(figure: ScatterFigure, pixels: float) -> bool:
    """Return whether the labels of all values fit."""
    places: Sequence[float] = figure.places
    if figure.base is not None and places[0] > 0:
        places = [math.log(v) for v in places]
    gaps = [b - a for a, b in itertools.pairwise(places)]
    return min(gaps) / (places[-1] - places[0]) * pixels >= _TICK * 0.7


def _shown(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e7 else f"{value:g}"


def _launches(ax: Axes, figure: ScatterFigure, size: tuple[float, float]) -> None:
    low, high = ax.get_ylim()
    for role, diameter in ((Role.OTHER, 3.6), (Role.WINNER, 4.2), (Role.BASELINE, 4.2)):
        inside = [
            (p.x, p.y)
            for p in figure.points
            if p.role is role and not (p.censored or p.left_out) and low <= p.y <= high
        ]
        dots(ax, _thinned(ax, inside, size), role.value, diameter, order=3, faint=True)
    lost = [(p.x, p.y) for p in figure.points if p.left_out and low <= p.y <= high]
    pluses(ax, _thinned(ax, lost, size), order=3)
    plain = [p for p in figure.points if not p.censored and not p.left_out]
    _edge(ax, "^", "other", [p.x for p in plain if p.y > high])
    _edge(ax, "v", "other", [p.x for p in plain if p.y < low])
    _edge(ax, "^", "bad", [p.x for p in figure.points if p.censored])


def _thinned(
    ax: Axes, points: Sequence[tuple[float, float]], size: tuple[float, float]
) -> list[tuple[float, float]]:
    """Return the points that are distinct in the picture."""
    if not points:
        return []
    # Positions in pixels, also on logarithmic axes.
    pixels = ax.transLimits.transform(ax.transScale.transform(points)) * size
    places = dict(zip(map(tuple, pixels[::-1].tolist()), reversed(points), strict=True))
    kept = thin(list(places), (1.0, 1.0), round(size[0] * POINTS_PER_PIXEL))
    return [places[place] for place in kept]


def _edge(ax: Axes, marker: str, colour: str, places: Sequence[float]) -> None:
    """Draw launches outside the axis at its upper or lower edge."""
    shown = sorted(set(places))
    ax.plot(
        shown,
        [0.015 if marker == "v" else 0.985] * len(shown),
        transform=ax.get_xaxis_transform(),
        linestyle="none",
        marker=marker,
        markersize=5,
        markerfacecolor="none",
        markeredgecolor=LIGHT[colour],
        zorder=6,
        clip_on=False,
    )


def _words(figure: ScatterFigure) -> str:
    medians = [f"{_shown(x)}: {figure.scale.quantity(y)}" for x, y in figure.medians]
    return (
        f"{show_count(len(figure.points), 'launch', 'launches')}. Medians by {figure.setting}: "
        f"{'; '.join(medians)}."
    )
