"""What is kept of a stream, as a bundle shows it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Literal

from assay.bundle.layout import Stream
from assay.records import Hashed, Output

_LONGEST_LETTER = 4
"""Bytes of a character in UTF-8."""


def stream_of(output: Output, bare: Callable[[bytes], bytes] = bytes) -> Stream:
    """A stream with tokens in place of names.

    A digest over what holds names could be tried out for them: over what is here whole it is
    worked out anew, and of a longer stream it is left out.

    Args:
        output: as it was kept.
        bare: puts the tokens there; leaves everything as it is if absent.
    """
    head, tail = bare(output.head), bare(output.tail)
    sha256: str | None = output.sha256
    if (head, tail) != (output.head, output.tail):
        all_here = output.complete or output.hashed is Hashed.ENDS
        sha256 = hashlib.sha256(head + tail).hexdigest() if all_here else None
    texts = _text(head, cut_end=bool(tail)), _text(tail, cut_start=True)
    if None in texts:
        encoded = (base64.b64encode(content).decode() for content in (head, tail))
        return _stream(output, sha256, "base64", *encoded)
    return _stream(output, sha256, "utf-8", *(text or "" for text in texts))


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
