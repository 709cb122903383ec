"""Rows: pictures with one row for each arm: box plots, and changes against the baseline."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.records import Goal
from assay.reporting.arms import Phase, Role
from assay.reporting.boxes import Box, BoxFigure, Dot
from assay.reporting.formatting import bound_mark, change, change_interval, shorten, whole_change
from assay.reporting.frame import Ends, frame
from assay.reporting.gains import Gain, GainFigure
from assay.reporting.pictures.canvas import (
    SMALL_PX,
    STACKED,
    WIDE,
    bare,
    canvas,
    dots,
    pluses,
    put_text,
    text_width,
    ticks,
)
from assay.reporting.pictures.theme import LIGHT, Finish, finish
from assay.units import show_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SEARCH_SHOWN = 12
"""Maximum number of arms of the search in a static picture; others are in the table."""


DOTS_SHOWN = 60
"""Maximum number of raw points of a box; the five-number summary uses all."""


_BOX_FROM = 3
"""Minimum number of launches of a box, below which quartiles are meaningless."""


_LOG_SPAN = 20.0
"""Ratio of extreme values above which the axis is logarithmic."""


_DRAWING_PX = 24
"""Height of the drawing of a stacked row, below its label, in pixels."""

PHASE_NAMES = {
    Phase.CONFIRMATION: "Confirmation: new launches, the only basis of the claim",
    Phase.SEARCH: "Search: launches that selected the candidates, without a claim",
    Phase.MEASURED: "",
}


SHORT_PHASE_NAMES = {
    Phase.CONFIRMATION: "Confirmation: basis of the claim",
    Phase.SEARCH: "Search: without a claim",
}


BEYOND = "Arrows at the edge are launches outside the axis; the table contains their values."


@dataclass(frozen=True, slots=True)
class _Frame:
    """Layout of a picture of rows, in pixels."""

    width: int
    left: int
    right: int
    row: int

    @property
    def stacked(self) -> bool:
        return self.width < STACKED


def box_svg(
    figure: BoxFigure, width: int = WIDE, name: str = "boxes", done: Finish = finish
) -> str:
    """Return box plots with whiskers at the extremes, quartiles and median."""
    shown, hidden = visible(figure.boxes, figure.others)
    frame = _Frame(width, 286, 138, 36) if width >= STACKED else _Frame(width, 10, 14, 58)
    low, high = box_limits(shown)

    def body(ax: Axes, y: float, box: Box) -> None:
        _box(ax, y, box, (low, high))

    def value_of(box: Box) -> tuple[str, str]:
        if box.summary is None:
            return box.note, ""
        more = f", {box.note}" if box.note and not frame.stacked else ""
        return figure.scale.quantity(box.summary.median), f"n = {box.summary.n}{more}"

    with canvas() as new:
        fig, ax = _rows(new, frame, shown, body, value_of, _footnote(hidden, shown))
        _value_axis(ax, low, high, lambda v: figure.scale.number(v))
        better = "less" if figure.goal is Goal.LOWER else "more"
        unit = f" in {figure.scale.unit}" if figure.scale.unit else ""
        _axis_title(fig, frame, f"{figure.metric}{unit} ({better} is better)")
        title = f"Box plots of {figure.metric}{unit}"
        return done(fig, name, title, _box_words(figure, shown))


def gain_svg(
    figure: GainFigure, width: int = WIDE, name: str = "gain", done: Finish = finish
) -> str:
    """Return changes against the baseline: an interval for claims, otherwise a hollow point."""
    shown, hidden = visible(figure.gains, figure.others)
    frame = _Frame(width, 286, 138, 36) if width >= STACKED else _Frame(width, 10, 14, 54)
    ends = [v for g in shown for v in (g.ratio, g.low, g.high) if v is not None and v > 0]
    low, high = min([*ends, 1 - 2 * figure.margin]), max([*ends, 1 + 2 * figure.margin])

    def value_of(gain: Gain) -> tuple[str, str]:
        bound = bound_mark((gain.low, gain.high)) if gain.bound_only else ""
        if gain.verdict is None:
            return f"{bound}{change(gain.ratio)}", "no claim"
        interval = change_interval((gain.low, gain.high))
        return f"{bound}{change(gain.ratio)}", gain.verdict if frame.stacked else interval

    with canvas() as new:
        fig, ax = _rows(new, frame, shown, _interval, value_of, _footnote(hidden, shown))
        margin = figure.margin
        ax.axvspan(1 - margin, 1 + margin, facecolor=LIGHT["band"], edgecolor="none", zorder=0)
        ax.axvline(1.0, color=LIGHT["baseline"], linewidth=1.2, solid_capstyle="butt", zorder=1)
        _value_axis(ax, low, high, whole_change)
        better = "left" if figure.goal is Goal.LOWER else "right"
        _axis_title(
            fig,
            frame,
            f"change of {figure.metric} against {shorten(figure.baseline, 40)}"
            + ("" if frame.stacked else f" ({better} is better; shaded: within {margin:.1%})"),
        )
        return done(
            fig, name, f"Change of {figure.metric} against {figure.baseline}", _gain_words(shown)
        )


def box_limits(boxes: Sequence[Box]) -> Ends:
    """Return the lowest and the highest value of the axis of some boxes."""
    values = [d.value for b in boxes for d in b.dots if not d.left_out]
    values += [v for b in boxes if b.summary for v in (b.summary.min, b.summary.max)]
    everything = min(values), max(values)
    near = [b.fences for b in boxes if b.fences is not None]
    return frame(near, everything) if near else everything


def omits_outliers(figure: BoxFigure) -> bool:
    """Return whether a static picture omits distant launches."""
    shown, _ = visible(figure.boxes)
    low, high = box_limits(shown)
    dots_shown = (d for b in shown for d in b.dots if not d.left_out)
    return any(not low <= d.value <= high for d in dots_shown)


def visible(rows: Sequence[Any], others: int = 0) -> tuple[list[Any], int]:
    """Return the rows of a static picture, and the number of omitted ones.

    It contains all rows with a claim, the baselines, and the best of the search.

    Args:
        rows: rows of the figure.
        others: number of arms that the figure omits.
    """
    shown: list[Any] = []
    unclaimed = 0
    for row in rows:
        claimed = row.phase is Phase.CONFIRMATION or row.role is not Role.OTHER
        unclaimed += not claimed
        if claimed or unclaimed <= SEARCH_SHOWN * (2 if row.phase is Phase.MEASURED else 1):
            shown.append(row)
    return shown, len(rows) + others - len(shown)


def _rows(
    new: Callable[[float, float], Figure],
    frame: _Frame,
    rows: Sequence[Any],
    body: Callable[[Axes, float, Any], None],
    value_of: Callable[[Any], tuple[str, str]],
    footnote: str,
) -> tuple[Figure, Axes]:
    """Draw one row for each arm: label, drawing, value; with a heading for each phase."""
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
    bare(ax)
    ax.set_ylim(plot, 0)
    top, phase = 0.0, None
    for row in rows:
        if row.phase is not phase:
            phase = row.phase
            if PHASE_NAMES[phase]:
                words = (SHORT_PHASE_NAMES if frame.stacked else PHASE_NAMES)[phase]
                put_text(
                    fig, 10, height - 4 - top - heading + 10, words, colour="muted", weight=600
                )
                # Hide lines of the plot behind headings.
                ax.axhspan(top, top + heading, facecolor=LIGHT["panel"], edgecolor="none", zorder=2)
                top += heading
        if frame.stacked:  # hide lines of the plot behind labels
            end = top + frame.row - _DRAWING_PX
            ax.axhspan(top, end, facecolor=LIGHT["panel"], edgecolor="none", zorder=2)
        _labels(fig, frame, height - 4 - top, row, value_of(row))
        body(ax, top + (frame.row - 14 if frame.stacked else frame.row / 2), row)
        top += frame.row
    if footnote:
        put_text(fig, 10, 6, footnote, colour="muted", size=SMALL_PX)
    return fig, ax


def _labels(fig: Figure, frame: _Frame, top: float, row: Any, value: tuple[str, str]) -> None:
    strong = row.role is not Role.OTHER
    weight = 600 if strong else 400
    if frame.stacked:
        room = frame.width - 30 - text_width(value[0], weight=weight)
        lines = _fitted(row.label, room, weight)
        for i, line in enumerate(lines):
            put_text(fig, 10, top - 14 - i * 13, line, weight=weight, backed=True)
        end = frame.width - 10
        put_text(fig, end, top - 14, value[0], weight=weight, align="right", backed=True)
        return
    lines = _fitted(row.label, frame.left - 16, weight)
    for i, line in enumerate(lines):
        y = top - frame.row / 2 - 4 + (len(lines) - 1) * 6.5 - i * 13
        put_text(fig, frame.left - 12, y, line, weight=weight, align="right")
    x, middle = frame.width - frame.right + 14, top - frame.row / 2 - 4
    put_text(fig, x, middle + (6.5 if value[1] else 0), shorten(value[0], 22), weight=weight)
    put_text(fig, x, middle - 7, shorten(value[1], 24), colour="muted", size=SMALL_PX)


def _fitted(label: str, room: float, weight: int) -> list[str]:
    """Return a label in at most two lines of a maximum width in pixels."""
    for width in range(_MAX_LINE_CHARACTERS, _MIN_LINE_CHARACTERS, -1):
        lines = _wrap(label, width)
        if all(text_width(line, weight=weight) <= room for line in lines):
            return lines
    return _wrap(label, _MIN_LINE_CHARACTERS)


_MAX_LINE_CHARACTERS, _MIN_LINE_CHARACTERS = 40, 12
"""Maximum and minimum number of characters of a line of a label."""


def _wrap(label: str, width: int) -> list[str]:
    """Return a label in at most two lines, broken at a space if possible."""
    label = shorten(label, 2 * width - 4)
    if len(label) <= width:
        return [label]
    at = label.rfind(" ", len(label) - width, width + 1)
    return [label[:at], label[at + 1 :]] if at > 0 else [label[:width], label[width:]]


def _box(ax: Axes, y: float, box: Box, limits: Ends) -> None:
    from matplotlib.patches import Rectangle

    low, high = limits
    colour = box.role.value
    kept = _thinned([d for d in box.dots if not d.left_out])
    if box.summary is not None and box.summary.n >= _BOX_FROM:
        s = box.summary
        line: dict[str, Any] = {"color": LIGHT[colour], "linewidth": 1.2, "zorder": 3}
        ax.plot([max(s.min, low), s.q1], [y, y], **line)
        ax.plot([s.q3, min(s.max, high)], [y, y], **line)
        for end in (s.min, s.max):
            if low <= end <= high:
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
    plain = [d.value for d in kept if not d.censored and low <= d.value <= high]
    jitter = [(value, y + spread(i) * 6) for i, value in enumerate(plain)]
    lost = _thinned([d for d in box.dots if d.left_out and low <= d.value <= high])
    pluses(ax, [(d.value, y + spread(i) * 6) for i, d in enumerate(lost)], order=4)
    size = 3.0 if len(box.dots) >= _BOX_FROM else 4.5
    dots(ax, jitter, colour, size, order=4, faint=True)
    far = [d.value for d in box.dots if not d.censored and not d.left_out]
    _arrows(ax, y, "<", colour, [low] if any(v < low for v in far) else [])
    _arrows(ax, y, ">", colour, [high] if any(v > high for v in far) else [])
    late = {min(max(d.value, low), high) for d in kept if d.censored}
    _arrows(ax, y, ">", "bad", sorted(late))


def _thinned(points: Sequence[Dot]) -> Sequence[Dot]:
    return points[:: math.ceil(len(points) / DOTS_SHOWN) or 1]


def _arrows(ax: Axes, y: float, marker: str, colour: str, places: Sequence[float]) -> None:
    """Draw arrows for values outside the axis."""
    ax.plot(
        places,
        [y] * len(places),
        linestyle="none",
        marker=marker,
        markersize=6,
        markerfacecolor="none",
        markeredgecolor=LIGHT[colour],
        zorder=6,
        clip_on=False,
    )


def spread(index: int) -> float:
    """Return the position of a point across its row, from -1 to 1, in golden-ratio steps."""
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
        ticks(ax.xaxis, low - pad, high + pad, 5, show)
    ax.grid(axis="x", color=LIGHT["grid"], linewidth=0.8, zorder=0)
    ax.set_axisbelow(True)


def _axis_title(fig: Figure, frame: _Frame, words: str) -> None:
    below = fig.axes[0].get_position().y0 * fig.get_size_inches()[1] * 72
    y = below - 38
    put_text(
        fig,
        frame.width - frame.right,
        y,
        shorten(words, 52 if frame.stacked else 100),
        colour="muted",
        size=SMALL_PX,
        align="right",
    )


def _footnote(hidden: int, shown: Sequence[Any]) -> str:
    if not hidden:
        return ""
    searched = any(row.phase is not Phase.MEASURED for row in shown)
    return f"{show_count(hidden, 'more arm')}{' of the search' if searched else ''} in the table"


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
