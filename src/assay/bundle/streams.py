"""Streams: stored outputs in the form of a bundle."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Literal

from assay.bundle.layout import Stream
from assay.records import HashedPart, Output

_MAX_CHARACTER_BYTES = 4
"""Maximum number of bytes of a character in UTF-8."""


def stream_of(output: Output, bare: Callable[[bytes], bytes] = bytes) -> Stream:
    """Return a stream with tokens instead of names.

    A digest of text with names could be reversed by trial. If all covered text is stored, the
    digest is computed over the replaced text; otherwise it is omitted.

    Args:
        output: stored output.
        bare: replaces names by tokens; identity if absent.
    """
    head, tail = bare(output.head), bare(output.tail)
    named = (head, tail) != (output.head, output.tail)
    first, last = _text(head, cut_end=bool(tail)), _text(tail, cut_start=True)
    if first is None or last is None:
        sha256 = _digest(output, head, tail, named=named)
        encoded = (base64.b64encode(content).decode() for content in (head, tail))
        return _stream(output, sha256, "base64", *encoded)
    # Truncated characters are in neither text.
    sha256 = _digest(output, first.encode(), last.encode(), named=named)
    return _stream(output, sha256, "utf-8", first, last)


def _digest(output: Output, head: bytes, tail: bytes, *, named: bool) -> str | None:
    """Return the digest of ``head`` and ``tail``."""
    if not (output.complete or output.digest_scope is HashedPart.ENDS):
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
        digest_scope=output.digest_scope,
        encoding=encoding,
        head=head,
        tail=tail,
    )


def _text(content: bytes, *, cut_start: bool = False, cut_end: bool = False) -> str | None:
    """Return the text without truncated characters at the ends; ``None`` if it is binary."""
    for start in range(_MAX_CHARACTER_BYTES if cut_start else 1):
        for end in range(_MAX_CHARACTER_BYTES if cut_end else 1):
            try:
                return content[start : len(content) - end].decode()
            except UnicodeDecodeError:
                continue
    return None
