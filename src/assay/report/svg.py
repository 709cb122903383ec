"""Static pictures: Matplotlib's SVG, made small, deterministic and themeable.

Text stays text, colours become classes (``f-winner`` fills, ``s-winner`` strokes), so that one picture
follows the light and dark theme of the page around it. Matplotlib is imported when drawing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.records import Goal
from assay.report.arms import Phase, Role
from assay.report.figures import (
    STAGE_NAMES,
    Box,
    BoxFigure,
    ConvergenceFigure,
    Gain,
    GainFigure,
    NoiseFigure,
)
from assay.report.plain import change, change_interval, count, shorten, whole_change
from assay.report.svg_theme import LIGHT, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 880
NARROW = 340
"""Widths in CSS pixels at which pictures are drawn; below ``STACKED`` labels stand above rows."""
STACKED = 600

SEARCH_SHOWN = 12
"""Arms of the search that a static picture shows; the interactive one and the table have all."""

DOTS_SHOWN = 60
"""Raw points of one box; beyond that every k-th is drawn, the five numbers are of all."""

_BOX_FROM = 3
"""Fewer launches than that have points but no box: quartiles of two values say nothing."""

_LOG_SPAN = 20.0
"""Values that differ by more than this factor are drawn on a logarithmic axis."""

_FONT_PX = 11.5
_SMALL_PX = 11.0

PHASE_NAMES = {
    Phase.CONFIRMATION: "Confirmation: fresh launches, the claim rests on these alone",
    Phase.SEARCH: "Search: these launches chose what to confirm, no claim rests on them",
    Phase.MEASURED: "",
}
SHORT_PHASE_NAMES = {
    Phase.CONFIRMATION: "Confirmation: the claim rests on it",
    Phase.SEARCH: "Search: no claim rests on it",
}


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where things stand in a picture of rows, in pixels."""

    width: int
    left: int
    right: int
    row: int

    @property
    def stacked(self) -> bool:
        return self.width < STACKED


def box_svg(figure: BoxFigure, width: int = WIDE, name: str = "boxes") -> str:
    """Box plots: whiskers at the extremes, box from quartile to quartile, line at the median."""
    shown, hidden = visible(figure.boxes)
    frame = _Frame(width, 286, 138, 36) if width >= STACKED else _Frame(width, 10, 14, 58)
    values = [d.value for b in shown for d in b.dots]
    values += [v for b in shown if b.summary for v in (b.summary.min, b.summary.max)]
    low, high = min(values), max(values)

    def body(ax: Axes, y: float, box: Box) -> None:
        _box(ax, y, box)

    def value_of(box: Box) -> tuple[str, str]:
        if box.summary is None:
            return box.note, ""
        more = f", {box.note}" if box.note and not frame.stacked else ""
        return figure.scale.quantity(box.summary.median), f"n = {box.summary.n}{more}"

    with _canvas() as new:
        fig, ax = _rows(new, frame, shown, body, value_of, _footnote(hidden))
        _value_axis(ax, low, high, lambda v: figure.scale.number(v))
        better = "less" if figure.goal is Goal.LOWER else "more"
        unit = f" in {figure.scale.unit}" if figure.scale.unit else ""
        _axis_title(fig, frame, f"{figure.metric}{unit} ({better} is better)")
        title = f"Box plots of {figure.metric}{unit}"
        return finish(fig, name, title, _box_words(figure, shown))


def gain_svg(figure: GainFigure, width: int = WIDE, name: str = "gain") -> str:
    """Change against the baseline: an interval where something is claimed, else a hollow point."""
    shown, hidden = visible(figure.gains)
    frame = _Frame(width, 286, 138, 36) if width >= STACKED else _Frame(width, 10, 14, 54)
    ends = [v for g in shown for v in (g.ratio, g.low, g.high) if v is not None and v > 0]
    low, high = min([*ends, 1 - 2 * figure.margin]), max([*ends, 1 + 2 * figure.margin])

    def value_of(gain: Gain) -> tuple[str, str]:
        bound = "\u2264 " if gain.bound_only else ""
        if gain.verdict is None:
            return f"{bound}{change(gain.ratio)}", "no claim"
        interval = change_interval((gain.low, gain.high))
        return f"{bound}{change(gain.ratio)}", gain.verdict if frame.stacked else interval

    with _canvas() as new:
        fig, ax = _rows(new, frame, shown, _interval, value_of, _footnote(hidden))
        margin = figure.margin
        ax.axvspan(1 - margin, 1 + margin, facecolor=LIGHT["band"], edgecolor="none", zorder=0)
        ax.axvline(1.0, color=LIGHT["baseline"], linewidth=1.2, zorder=1)
        _value_axis(ax, low, high, whole_change)
        better = "left" if figure.goal is Goal.LOWER else "right"
        _axis_title(
            fig,
            frame,
            f"change of {figure.metric} against {shorten(figure.baseline, 40)}"
            + ("" if frame.stacked else f" ({better} is better; shaded: within {margin:.1%})"),
        )
        return finish(
            fig, name, f"Change of {figure.metric} against {figure.baseline}", _gain_words(shown)
        )


