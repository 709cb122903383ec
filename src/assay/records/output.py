"""Output: what is kept of one stream that a launch wrote."""

from __future__ import annotations

import enum

from assay.records.codec import Record


class HashedPart(enum.StrEnum):
    """What of a stream its digest is over."""

    WHOLE = "whole"
    ENDS = "ends"


class Output(Record, frozen=True, kw_only=True):
    """One stream of one launch.

    Attributes:
        stream: ``stdout`` or ``stderr``.
        size_bytes: all that was written.
        sha256: 64 hexadecimal digits over the whole, or over ``head`` and ``tail`` alone.
        hashed: which of the two.
        head, tail: the first and the last bytes; a stream that is small lies in ``head`` whole.
    """

    stream: str
    size_bytes: int
    sha256: str
    hashed: HashedPart = HashedPart.WHOLE
    head: bytes = b""
    tail: bytes = b""

    @property
    def complete(self) -> bool:
        """Whether all that was written is here."""
        return len(self.head) + len(self.tail) == self.size_bytes
