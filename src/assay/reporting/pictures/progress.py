"""Progress: picture of the values that launches report, over steps or seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.reporting.arms import Role
from assay.reporting.pictures.canvas import (
    SMALL_PX,
    STACKED,
    WIDE,
    canvas,
    plot,
    put_text,
    ticks,
)
from assay.reporting.pictures.theme import LIGHT, Finish, finish
from assay.reporting.progress import ProgressFigure, ProgressLine, axis_number
from assay.units import show_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PIXELS_PER_INTERVAL = 3.0
"""Width of the intervals of a static picture; smaller ones are merged."""

_LINE_WIDTHS = {True: 1.3, False: 0.8}
"""Widths of lines in front and behind."""


def progress_svg(
    figure: ProgressFigure,
    width: int = WIDE,
    name: str = "progress",
    done: Finish = finish,
    *,
    over_time: bool = False,
) -> str:
    """Return the reported values of each launch, with the warm-up shaded.

    Args:
        figure: data of the picture.
        width: width in pixels.
        name: prefix of all ids.
        done: creates the document.
        over_time: show seconds since the start of the launch instead of steps.
    """
    narrow = width < STACKED
    height, left, right, top, bottom = 280, 62, 14, 40, 44
    with canvas() as new:
        fig, ax = plot(new, width, height, (left, right, top, bottom))
        lines = [
            merged(line, round((width - left - right) / _PIXELS_PER_INTERVAL))
            for line in figure.lines
        ]
        last = max(line_places(line, over_time=over_time)[-1] for line in lines)
        ax.set_xlim(0.0, last * 1.01 or 1.0)
        _draw_value_axis(ax, figure)
        _draw_warm_up(ax, figure.warm_up_s if over_time else figure.warm_up_step)
        for place, line in enumerate(lines):
            _draw_line(ax, line, place, over_time=over_time)
        ticks(ax.xaxis, 0.0, last, 4 if narrow else 9, lambda v: f"{v:,g}")
        ax.grid(axis="y", color=LIGHT["grid"], linewidth=0.8, zorder=0)
        unit = f" in {figure.scale.unit}" if figure.scale.unit else ""
        across = "seconds since the start of the launch" if over_time else "step"
        put_text(fig, 8, height - 12, f"{figure.metric}{unit}", colour="muted", size=SMALL_PX)
        put_text(fig, width - right, 8, across, colour="muted", size=SMALL_PX, align="right")
        by = "time" if over_time else "step"
        return done(fig, name, f"{figure.metric}{unit} of each launch, by {by}", _words(figure))


def line_places(line: ProgressLine, *, over_time: bool) -> tuple[float, ...]:
    """Return the places of the values of a line on the horizontal axis."""
    return line.times_s if over_time else line.steps


def merged(line: ProgressLine, at_most: int) -> ProgressLine:
    """Return a line with at most this number of intervals, with their means and ranges.

    Args:
        line: reported values of a launch.
        at_most: number of intervals, at least 1.
    """
    count = len(line.values)
    if count <= at_most:
        return line
    size = math.ceil(count / at_most)
    groups = [slice(i, min(i + size, count)) for i in range(0, count, size)]
    low, high = line.minima or line.values, line.maxima or line.values
    return ProgressLine(
        number=line.number,
        arm=line.arm,
        role=line.role,
        stage=line.stage,
        front=line.front,
        times_s=tuple(line.times_s[g.stop - 1] for g in groups),
        steps=tuple(line.steps[g.stop - 1] for g in groups),
        values=tuple(math.fsum(line.values[g]) / (g.stop - g.start) for g in groups),
        minima=tuple(min(low[g]) for g in groups),
        maxima=tuple(max(high[g]) for g in groups),
        ended_early=line.ended_early,
    )


def _draw_value_axis(ax: Axes, figure: ProgressFigure) -> None:
    low, high = figure.frame
    if figure.logarithmic:
        ax.set_yscale("log")
        ax.minorticks_off()
        ax.set_ylim(low / 1.15, high * 1.15)
        places = [p for p in decades(low, high) if low / 1.15 <= p <= high * 1.15]
        ax.set_yticks(places, [axis_number(figure.scale, p) for p in places])
        return
    pad = (high - low or abs(high) or 1.0) * 0.06
    floor = 0.0 if 0.0 <= low < pad else low - pad
    ax.set_ylim(floor, high + pad)
    ticks(ax.yaxis, floor, high + pad, 5, figure.scale.number)


def decades(low: float, high: float) -> list[float]:
    """Return the values 1 and 3 of each power of ten around a range of positive values."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [10.0**power * k for power in powers for k in (1, 3)]


def _draw_warm_up(ax: Axes, end: float) -> None:
    if end <= 0.0:
        return
    ax.axvspan(0.0, end, facecolor=LIGHT["band"], edgecolor="none", zorder=0)
    ax.axvline(end, color=LIGHT["grid"], linewidth=1.0, zorder=1)
    ax.text(
        0.0,
        1.03,
        "warm-up",
        transform=ax.get_xaxis_transform(),
        ha="left",
        fontsize=SMALL_PX,
        color=LIGHT["muted"],
    )


def _draw_line(ax: Axes, line: ProgressLine, place: int, *, over_time: bool) -> None:
    """Draw a line, its range if its intervals have one, and a cross if assay ended it early."""
    at = line_places(line, over_time=over_time)
    base = 20 if line.front else 2
    if line.minima:
        ax.fill_between(
            at,
            _clipped(ax, line.minima),
            _clipped(ax, line.maxima),
            facecolor=LIGHT[f"{line.role.value}_soft"],
            edgecolor="none",
            alpha=0.6,
            zorder=base,
        )
    ax.plot(
        at,
        line.values,
        color=LIGHT[line.role.value],
        linewidth=_LINE_WIDTHS[line.front],
        alpha=0.85 if line.front else 0.6,
        zorder=base + 1 + place / 100,
    )
    if line.ended_early:
        ax.plot(
            at[-1:],
            line.values[-1:],
            linestyle="none",
            marker="x",
            markersize=7,
            markeredgecolor=LIGHT["bad"],
            markeredgewidth=1.6,
            zorder=40,
        )


def _clipped(ax: Axes, values: Sequence[float]) -> list[float]:
    """Return values within the axis: on a logarithmic one a value of zero has no place."""
    low, high = ax.get_ylim()
    return [min(high, max(low, value)) for value in values]


def _words(figure: ProgressFigure) -> str:
    shown = show_count(len(figure.lines), "launch", "launches")
    words = f"{shown} of {figure.launches:,} as lines."
    front = {line.arm for line in figure.lines if line.front and line.role is Role.WINNER}
    if front:
        words += f" {', '.join(sorted(front))} is the recommended one."
    if figure.warm_up_step > 0:
        words += f" The warm-up ends at about step {figure.warm_up_step:,.0f}."
    if figure.period_steps:
        words += f" The values change for a short time every {figure.period_steps:g} steps."
    return words
