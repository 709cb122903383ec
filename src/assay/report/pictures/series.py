"""Series: pictures along the launches of a study: how it went, and how the baseline varied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.arms import Role
from assay.report.figures import STAGE_NAMES, ConvergenceFigure, NoiseFigure
from assay.report.pictures.canvas import (
    SMALL_PX,
    STACKED,
    WIDE,
    canvas,
    dots,
    plot,
    put_text,
    ticks,
)
from assay.report.pictures.theme import LIGHT, finish
from assay.report.plain import change, shorten, whole_change
from assay.units import show_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def convergence_svg(figure: ConvergenceFigure, width: int = WIDE, name: str = "convergence") -> str:
    """Every launch in order, the best median so far, the baseline measured again and again."""
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
        _draw_marks(ax, figure)
        if figure.drift:
            ax.plot(
                [m.number for m in figure.drift],
                [m.value for m in figure.drift],
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
        return finish(
            fig,
            name,
            f"{figure.metric}{unit} of every launch, in order",
            _convergence_words(figure),
        )


def noise_svg(figure: NoiseFigure, width: int = WIDE, name: str = "noise") -> str:
    """Launches of the baseline around their median, with what counts as the same shaded."""
    narrow = width < STACKED
    height, left = 176, 62
    with canvas() as new:
        fig, ax = plot(new, width, height, (left, 14, 24, 40))
        numbers = [d.number for d in figure.deviations]
        percents = [d.percent for d in figure.deviations]
        reach = max(max(map(abs, percents)), figure.margin * 150) * 1.15
        ax.set_ylim(-reach, reach)
        ax.set_xlim(min(numbers) - 0.8, max(numbers) + 0.8)
        margin = figure.margin * 100
        ax.axhspan(-margin, margin, facecolor=LIGHT["band"], edgecolor="none", zorder=0)
        ax.axhline(0, color=LIGHT["baseline"], linewidth=1.0, zorder=1)
        dots(ax, numbers, percents, "baseline", 4.5, filled=True)
        ticks(ax.yaxis, -reach, reach, 4, lambda v: whole_change(1 + v / 100))
        ticks(ax.xaxis, min(numbers), max(numbers), 4 if narrow else 9, _whole, whole=True)
        label = shorten(figure.baseline, 24 if narrow else 60)
        put_text(fig, 8, height - 12, f"{label} against its median", colour="muted", size=SMALL_PX)
        put_text(fig, width - 14, 8, "launch", colour="muted", size=SMALL_PX, align="right")
        return finish(
            fig,
            name,
            f"Launches of {figure.baseline} against their median",
            f"{show_count(len(percents), 'launch', 'launches')} between "
            f"{change(1 + min(percents) / 100)} and {change(1 + max(percents) / 100)}.",
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


def _draw_marks(ax: Axes, figure: ConvergenceFigure) -> None:
    bottom, top = ax.get_ylim()
    for role, size in ((Role.OTHER, 3.6), (Role.WINNER, 4.2), (Role.BASELINE, 4.2)):
        inside = [
            m
            for m in figure.marks
            if m.role is role and not m.censored and bottom <= m.value <= top
        ]
        dots(
            ax, [m.number for m in inside], [m.value for m in inside], role.value, size, filled=True
        )
    for marker, colour, marks in (
        ("^", "other", [m.number for m in figure.marks if m.value > top and not m.censored]),
        ("v", "other", [m.number for m in figure.marks if m.value < bottom and not m.censored]),
        ("^", "bad", [m.number for m in figure.marks if m.censored]),
        ("x", "bad", list(figure.failed)),
    ):
        edge = 0.015 if marker in "vx" else 0.985
        ax.plot(
            marks,
            [edge] * len(marks),
            transform=ax.get_xaxis_transform(),
            linestyle="none",
            marker=marker,
            markersize=5,
            markerfacecolor="none",
            markeredgecolor=LIGHT[colour],
            zorder=5,
            clip_on=False,
        )


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _convergence_words(figure: ConvergenceFigure) -> str:
    words = f"{show_count(len(figure.marks), 'launch', 'launches')} with a value."
    if figure.best:
        last = figure.best[-1]
        words += f" Best median at the end: {figure.scale.quantity(last.value)} with {last.arm}."
    return words
