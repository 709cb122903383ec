"""Detours: pictures of their lengths, times and periods."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.reporting.formatting import duration, shorten
from assay.reporting.machine_noise import MachineNoiseFigure
from assay.reporting.pictures.canvas import (
    POINTS_PER_PIXEL,
    SMALL_PX,
    WIDE,
    bare,
    canvas,
    dots,
    put_text,
    ticks,
)
from assay.reporting.pictures.theme import LIGHT, finish
from assay.reporting.pictures.thin import thin
from assay.units import show_count, significant
from assay.untrusted import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = 190
HEAD = 50
"""Height of the title above the panels, in pixels."""
LEFT, RIGHT, ABOVE, BELOW = 62, 18, 30, 42
COLOURS = ("winner", "warn", "good", "bad", "baseline", "other")
"""Colours of CPUs, repeated if there are more."""


def detours_svg(figure: MachineNoiseFigure, width: int = WIDE, name: str = "detours") -> str:
    """Return histogram, detours over time and, if measured, spectrum, from top to bottom."""
    panels: list[Callable[[Figure, Axes, int, int], None]] = [
        lambda fig, ax, top, w: _histogram(fig, ax, top, w, figure),
        lambda fig, ax, top, w: _over_time(fig, ax, top, w, figure),
    ]
    if figure.spectrum.lines:
        panels.append(lambda fig, ax, top, w: _spectrum(fig, ax, top, w, figure))
    height = HEAD + PANEL * len(panels)
    title = shorten(clean(f"Noise of {figure.machine or 'this machine'}"), 90)
    with canvas() as new:
        fig = new(width, height)
        put_text(fig, 8, height - 20, title, weight=600)
        put_text(fig, 8, height - 38, _words(figure), colour="muted", size=SMALL_PX)
        for place, draw in enumerate(panels):
            top = height - HEAD - place * PANEL
            ax = fig.add_axes(
                (
                    LEFT / width,
                    (top - PANEL + BELOW) / height,
                    (width - LEFT - RIGHT) / width,
                    (PANEL - ABOVE - BELOW) / height,
                )
            )
            bare(ax)
            ax.spines["left"].set_visible(False)
            draw(fig, ax, top, width)
        return finish(fig, name, title, _words(figure))


def _histogram(fig: Figure, ax: Axes, top: int, width: int, figure: MachineNoiseFigure) -> None:
    steps = figure.histogram
    _titles(fig, top, width, f"detours by their length ({figure.method})", "length")
    if not steps:
        return
    most = max(step.count for step in steps)
    ax.set_yscale("symlog", linthresh=1)
    ax.minorticks_off()
    ax.set_ylim(0, most * 1.6)
    ax.bar(
        range(len(steps)),
        [step.count for step in steps],
        width=0.86,
        align="edge",
        facecolor=LIGHT["winner"],
        edgecolor="none",
        zorder=2,
    )
    places = [10**k for k in range(8) if 10**k <= most * 1.6]
    ax.set_yticks([0, *places], ["0", *(f"{p:,}" for p in places)])
    ax.set_xlim(-0.2, len(steps) + 0.2)
    each = max(1, len(steps) * 60 // (width - LEFT - RIGHT) + 1)
    shown = range(0, len(steps), each)
    ax.set_xticks(list(shown), [duration(steps[i].low_ns / 1e9) for i in shown])
    ax.grid(axis="y", color=LIGHT["grid"], linewidth=0.8, zorder=0)


def _over_time(fig: Figure, ax: Axes, top: int, width: int, figure: MachineNoiseFigure) -> None:
    _titles(fig, top, width, "each detour: start and length", "seconds")
    ax.set_yscale("log")
    ax.minorticks_off()
    values = [took for found in figure.detours.values() for _, took in found]
    low, high = (min(values), max(values)) if values else (1e3, 1e6)
    ax.set_ylim(max(low, 1.0) / 1.5, high * 2)
    ax.set_xlim(0, figure.length_s or 1.0)
    places = [10.0**k for k in range(12) if max(low, 1.0) / 1.5 <= 10.0**k <= high * 2]
    ax.set_yticks(places, [duration(p / 1e9) for p in places])
    ticks(ax.xaxis, 0, figure.length_s, 9, lambda v: f"{v:g}")
    for place, (cpu, found) in enumerate(figure.detours.items()):
        colour = COLOURS[place % len(COLOURS)]
        dots(ax, _thinned(ax, found, width), colour, 3.2, faint=len(found) > width)
        if place < len(COLOURS):
            x = width - RIGHT - 52 * (min(len(figure.detours), len(COLOURS)) - place)
            put_text(fig, x + 6, top - 18, f"CPU {cpu}", colour=colour, size=SMALL_PX)
    ax.grid(axis="y", color=LIGHT["grid"], linewidth=0.8, zorder=0)


def _spectrum(fig: Figure, ax: Axes, top: int, width: int, figure: MachineNoiseFigure) -> None:
    title = "spectrum of the lost time (ftq): ratio of each line to the median line"
    _titles(fig, top, width, title, "hertz")
    lines, bound = figure.spectrum.lines, figure.spectrum.bound
    highest = max(line.relative_power for line in lines)
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_ylim(0.3, max(highest, bound) * 4)
    last = lines[-1].frequency_hz
    ax.set_xlim(0, last * 1.01)
    ax.fill_between(
        [line.frequency_hz for line in lines],
        [max(line.relative_power, 0.3) for line in lines],
        0.3,
        facecolor=LIGHT["winner_soft"],
        edgecolor="none",
        zorder=1,
    )
    ax.plot(
        [line.frequency_hz for line in lines],
        [max(line.relative_power, 0.3) for line in lines],
        color=LIGHT["winner"],
        linewidth=0.9,
        zorder=2,
    )
    ax.axhline(bound, color=LIGHT["baseline"], linewidth=1.0, zorder=3)
    low, high = ax.get_ylim()
    share = math.log(bound / low) / math.log(high / low)
    put_text(
        fig,
        LEFT + 4,
        top - PANEL + BELOW + share * (PANEL - ABOVE - BELOW) + 4,
        "reached by chance in one series of twenty",
        colour="muted",
        size=SMALL_PX,
        backed=True,
    )
    for k, (hertz, words) in enumerate(_named(figure)):
        _name_line(fig, ax, hertz / (last * 1.01), top - ABOVE - 8 - 13 * k, width, hertz, words)
    places = [10.0**k for k in range(7) if 10.0**k <= highest * 4]
    ax.set_yticks(places, [f"{p:,.0f}" for p in places])
    ticks(ax.xaxis, 0, last, 9, lambda v: f"{v:g}")


def _named(figure: MachineNoiseFigure) -> list[tuple[float, str | None]]:
    """Return the known periods, and the tallest line if it is a multiple of one of them."""
    named = list(figure.rhythms[:4])
    tallest = max(figure.spectrum.lines, key=lambda line: line.relative_power)
    if tallest.relative_power <= figure.spectrum.bound:
        return named
    for hertz, _ in named:
        times = round(tallest.frequency_hz / hertz)
        if times >= 1 and abs(tallest.frequency_hz - times * hertz) <= 0.02 * times * hertz:
            if times == 1:
                return named
            words = f"{times} times as often as {duration(1 / hertz)}"
            return [*named[:3], (tallest.frequency_hz, words)]
    return named


def _name_line(
    fig: Figure, ax: Axes, share: float, y: float, width: int, hertz: float, words: str | None
) -> None:
    """Draw a dotted line at a period, with its name on the side with more room."""
    ax.axvline(hertz, color=LIGHT["muted"], linewidth=0.8, linestyle=":", zorder=3)
    x = LEFT + share * (width - LEFT - RIGHT)
    left = share < 0.5
    label = shorten(duration(1 / hertz) + (f": {words}" if words else ""), 60)
    put_text(
        fig,
        x + (5 if left else -5),
        y,
        label,
        colour="muted",
        size=SMALL_PX,
        align="left" if left else "right",
        backed=True,
    )


def _titles(fig: Figure, top: int, width: int, title: str, along: str) -> None:
    put_text(fig, 8, top - 18, title, colour="muted", size=SMALL_PX)
    put_text(
        fig, width - RIGHT, top - PANEL + 10, along, colour="muted", size=SMALL_PX, align="right"
    )


def _thinned(
    ax: Axes, points: tuple[tuple[float, float], ...], width: int
) -> list[tuple[float, float]]:
    """Return the points that are distinct on a logarithmic axis."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    size = ((right - left) / width, math.log(top / bottom) / (PANEL - ABOVE - BELOW))
    flat = [(x, math.log(y)) for x, y in points if y > 0]
    return [(x, math.exp(y)) for x, y in thin(flat, size, round(width * POINTS_PER_PIXEL))]


def _words(figure: MachineNoiseFigure) -> str:
    count = sum(step.count for step in figure.histogram)
    cpus = show_count(len(figure.detours), "CPU")
    longest = max((t for found in figure.detours.values() for _, t in found), default=0.0)
    words = f"{figure.date}: " if figure.date else ""
    words += f"{significant(100 * figure.share)} % of the time lost to "
    words += f"{show_count(count, 'detour')} on {cpus} in {duration(figure.length_s)}"
    if longest:
        words += f", the longest of {duration(longest / 1e9)}"
    if figure.rhythms:
        words += f"; the strongest period is {duration(1 / figure.rhythms[0][0])}"
    return f"{words}."
