"""What is kept of a stream, as a bundle shows it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Literal

from assay.bundle.layout import Stream
from assay.records import HashedPart, Output

_LONGEST_LETTER = 4
"""Bytes of a character in UTF-8."""


def stream_of(output: Output, bare: Callable[[bytes], bytes] = bytes) -> Stream:
    """A stream with tokens in place of names.

    A digest over what holds names could be tried out for them. Where all that it is over is here,
    it fits what is shown; else names leave none.

    Args:
        output: as it was kept.
        bare: puts the tokens there; leaves everything as it is if absent.
    """
    head, tail = bare(output.head), bare(output.tail)
    named = (head, tail) != (output.head, output.tail)
    first, last = _text(head, cut_end=bool(tail)), _text(tail, cut_start=True)
    if first is None or last is None:
        sha256 = _digest(output, head, tail, named=named)
        encoded = (base64.b64encode(content).decode() for content in (head, tail))
        return _stream(output, sha256, "base64", *encoded)
    # A character that was cut through is in neither text.
    sha256 = _digest(output, first.encode(), last.encode(), named=named)
    return _stream(output, sha256, "utf-8", first, last)


def _digest(output: Output, head: bytes, tail: bytes, *, named: bool) -> str | None:
    """The digest that stands beside ``head`` and ``tail``."""
    if not (output.complete or output.hashed is HashedPart.ENDS):
        return None if named else output.sha256
    if (head, tail) == (output.head, output.tail):
        return output.sha256
    return hashlib.sha256(head + tail).hexdigest()


def _stream(
    output: Output, sha256: str | None, encoding: Literal["utf-8", "base64"], head: str, tail: str
) -> Stream:
    return Stream(
        stream=output.stream,
        size_bytes=output.size_bytes,
        sha256=sha256,
        hashed=output.hashed,
        encoding=encoding,
        head=head,
        tail=tail,
    )


def _text(content: bytes, *, cut_start: bool = False, cut_end: bool = False) -> str | None:
    """The text, less a character that was cut through at an end; ``None`` where it is none."""
    for start in range(_LONGEST_LETTER if cut_start else 1):
        for end in range(_LONGEST_LETTER if cut_end else 1):
            try:
                return content[start : len(content) - end].decode()
            except UnicodeDecodeError:
                continue
    return None
