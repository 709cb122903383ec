"""Markup: HTML with escaping by default.

Text becomes part of a page only through ``el`` and ``text``, which clean and escape it. HTML is
marked by its type.
"""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import re
from collections.abc import Iterable
from itertools import chain
from typing import Any, TypeAlias

from assay.untrusted import clean


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"

PACKED_FROM = 512 * 1024
"""Minimum number of bytes of a compressed block of data: two thousand samples are some
megabytes, which gzip reduces to a twentieth."""

_VOID = frozenset({"br", "hr", "input", "meta", "col"})


def text(value: str, keep: str = "") -> Html:
    """Return untrusted text as HTML text, also for quoted attributes."""
    return Html(html.escape(clean(value, keep), quote=True))


def el(name: str, *children: Child, **attributes: str | int | float | bool | None) -> Html:
    """Return an element.

    Args:
        name: trusted name of the element.
        children: text is escaped, ``Html`` is unchanged, ``None`` is omitted.
        attributes: ``class_`` is ``class``, ``data_x`` is ``data-x``; ``True`` is a bare attribute,
            ``None`` and ``False`` omit it.
    """
    opening = "".join([name, *_attributes(attributes)])
    if name in _VOID:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Return the concatenated children."""
    return Html("".join(_flat(children)))


def data_block(identifier: str, value: Any) -> Html:
    """Return a block of dictionaries and lists of finite numbers as JSON; see ``json_block``."""
    document = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return json_block(identifier, (document.encode(),))


def ascii_json(document: bytes) -> bytes:
    """Return a JSON document with escapes for all characters beyond ASCII."""
    if document.isascii():
        return document
    return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], document.decode()).encode()


_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def json_block(identifier: str, pieces: Iterable[bytes]) -> Html:
    """Return a block of ASCII JSON that text inside cannot terminate.

    ``<``, ``>`` and ``&`` are escaped, so that neither ``</script>`` nor ``<!--`` occurs. From
    ``PACKED_FROM`` bytes on it is gzip in base64, marked by the attribute ``data-encoding``.

    Args:
        identifier: id of the element.
        pieces: parts of the document, in order; they are never in memory together if it is packed.
    """
    opening = f'id="{text(identifier)}"'
    rest = iter(pieces)
    begin = bytearray()
    for piece in rest:
        begin += piece
        if len(begin) >= PACKED_FROM:
            packed = base64.b64encode(_gzipped(chain((begin,), rest))).decode()
            encoding = 'data-encoding="gzip, base64"'
            return Html(f'<script type="text/plain" {encoding} {opening}>{packed}</script>')
    document = begin.decode("ascii")
    for character in "<>&":
        document = document.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" {opening}>{document}</script>')


def _gzipped(pieces: Iterable[bytes | bytearray]) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        for piece in pieces:
            file.write(piece)
    return packed.getvalue()


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
