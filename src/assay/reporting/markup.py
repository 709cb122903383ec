"""Markup: HTML that escapes by default.

Text becomes part of a page only through ``el`` and ``text``, which clean and escape it; what is
already HTML is marked by its type.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from assay.untrusted import clean


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"

PACKED_FROM = 512 * 1024
"""Characters of JSON from which on a block of data is compressed: two thousand samples are some
megabytes, of which gzip leaves a twentieth."""

_VOID = frozenset({"br", "hr", "input", "meta", "col"})


def text(value: str, keep: str = "") -> Html:
    """Hostile text as HTML text; usable in quoted attributes as well."""
    return Html(html.escape(clean(value, keep), quote=True))


def el(name: str, *children: Child, **attributes: str | int | float | bool | None) -> Html:
    """An element.

    Args:
        name: of the element; never from outside.
        children: text is escaped, ``Html`` is taken as it is, ``None`` is left out.
        attributes: ``class_`` is ``class``, ``data_x`` is ``data-x``; ``True`` is a bare attribute,
            ``None`` and ``False`` leave it out.
    """
    opening = "".join([name, *_attributes(attributes)])
    if name in _VOID:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Children one after another."""
    return Html("".join(_flat(children)))


def data_block(identifier: str, value: Any) -> Html:
    """A block of JSON that a script or a person can read, and that no text inside can leave.

    ``<``, ``>`` and ``&`` are written as escapes: neither ``</script>`` nor ``<!--`` can occur.
    From ``PACKED_FROM`` characters on it is gzip in base64, and its attribute ``data-encoding``
    says so.
    """
    document = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    opening = f'id="{text(identifier)}"'
    if len(document) >= PACKED_FROM:
        packed = base64.b64encode(gzip.compress(document.encode(), mtime=0)).decode()
        return Html(
            f'<script type="text/plain" data-encoding="gzip, base64" {opening}>{packed}</script>'
        )
    for character in "<>&":
        document = document.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" {opening}>{document}</script>')


def _attributes(attributes: dict[str, str | int | float | bool | None]) -> Iterable[str]:
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        yield f" {name}" if value is True else f' {name}="{text(str(value))}"'


def _flat(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            yield child
        elif isinstance(child, (str, int)):
            yield text(str(child))
        else:
            yield from _flat(child)
