"""Machine drawing: layout of the boxes of a machine, written as SVG.

It is written without Matplotlib, in milliseconds, because there is nothing to plot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from xml.etree import ElementTree

from assay.machine.document import Machine
from assay.machine.inventory.document import Inventory
from assay.reporting.formatting import shorten
from assay.reporting.machine_boxes import Box, badge, machine_box, short_bytes
from assay.reporting.pictures.theme import standalone
from assay.units import show_count
from assay.untrusted import clean

_SVG = "http://www.w3.org/2000/svg"
_FONT = 11.0
_CHARACTER = 6.3
"""Upper estimate of the average width of a character, in pixels."""
_LINE = 15.0
_PAD = 8.0
_GAP = 6.0
_WIDEST = 1500.0
"""Maximum width of boxes side by side, in pixels."""
_SHAPE = 1.7
"""Preferred ratio of width to height: that of a screen."""
_MIXED = 1.1
"""Cost factor of rows with boxes of different kinds."""
_BEHIND = 3.0
"""Visible width of the boxes behind a box that represents several, in pixels."""
_LONGEST = 44
"""Maximum number of characters of a line; longer ones are shortened in the middle."""

_LOOKS = {
    "machine": ("panel", "baseline"),
    "package": ("page", "other"),
    "group": ("band", "other"),
    "die": ("band", "other"),
    "cache": ("other-soft", "other"),
    "core": ("panel", "other"),
    "memory": ("heat-5", "winner"),
    "device": ("panel", "good"),
    "below": ("panel", "warn"),
    "usable": ("baseline-soft", "other"),
    "performance": ("winner-soft", "winner"),
    "efficiency": ("baseline-soft", "baseline"),
    "barred": ("panel", "other"),
}
"""Roles of fill and edge (``pictures.theme``) by kind or look."""

_LEGEND = (
    ("usable", "CPU"),
    ("performance", "performance CPU"),
    ("efficiency", "efficiency CPU"),
    ("barred", "CPU outside the affinity mask"),
    ("memory", "memory"),
    ("device", "device"),
    ("below", "device with reduced link speed"),
)


@dataclass(frozen=True)
class _Placed:
    """Box with its position; ``within`` are the boxes in it, relative to its corner."""

    box: Box
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    within: tuple[_Placed, ...] = ()


def machine_svg(machine: Machine, inventory: Inventory) -> str:
    """Return a drawing of the machine as a standalone SVG document."""
    box = machine_box(machine, inventory)
    placed = _placed(box)
    looks = [(look, text) for look, text in _LEGEND if look in set(_looks(box))]
    legend = _legend_rows(looks, max(placed.width, 360.0), _folds(box))
    head = 26.0
    width = max(placed.width, 360.0) + 2 * _PAD
    height = head + placed.height + _BEHIND + len(legend) * 20 + 2 * _PAD
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": _SVG,
            "viewBox": f"0 0 {_number(width)} {_number(height)}",
            "width": _number(width),
            "height": _number(height),
            "role": "img",
            "aria-labelledby": "machine-title machine-words",
        },
    )
    title = clean(f"{machine.model}, {short_bytes(machine.memory_bytes)}".rstrip(", "))
    for tag, name, text in (
        ("title", "machine-title", title),
        ("desc", "machine-words", _words(machine)),
    ):
        ElementTree.SubElement(root, tag, {"id": name}).text = text
    _rect(root, 0, 0, width, height, "page", None)
    _write(root, _PAD, 20, shorten(title, int(width / 7.5)), size=13.0, weight="600")
    _draw(root, placed, _PAD, head)
    _legend(root, legend, head + placed.height + _PAD + _BEHIND)
    return standalone(ElementTree.tostring(root, encoding="unicode"))


def _words(machine: Machine) -> str:
    packages = show_count(len({cpu.package for cpu in machine.cpus}), "package")
    cores = show_count(len({cpu.core for cpu in machine.cpus}), "core")
    nodes = show_count(len(machine.nodes), "NUMA node")
    return f"{packages}, {cores}, {show_count(len(machine.cpus), 'CPU')}, {nodes}."


def _looks(box: Box) -> Iterator[str]:
    yield box.look or box.kind
    for inner in (*box.memory, *box.inner, *box.devices):
        yield from _looks(inner)


def _folds(box: Box) -> bool:
    inner = (*box.inner, *box.devices)
    return box.times > 1 or any(map(_folds, inner))


def _texts(box: Box) -> tuple[str, ...]:
    lines = tuple(shorten(clean(line), _LONGEST) for line in box.lines)
    mark = badge(box)
    if not mark:
        return lines
    if box.kind in ("device", "cpu"):
        return (f"{lines[0]}  {mark}", *lines[1:])
    return (*lines, shorten(mark, _LONGEST))


_HEAVY = ("machine", "package", "device")
"""Kinds with bold names, which are wider."""


def _longest_line(box: Box, lines: Sequence[str]) -> float:
    """Return the width of the longest line, in pixels."""
    first = len(lines[0]) * (1.15 if box.kind in _HEAVY else 1.0) if lines else 0.0
    return max([first, *map(len, lines[1:])]) * _CHARACTER


def _placed(box: Box) -> _Placed:
    """Return the layout of a box: name, memory, inner boxes, devices, from top to bottom."""
    lines = _texts(box)
    if box.kind == "cpu":
        return _Placed(box, max(26.0, _longest_line(box, lines) + 10), 22.0)
    if box.kind in ("device", "memory"):
        return _Placed(box, _longest_line(box, lines) + 2 * _PAD, len(lines) * _LINE + _GAP)
    memory = [_placed(item) for item in box.memory]
    grid = _grid([_placed(item) for item in box.inner])
    widest = max([_longest_line(box, lines), *(item.width for item in memory), *map(_right, grid)])
    devices = _in_rows([_placed(device) for device in box.devices], max(widest, _WIDEST / 4))
    inside = max([widest, *map(_right, devices)])
    within: list[_Placed] = []
    y = _PAD + len(lines) * _LINE
    for item in memory:
        within.append(_Placed(item.box, inside, item.height, _PAD, y))
        y += item.height + _GAP
    for block in (grid, devices):
        within.extend(replace(item, x=item.x + _PAD, y=item.y + y) for item in block)
        y += max((item.y + item.height + _behind(item.box) for item in block), default=-_GAP) + _GAP
    return _Placed(box, inside + 2 * _PAD, y - _GAP + _PAD, within=tuple(within))


def _grid(boxes: Sequence[_Placed]) -> list[_Placed]:
    """Return boxes in rows of the width that is nearest to the shape of a screen."""
    if not boxes:
        return []
    runs = [_equally_wide(list(run)) for _, run in groupby(boxes, lambda box: box.box.shape)]
    longest = max(runs, key=len)
    step = longest[0].width + _behind(longest[0].box) + _GAP
    widths = {number * step for number in range(1, len(longest) + 1)}
    widths |= set(accumulate(box.width + _behind(box.box) + _GAP for box in boxes))
    even = [item for run in runs for item in run]
    found = [
        (_shape_cost(rows, tidy), rows)
        for width in sorted(widths)
        for tidy, rows in ((True, _stacked(runs, width)), (False, _in_rows(even, width)))
    ]
    return min(found, key=lambda item: item[0])[1]


def _equally_wide(run: list[_Placed]) -> list[_Placed]:
    """Return identical boxes with the width of the widest."""
    widest = max(item.width for item in run)
    return [replace(item, width=widest) for item in run]


def _shape_cost(boxes: Sequence[_Placed], tidy: bool) -> tuple[float, float]:
    """Return the distance from the preferred shape; rows with several kinds cost more."""
    width = max(box.x + box.width for box in boxes)
    height = max(box.y + box.height for box in boxes)
    over = max(0.0, width - _WIDEST)
    return (max(width / _SHAPE, height) + over) * (1.0 if tidy else _MIXED), height


def _stacked(runs: Sequence[list[_Placed]], width: float) -> list[_Placed]:
    """Return runs of identical boxes in rows; all runs share a row if there is enough room."""
    if sum(item.width + _behind(item.box) + _GAP for run in runs for item in run) <= width:
        return _in_rows([item for run in runs for item in run], width)
    found: list[_Placed] = []
    y = 0.0
    for run in runs:
        rows = _in_rows(run, width)
        found.extend(replace(row, y=row.y + y) for row in rows)
        y += max(row.y + row.height + _behind(row.box) for row in rows) + _GAP
    return found


def _in_rows(boxes: Sequence[_Placed], width: float) -> list[_Placed]:
    """Return boxes in as many rows as needed."""
    found: list[_Placed] = []
    x = y = tallest = 0.0
    for box in boxes:
        if x > 0 and x + box.width > width + 0.5:
            x, y, tallest = 0.0, y + tallest + _GAP, 0.0
        found.append(replace(box, x=x, y=y))
        x += box.width + _behind(box.box) + _GAP
        tallest = max(tallest, box.height + _behind(box.box))
    return found


def _right(item: _Placed) -> float:
    return item.x + item.width + _behind(item.box)


def _behind(box: Box) -> float:
    return 2 * _BEHIND if box.times > 1 else 0.0


def _draw(root: ElementTree.Element, placed: _Placed, x: float, y: float) -> None:
    x, y = x + placed.x, y + placed.y
    box = placed.box
    look = box.look or box.kind
    fill, edge = _LOOKS[look]
    if box.times > 1:
        for step in (2, 1):
            away = step * _BEHIND
            _rect(root, x + away, y + away, placed.width, placed.height, fill, edge)
    _rect(root, x, y, placed.width, placed.height, fill, edge, dashed=look == "barred")
    colour = "muted" if look == "barred" else "ink"
    lines = _texts(box)
    if box.kind == "cpu":
        middle = x + placed.width / 2
        _write(root, middle, y + placed.height / 2 + 4, lines[0], colour=colour, middle=True)
        return
    top = y + (3.0 if box.kind in ("memory", "device") else _PAD - 3)
    for number, line in enumerate(lines):
        heavy = number == 0 and box.kind in _HEAVY
        weight = "600" if heavy else "400"
        _write(root, x + _PAD, top + (number + 0.75) * _LINE, line, colour=colour, weight=weight)
    for item in placed.within:
        _draw(root, item, x, y)


Row = list[tuple[str, str]]
_FOLDED = ("", "\u00d7 n: n identical ones, drawn once")


def _legend_rows(looks: Sequence[tuple[str, str]], width: float, folded: bool) -> list[Row]:
    rows: list[Row] = [[]]
    x = 0.0
    for entry in (*looks, *([_FOLDED] if folded else [])):
        wide = 18 + len(entry[1]) * _CHARACTER + 16
        if rows[-1] and x + wide > width:
            rows.append([])
            x = 0.0
        rows[-1].append(entry)
        x += wide
    return rows


def _legend(root: ElementTree.Element, rows: Sequence[Row], y: float) -> None:
    for row in rows:
        x = _PAD
        for look, text in row:
            if look:
                fill, edge = _LOOKS[look]
                _rect(root, x, y, 12, 12, fill, edge, dashed=look == "barred")
                x += 18
            _write(root, x, y + 10, text, colour="muted")
            x += len(text) * _CHARACTER + 16
        y += 20


def _rect(
    root: ElementTree.Element,
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    edge: str | None,
    dashed: bool = False,
) -> None:
    attributes = {
        "x": _number(x),
        "y": _number(y),
        "width": _number(width),
        "height": _number(height),
        "class": f"f-{fill}" + (f" s-{edge}" if edge else ""),
    }
    if edge:
        attributes["rx"] = "3"
    if dashed:
        attributes["stroke-dasharray"] = "3 2"
    ElementTree.SubElement(root, "rect", attributes)


def _write(
    root: ElementTree.Element,
    x: float,
    y: float,
    text: str,
    *,
    colour: str = "ink",
    size: float = _FONT,
    weight: str = "400",
    middle: bool = False,
) -> None:
    attributes = {
        "x": _number(x),
        "y": _number(y),
        "class": f"f-{colour}",
        "font-size": _number(size),
    }
    if weight != "400":
        attributes["font-weight"] = weight
    if middle:
        attributes["text-anchor"] = "middle"
    ElementTree.SubElement(root, "text", attributes).text = text


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
