"""Output: the stored part of a stream that a launch wrote."""

from __future__ import annotations

import enum

from assay.records.codec import Record


class HashedPart(enum.StrEnum):
    """Part of a stream that its digest covers."""

    WHOLE = "whole"
    ENDS = "ends"


class Output(Record, frozen=True, kw_only=True):
    """One stream of one launch.

    Attributes:
        stream: name of the stream: ``stdout`` or ``stderr``.
        size_bytes: number of bytes written.
        sha256: 64 hexadecimal digits over the whole stream, or over ``head`` and ``tail`` alone.
        digest_scope: part that the digest covers.
        head: first bytes; a small stream completely.
        tail: last bytes; empty for a small stream.
    """

    stream: str
    size_bytes: int
    sha256: str
    digest_scope: HashedPart = HashedPart.WHOLE
    head: bytes = b""
    tail: bytes = b""

    @property
    def complete(self) -> bool:
        """Return whether the whole stream is stored."""
        return len(self.head) + len(self.tail) == self.size_bytes
