"""Theme: conversion of Matplotlib's SVG into one with themes.

Every colour of a picture is in ``LIGHT``. ``finish`` replaces colours by classes, which the style
sheet of the page defines. ``standalone`` creates a separate file.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"

LIGHT = {
    "ink": "#1a1f26",
    "muted": "#56616e",
    "grid": "#dfe4ea",
    "panel": "#ffffff",
    "band": "#eef1f4",
    "baseline": "#414c59",
    "baseline_soft": "#d5dbe2",
    "winner": "#0b5fb4",
    "winner_soft": "#cfe3f8",
    "other": "#7b8794",
    "other_soft": "#eceff2",
    "bad": "#b3261e",
    "good": "#1a7343",
    "warn": "#875800",
    "page": "#f6f7f9",
    "heat_0": "#5aa0d8",
    "heat_1": "#79b2e0",
    "heat_2": "#96c3e7",
    "heat_3": "#b1d2ed",
    "heat_4": "#c9e0f3",
    "heat_5": "#deecf8",
    "heat_6": "#f0f6fb",
}
"""Colours by role; each value is unique, so that it identifies its role."""

DARK = {
    "ink": "#e8ecf1",
    "muted": "#a5b0bd",
    "grid": "#333b45",
    "panel": "#171b20",
    "band": "#242b33",
    "baseline": "#c6cfd9",
    "baseline_soft": "#414b57",
    "winner": "#6db3f8",
    "winner_soft": "#1d3a57",
    "other": "#8592a0",
    "other_soft": "#2a323b",
    "bad": "#ff8a80",
    "good": "#67cf95",
    "warn": "#e3b15c",
    "page": "#0f1216",
    "heat_0": "#27679c",
    "heat_1": "#22598a",
    "heat_2": "#1f4c75",
    "heat_3": "#1c4062",
    "heat_4": "#1a3550",
    "heat_5": "#192b3f",
    "heat_6": "#182330",
}

PNG_DPI = 144
"""Pixels per inch of PNG files: 72 are one CSS pixel each."""

_NAMES = {colour: role.replace("_", "-") for role, colour in LIGHT.items()}
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_ROUNDED = frozenset({"d", "x", "y", "width", "height", "transform", "points", "x1", "x2"})
_ATTRIBUTES = frozenset(
    {"stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "fill-opacity", "text-anchor"}
)


def style(scope: str = "") -> str:
    """Return the rules for light and dark colours; ``scope`` is a prefix of all selectors."""
    light = "".join(_rules(scope, LIGHT))
    dark = "".join(_rules(scope, DARK))
    font = f"{scope}text{{font-family:system-ui,sans-serif}}"
    return f"{font}{light}@media (prefers-color-scheme:dark){{{dark}}}"


def page_style() -> str:
    """Return the custom properties of a page, and the classes of its pictures."""
    light, dark = (
        "".join(f"--{role.replace('_', '-')}:{colour};" for role, colour in palette.items())
        for palette in (LIGHT, DARK)
    )
    classes = "".join(
        f".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}"
        for name in _NAMES.values()
    )
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}{classes}"
    )


Finish = Callable[["Figure", str, str, str], str]
"""Function that creates a document from a figure, name, title and description."""


class PngFinish:
    """Finish that stores a figure as PNG, two pixels for each CSS pixel, in light colours.

    Attributes:
        data: contents of the file after the call.
    """

    def __init__(self) -> None:
        self.data = b""

    def __call__(self, fig: Figure, name: str, title: str, words: str) -> str:
        """Draw the figure and return an empty document."""
        out = io.BytesIO()
        metadata = {"Title": title, "Description": words, "Software": None}
        fig.patch.set_visible(True)
        _lengthen(fig)
        colour = LIGHT["panel"]
        fig.savefig(out, format="png", dpi=PNG_DPI, facecolor=colour, metadata=metadata)
        self.data = out.getvalue()
        return ""


_LENGTH = 1e-5
"""Length of lines that represent dots, relative to the axis: raster drawing skips zero lengths."""


def _lengthen(fig: Figure) -> None:
    """Extend the zero-length lines of dots invisibly for raster drawing."""
    import numpy as np
    from matplotlib.patches import PathPatch

    for ax in fig.axes:
        low, high = ax.get_xlim()
        for patch in ax.patches:
            if isinstance(patch, PathPatch) and not patch.get_fill():
                places = np.array(patch.get_path().vertices, dtype=float)
                if np.array_equal(places[::2], places[1::2]):
                    places[1::2, 0] += _LENGTH * (high - low)
                    patch.set_path(type(patch.get_path())(places, patch.get_path().codes))
                    patch.set_snap(False)


def finish(fig: Figure, name: str, title: str, words: str) -> str:
    """Return the SVG document of a figure.

    Args:
        fig: figure with colours from ``LIGHT`` only.
        name: prefix of all ids, so that a page can contain several pictures.
        title, words: description for screen readers.
    """
    out = io.BytesIO()
    nothing = {"Date": None, "Creator": None, "Type": None, "Format": None}
    fig.savefig(out, format="svg", metadata=nothing)
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    root = ElementTree.fromstring(out.getvalue())
    _size(root)
    for unwanted in ("metadata", "defs/style"):
        _remove(root, unwanted)
    used = _references(root)
    for element in root.iter():
        _restyle(element)
        _rename(element, name, used)
    _flatten(root)
    _describe(root, name, title, words)
    return ElementTree.tostring(root, encoding="unicode").replace("\n", "")


def standalone(svg: str) -> str:
    """Return the picture as a separate file with its style."""
    head, _, rest = svg.partition(">")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}><style>{style()}</style>{rest}\n'


def grounded(svg: str) -> str:
    """Return a picture with size and background, for a separate file."""
    head, _, rest = svg.partition(">")
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    size = f' width="{box[1]}" height="{box[2]}"' if box else ""
    return f'{head}{size}><rect width="100%" height="100%" class="f-panel"/>{rest}'


def _rules(scope: str, palette: dict[str, str]) -> list[str]:
    return [
        f"{scope}.f-{role.replace('_', '-')}{{fill:{colour}}}"
        f"{scope}.s-{role.replace('_', '-')}{{stroke:{colour}}}"
        for role, colour in palette.items()
    ]


def _size(root: ElementTree.Element) -> None:
    root.attrib.pop("width", None)
    root.attrib.pop("height", None)
    root.attrib.pop("version", None)
    root.set("preserveAspectRatio", "xMidYMid meet")


def _remove(root: ElementTree.Element, path: str) -> None:
    steps = [f"{{{_SVG}}}{step}" for step in path.split("/")]
    parents = list(root.iter(steps[0])) if len(steps) > 1 else [root]
    for parent in parents:
        for child in list(parent.findall(steps[-1])):
            parent.remove(child)


def _references(root: ElementTree.Element) -> set[str]:
    used: set[str] = set()
    for element in root.iter():
        for value in element.attrib.values():
            used.update(re.findall(r"url\(#([^)]+)\)", value))
        href = element.get(f"{{{_XLINK}}}href", "")
        if href.startswith("#"):
            used.add(href[1:])
    return used


def _restyle(element: ElementTree.Element) -> None:
    declared = element.attrib.pop("style", "")
    parts = [part.split(":", 1) for part in declared.split(";") if ":" in part]
    pairs = {key.strip(): value.strip() for key, value in parts}
    for key in ("fill", "stroke"):
        if key in element.attrib:
            pairs.setdefault(key, element.attrib.pop(key))
    classes = [_class(key, pairs[key]) for key in ("fill", "stroke") if key in pairs]
    if any(classes):
        element.set("class", " ".join(c for c in classes if c))
    for key in ("fill", "stroke"):
        if pairs.get(key) == "none":
            element.set(key, "none")
    for key, value in pairs.items():
        if key in _ATTRIBUTES:
            element.set(key, value)
    _font(element, pairs)
    for key in list(element.attrib):
        if key in _ROUNDED:
            element.set(key, _NUMBER.sub(_short, element.attrib[key]))


def _class(key: str, value: str) -> str:
    return f"{key[0]}-{_NAMES[value]}" if value in _NAMES else ""


def _font(element: ElementTree.Element, pairs: dict[str, str]) -> None:
    """Convert ``font: 600 12px 'DejaVu Sans'`` to attributes without the family."""
    shorthand = pairs.get("font", "")
    size = re.search(r"([\d.]+)px", pairs.get("font-size", "") or shorthand)
    if size:
        element.set("font-size", size[1])
    weight = re.match(r"(\d{3}|bold)\b", pairs.get("font-weight", "") or shorthand)
    if weight:
        element.set("font-weight", weight[1])


def _short(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")


def _rename(element: ElementTree.Element, name: str, used: set[str]) -> None:
    own = element.attrib.pop("id", None)
    if own in used:
        element.set("id", f"{name}-{own}")
    for key, value in list(element.attrib.items()):
        if "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))
        elif key == f"{{{_XLINK}}}href" and value.startswith("#"):
            element.set(key, f"#{name}-{value[1:]}")


def _flatten(parent: ElementTree.Element) -> None:
    """Remove groups without attributes, and white space."""
    children: list[ElementTree.Element] = []
    for child in list(parent):
        _flatten(child)
        bare = child.tag == f"{{{_SVG}}}g" and not child.attrib
        children.extend(list(child) if bare else [child])
        child.tail = None
    if parent.tag != f"{{{_SVG}}}text":
        parent.text = None
    parent[:] = children


def _describe(root: ElementTree.Element, name: str, title: str, words: str) -> None:
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-words")
    for i, (tag, content) in enumerate((("title", title), ("desc", words))):
        element = ElementTree.Element(f"{{{_SVG}}}{tag}")
        element.set("id", f"{name}-{'title' if tag == 'title' else 'words'}")
        element.text = content
        root.insert(i, element)