def convergence_svg(figure: ConvergenceFigure, width: int = WIDE, name: str = "convergence") -> str:
    """Every launch in order, the best median so far, the baseline measured again and again."""
    narrow = width < STACKED
    height, left, top = (300 if not narrow else 280), 62, 40
    with _canvas() as new:
        fig, ax = _plot(new, width, height, (left, 14, top, 44))
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
        _ticks(ax.yaxis, low - pad, high + pad, 5, figure.scale.number)
        _ticks(ax.xaxis, 1, last, 4 if narrow else 9, lambda v: f"{v:,.0f}", whole=True)
        ax.grid(axis="y", color=LIGHT["grid"], linewidth=0.8, zorder=0)
        unit = f" in {figure.scale.unit}" if figure.scale.unit else ""
        _text(fig, 8, height - 12, f"{figure.metric}{unit}", colour="muted", size=_SMALL_PX)
        _text(fig, width - 14, 8, "launch", colour="muted", size=_SMALL_PX, align="right")
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
    with _canvas() as new:
        fig, ax = _plot(new, width, height, (left, 14, 24, 40))
        numbers = [d.number for d in figure.deviations]
        percents = [d.percent for d in figure.deviations]
        reach = max(max(map(abs, percents)), figure.margin * 150) * 1.15
        ax.set_ylim(-reach, reach)
        ax.set_xlim(min(numbers) - 0.8, max(numbers) + 0.8)
        margin = figure.margin * 100
        ax.axhspan(-margin, margin, facecolor=LIGHT["band"], edgecolor="none", zorder=0)
        ax.axhline(0, color=LIGHT["baseline"], linewidth=1.0, zorder=1)
        _dots(ax, numbers, percents, "baseline", 4.5, filled=True)
        _ticks(ax.yaxis, -reach, reach, 4, lambda v: whole_change(1 + v / 100))
        _ticks(ax.xaxis, min(numbers), max(numbers), 4 if narrow else 9, _whole, whole=True)
        label = shorten(figure.baseline, 24 if narrow else 60)
        _text(fig, 8, height - 12, f"{label} against its median", colour="muted", size=_SMALL_PX)
        _text(fig, width - 14, 8, "launch", colour="muted", size=_SMALL_PX, align="right")
        return finish(
            fig,
            name,
            f"Launches of {figure.baseline} against their median",
            f"{count(len(percents), 'launch', 'launches')} between {change(1 + min(percents) / 100)}"
            f" and {change(1 + max(percents) / 100)}.",
        )


def visible(rows: Sequence[Any]) -> tuple[list[Any], int]:
    """The rows that a static picture has room for, and how many it leaves out.

    All with a claim, the baselines, and the best of the search.
    """
    shown: list[Any] = []
    others = 0
    for row in rows:
        claimed = row.phase is Phase.CONFIRMATION or row.role is not Role.OTHER
        others += not claimed
        if claimed or others <= SEARCH_SHOWN * (2 if row.phase is Phase.MEASURED else 1):
            shown.append(row)
    return shown, len(rows) - len(shown)


