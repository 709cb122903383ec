"""Series: pictures of launches in order: course of the study, variation of the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.reporting.arms import Role
from assay.reporting.convergence import STAGE_NAMES, ConvergenceFigure
from assay.reporting.formatting import MINUS, NBSP, change, shorten
from assay.reporting.noise_floor import NoiseFigure
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
from assay.reporting.pictures.theme import LIGHT, Finish, finish
from assay.reporting.pictures.thin import Point, thin
from assay.units import show_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def convergence_svg(
    figure: ConvergenceFigure, width: int = WIDE, name: str = "convergence", done: Finish = finish
) -> str:
    """Return all launches in order, the best median, and the measurements of the baseline."""
    narrow = width < STACKED
    height, left, top = (300 if not narrow else 280), 62, 40
    with canvas() as new:
        fig, ax = plot(new, width, height, (left, 14, top, 44))
        low, high = figure.frame
        pad = (high - low or abs(high) or 1.0) * 0.06
        ax.set_ylim(low - pad, high + pad)
        last = max(m.number for m in figure.marks)
        ax.set_xlim(0.2, last + 0.8)
        _draw_spans(ax, figure, width - left - 14)
        _draw_marks(ax, figure, (width, height))
        if figure.drift:
            line = _thinned(ax, [(m.number, m.value) for m in figure.drift], (width, height))
            ax.plot(
                [x for x, _ in line],
                [y for _, y in line],
                color=LIGHT["baseline"],
                linewidth=1.0,
                zorder=3,
            )
        if figure.best:
            steps = [*figure.best]
            ax.step(
                [s.number for s in steps] + [last],
                [s.value for s in steps] + [steps[-1].value],
                where="post",
                color=LIGHT["winner"],
                linewidth=2.0,
                zorder=4,
            )
        ticks(ax.yaxis, low - pad, high + pad, 5, figure.scale.number)
        ticks(ax.xaxis, 1, last, 4 if narrow else 9, lambda v: f"{v:,.0f}", whole=True)
        ax.grid(axis="y", color=LIGHT["grid"], linewidth=0.8, zorder=0)
        unit = f" in {figure.scale.unit}" if figure.scale.unit else ""
        put_text(fig, 8, height - 12, f"{figure.metric}{unit}", colour="muted", size=SMALL_PX)
        put_text(fig, width - 14, 8, "launch", colour="muted", size=SMALL_PX, align="right")
        return done(
            fig,
            name,
            f"{figure.metric}{unit} of every launch, in order",
            _convergence_words(figure),
        )


def noise_svg(
    figure: NoiseFigure, width: int = WIDE, name: str = "noise", done: Finish = finish
) -> str:
    """Return the deviations of the baseline from its median, with the margin shaded."""
    narrow = width < STACKED
    height, left = 176, 62
    with canvas() as new:
        fig, ax = plot(new, width, height, (left, 14, 24, 40))
        numbers, percents = figure.numbers, figure.percents
        low, high = figure.frame
        ax.set_ylim(low, high)
        ax.set_xlim(min(numbers) - 0.8, max(numbers) + 0.8)
        margin = figure.margin * 100
        ax.axhspan(-margin, margin, facecolor=LIGHT["band"], edgecolor="none", zorder=0)
        ax.axhline(0, color=LIGHT["baseline"], linewidth=1.0, zorder=1)
        launches = list(zip(numbers, percents, strict=True))
        inside = [launch for launch in launches if low <= launch[1] <= high]
        dots(ax, _thinned(ax, inside, (width, height)), "baseline", 4.5)
        above = [number for number, percent in launches if percent > high]
        below = [number for number, percent in launches if percent < low]
        _draw_edge(ax, "^", "baseline", above)
        _draw_edge(ax, "v", "baseline", below)
        ticks(ax.yaxis, low, high, 4, _percent)
        ticks(ax.xaxis, min(numbers), max(numbers), 4 if narrow else 9, _integer_text, whole=True)
        label = shorten(figure.baseline, 24 if narrow else 60)
        put_text(fig, 8, height - 12, f"{label} against its median", colour="muted", size=SMALL_PX)
        put_text(fig, width - 14, 8, "launch", colour="muted", size=SMALL_PX, align="right")
        far = len(figure.beyond)
        beyond = f" {far} of them {'is' if far == 1 else 'are'} outside the axis." if far else ""
        return done(
            fig,
            name,
            f"Launches of {figure.baseline} against their median",
            f"{show_count(len(percents), 'launch', 'launches')} between "
            f"{change(1 + min(percents) / 100)} and {change(1 + max(percents) / 100)}.{beyond}",
        )


def _draw_spans(ax: Axes, figure: ConvergenceFigure, pixels: float) -> None:
    total = figure.marks[-1].number
    for i, span in enumerate(figure.spans):
        if i:
            ax.axvline(span.first - 0.5, color=LIGHT["grid"], linewidth=1.0, zorder=1)
        name = STAGE_NAMES.get(span.stage, span.stage)
        room = (span.last - span.first + 1) / total * pixels
        if room > 6.6 * len(name):
            middle = (span.first + span.last) / 2
            ax.text(
                middle,
                1.03,
                name,
                transform=ax.get_xaxis_transform(),
                ha="center",
                fontsize=SMALL_PX,
                color=LIGHT["muted"],
            )


def _draw_marks(ax: Axes, figure: ConvergenceFigure, pixels: tuple[int, int]) -> None:
    bottom, top = ax.get_ylim()
    for role, size in ((Role.OTHER, 3.6), (Role.WINNER, 4.2), (Role.BASELINE, 4.2)):
        inside = [
            (m.number, m.value)
            for m in figure.marks
            if m.role is role and not (m.censored or m.left_out) and bottom <= m.value <= top
        ]
        dots(ax, _thinned(ax, inside, pixels), role.value, size)
    lost = [(m.number, m.value) for m in figure.marks if m.left_out and bottom <= m.value <= top]
    pluses(ax, _thinned(ax, lost, pixels))
    plain = [m for m in figure.marks if not m.censored and not m.left_out]
    _draw_edge(ax, "^", "other", [m.number for m in plain if m.value > top])
    _draw_edge(ax, "v", "other", [m.number for m in plain if m.value < bottom])
    _draw_edge(ax, "^", "bad", [m.number for m in figure.marks if m.censored])
    _draw_edge(ax, "x", "bad", figure.failed)


def _draw_edge(ax: Axes, marker: str, colour: str, numbers: Sequence[int]) -> None:
    """Draw launches outside the axis at its upper or lower edge."""
    edge = 0.015 if marker in "vx" else 0.985
    first, last = ax.get_xlim()
    shown = thin([(n, edge) for n in numbers], ((last - first) / _EDGE_MARKS, 1.0), _EDGE_MARKS)
    ax.plot(
        [x for x, _ in shown],
        [y for _, y in shown],
        transform=ax.get_xaxis_transform(),
        linestyle="none",
        marker=marker,
        markersize=5,
        markerfacecolor="none",
        markeredgecolor=LIGHT[colour],
        zorder=5,
        clip_on=False,
    )


_EDGE_MARKS = 150


def _thinned(ax: Axes, points: Sequence[Point], pixels: tuple[int, int]) -> list[Point]:
    """Return the points that are distinct in a picture of this size, margins included."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    size = ((right - left) / pixels[0], (top - bottom) / pixels[1])
    return thin(points, size, round(pixels[0] * POINTS_PER_PIXEL))


def _percent(value: float) -> str:
    """Return a deviation in per cent, for an axis."""
    shown = f"{value:+,.1f}".removesuffix(".0").replace("-", MINUS)
    return f"{shown if value else '0'}{NBSP}%"


def _integer_text(value: float) -> str:
    return f"{value:,.0f}"


def _convergence_words(figure: ConvergenceFigure) -> str:
    words = f"{show_count(figure.launches, 'launch', 'launches')} with a value."
    if figure.launches > len(figure.marks):
        words += f" {len(figure.marks):,} of them are drawn."
    lost = sum(mark.left_out for mark in figure.marks)
    if lost:
        words += f" {lost:,} of them were left out, shown as plus signs."
    if figure.best:
        last = figure.best[-1]
        words += f" Best median: {figure.scale.quantity(last.value)} with {last.arm}."
    return words