@contextmanager
def _canvas() -> Iterator[Callable[[float, float], Figure]]:
    """A maker of empty figures, in pixels; settings of Matplotlib hold inside only."""
    import logging
    import warnings

    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    def new(width: float, height: float) -> Figure:
        figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        figure.patch.set_visible(False)
        FigureCanvasSVG(figure)
        return figure

    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    settings = {
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


def _rows(
    new: Callable[[float, float], Figure],
    frame: _Frame,
    rows: Sequence[Any],
    body: Callable[[Axes, float, Any], None],
    value_of: Callable[[Any], tuple[str, str]],
    footnote: str,
) -> tuple[Figure, Axes]:
    """A picture with one row for each arm: label, drawing, value; a heading for each phase."""
    headings = len({row.phase for row in rows if PHASE_NAMES[row.phase]})
    heading = 34 if frame.stacked else 28
    plot = frame.row * len(rows) + heading * headings
    below = 48 + (16 if footnote else 0)
    height = plot + below + 4
    fig = new(frame.width, height)
    ax = fig.add_axes(
        (
            frame.left / frame.width,
            below / height,
            (frame.width - frame.left - frame.right) / frame.width,
            plot / height,
        )
    )
    _bare(ax)
    ax.set_ylim(plot, 0)
    top, phase = 0.0, None
    for row in rows:
        if row.phase is not phase:
            phase = row.phase
            if PHASE_NAMES[phase]:
                words = (SHORT_PHASE_NAMES if frame.stacked else PHASE_NAMES)[phase]
                _text(fig, 10, height - 4 - top - heading + 10, words, colour="muted", weight=600)
                top += heading
        _labels(fig, frame, height - 4 - top, row, value_of(row))
        body(ax, top + (frame.row - 14 if frame.stacked else frame.row / 2), row)
        top += frame.row
    if footnote:
        _text(fig, 10, 6, footnote, colour="muted", size=_SMALL_PX)
    return fig, ax


def _labels(fig: Figure, frame: _Frame, top: float, row: Any, value: tuple[str, str]) -> None:
    strong = row.role is not Role.OTHER
    weight = 600 if strong else 400
    if frame.stacked:
        lines = _wrap(row.label, 33)
        for i, line in enumerate(lines):
            _text(fig, 10, top - 14 - i * 13, line, weight=weight)
        _text(fig, frame.width - 10, top - 14, value[0], weight=weight, align="right")
        return
    lines = _wrap(row.label, 37)
    for i, line in enumerate(lines):
        y = top - frame.row / 2 - 4 + (len(lines) - 1) * 6.5 - i * 13
        _text(fig, frame.left - 12, y, line, weight=weight, align="right")
    x, middle = frame.width - frame.right + 14, top - frame.row / 2 - 4
    _text(fig, x, middle + (6.5 if value[1] else 0), shorten(value[0], 22), weight=weight)
    _text(fig, x, middle - 7, shorten(value[1], 24), colour="muted", size=_SMALL_PX)


def _wrap(label: str, width: int) -> list[str]:
    """At most two lines, broken at a space where there is one."""
    label = shorten(label, 2 * width - 4)
    if len(label) <= width:
        return [label]
    at = label.rfind(" ", len(label) - width, width + 1)
    return [label[:at], label[at + 1 :]] if at > 0 else [label[:width], label[width:]]


def _box(ax: Axes, y: float, box: Box) -> None:
    from matplotlib.patches import Rectangle

    colour = box.role.value
    kept = box.dots[:: math.ceil(len(box.dots) / DOTS_SHOWN) or 1]
    if box.summary is not None and box.summary.n >= _BOX_FROM:
        s = box.summary
        line = {"color": LIGHT[colour], "linewidth": 1.2, "zorder": 3}
        ax.plot([s.min, s.q1], [y, y], **line)
        ax.plot([s.q3, s.max], [y, y], **line)
        for end in (s.min, s.max):
            ax.plot([end, end], [y - 4, y + 4], **line)
        ax.add_patch(
            Rectangle(
                (s.q1, y - 8),
                s.q3 - s.q1,
                16,
                facecolor=LIGHT[f"{colour}_soft"],
                edgecolor=LIGHT[colour],
                linewidth=1.2,
                zorder=3,
            )
        )
        ax.plot([s.median, s.median], [y - 8, y + 8], **{**line, "linewidth": 2.4, "zorder": 5})
    plain = [d for d in kept if not d.censored]
    jitter = [y + spread(i) * 6 for i in range(len(plain))]
    size = 3.0 if len(box.dots) >= _BOX_FROM else 4.5
    _dots(ax, [d.value for d in plain], jitter, colour, size, filled=True, order=4, faint=True)
    late = [d for d in kept if d.censored]
    ax.plot(
        [d.value for d in late],
        [y] * len(late),
        linestyle="none",
        marker=">",
        markersize=6,
        markerfacecolor="none",
        markeredgecolor=LIGHT["bad"],
        zorder=6,
    )


def spread(index: int) -> float:
    """Where the k-th point of a row stands across it, -1 to 1: golden-ratio steps, no chance."""
    return ((index * 0.6180339887498949 + 0.5) % 1.0) * 2.0 - 1.0


def _interval(ax: Axes, y: float, gain: Gain) -> None:
    colour = LIGHT[gain.role.value]
    if gain.verdict is not None:
        left, right = ax.get_xlim() if gain.low is None or gain.high is None else (0.0, 0.0)
        low, high = gain.low or left, gain.high or right
        ax.plot([low, high], [y, y], color=colour, linewidth=2.2, zorder=3)
        for end in (gain.low, gain.high):
            if end is not None:
                ax.plot([end, end], [y - 5, y + 5], color=colour, linewidth=1.6, zorder=3)
    ax.plot(
        [gain.ratio],
        [y],
        linestyle="none",
        marker="o",
        markersize=7,
        markerfacecolor=colour if gain.verdict is not None else LIGHT["panel"],
        markeredgecolor=colour,
        markeredgewidth=1.4,
        zorder=4,
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
                fontsize=_SMALL_PX,
                color=LIGHT["muted"],
                parse_math=False,
            )


def _draw_marks(ax: Axes, figure: ConvergenceFigure) -> None:
    bottom, top = ax.get_ylim()
    for role, size in ((Role.OTHER, 3.6), (Role.WINNER, 4.2), (Role.BASELINE, 4.2)):
        inside = [
            m
            for m in figure.marks
            if m.role is role and not m.censored and bottom <= m.value <= top
        ]
        _dots(
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


def _dots(
    ax: Axes,
    x: Sequence[float],
    y: Sequence[float],
    colour: str,
    size: float,
    *,
    filled: bool,
    order: int = 2,
    faint: bool = False,
) -> None:
    ax.plot(
        x,
        y,
        linestyle="none",
        marker="o",
        markersize=size,
        markerfacecolor=LIGHT[colour] if filled else LIGHT["panel"],
        markeredgecolor="none" if filled else LIGHT[colour],
        alpha=0.55 if faint else 0.8,
        zorder=order,
    )


def _plot(
    new: Callable[[float, float], Figure],
    width: int,
    height: int,
    margins: tuple[int, int, int, int],
) -> tuple[Figure, Axes]:
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
    _bare(ax)
    ax.spines["left"].set_visible(False)
    return fig, ax


def _bare(ax: Axes) -> None:
    ax.patch.set_visible(False)
    ax.set_yticks([])
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(LIGHT["grid"])
    ax.tick_params(length=0, colors=LIGHT["muted"], labelsize=_SMALL_PX, pad=6)


def _value_axis(ax: Axes, low: float, high: float, show: Callable[[float], str]) -> None:
    if low > 0 and high / low > _LOG_SPAN:
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.set_xlim(low / 1.15, high * 1.15)
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        places = [10.0**d * k for d in decades for k in (1, 3)]
        places = [p for p in places if low / 1.15 <= p <= high * 1.15]
        ax.set_xticks(places, [show(p) for p in places])
    else:
        pad = (high - low or abs(high) or 1.0) * 0.04
        ax.set_xlim(low - pad, high + pad)
        _ticks(ax.xaxis, low - pad, high + pad, 5, show)
    ax.grid(axis="x", color=LIGHT["grid"], linewidth=0.8, zorder=0)
    ax.set_axisbelow(True)


def _ticks(
    axis: Any,
    low: float,
    high: float,
    at_most: int,
    show: Callable[[float], str],
    *,
    whole: bool = False,
) -> None:
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(nbins=at_most, integer=whole, steps=[1, 2, 2.5, 5, 10])
    places = [float(p) for p in locator.tick_values(low, high) if low <= p <= high]
    axis.set_ticks(places, [show(p) for p in places])
    for label in axis.get_ticklabels():
        label.set_parse_math(False)


def _axis_title(fig: Figure, frame: _Frame, words: str) -> None:
    below = fig.axes[0].get_position().y0 * fig.get_size_inches()[1] * 72
    y = below - 38
    _text(
        fig,
        frame.width - frame.right,
        y,
        shorten(words, 52 if frame.stacked else 100),
        colour="muted",
        size=_SMALL_PX,
        align="right",
    )


def _text(
    fig: Figure,
    x: float,
    y: float,
    words: str,
    *,
    colour: str = "ink",
    size: float = _FONT_PX,
    weight: int = 400,
    align: str = "left",
) -> None:
    """Text at a place in pixels from the lower left corner, never read as mathematics."""
    width, height = fig.get_size_inches() * 72
    fig.text(
        x / width,
        y / height,
        words,
        color=LIGHT[colour],
        fontsize=size,
        fontweight=weight,
        ha=align,
        va="baseline",
        parse_math=False,
    )


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _footnote(hidden: int) -> str:
    return f"{count(hidden, 'more arm')} of the search in the table" if hidden else ""


def _box_words(figure: BoxFigure, shown: Sequence[Box]) -> str:
    parts = [
        f"{b.label}: median {figure.scale.quantity(b.summary.median)}, from "
        f"{figure.scale.number(b.summary.min)} to {figure.scale.quantity(b.summary.max)}, "
        f"n = {b.summary.n}"
        for b in shown
        if b.summary
    ]
    return "; ".join(parts[:8]) + ("." if len(parts) <= 8 else "; and more, all in the table.")


def _gain_words(shown: Sequence[Gain]) -> str:
    parts = [
        f"{g.label}: {change(g.ratio)}"
        + (f", {change_interval((g.low, g.high))}, {g.verdict}" if g.verdict else ", no claim")
        for g in shown
    ]
    return "; ".join(parts[:8]) + ("." if len(parts) <= 8 else "; and more, all in the table.")


def _convergence_words(figure: ConvergenceFigure) -> str:
    words = f"{count(len(figure.marks), 'launch', 'launches')} with a value."
    if figure.best:
        last = figure.best[-1]
        words += f" Best median at the end: {figure.scale.quantity(last.value)} with {last.arm}."
    return words
