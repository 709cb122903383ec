"""Hash chain: each value covers an entry and all entries before it, by SHA-256."""

from __future__ import annotations

import hashlib

START = "0" * 64
"""Chain value before the first entry."""


def link(before: str, content: bytes) -> str:
    """Return the chain value of an entry: SHA-256 over the previous value and the entry.

    Args:
        before: previous value, 64 hexadecimal digits.
        content: bytes of the entry in the file.
    """
    return hashlib.sha256(before.encode("ascii") + content).hexdigest()


def sealed_line(value: str, entry: bytes) -> bytes:
    """Return a line with an entry and its chain value."""
    return b'{"chain":"' + value.encode("ascii", "replace") + b'","entry":' + entry + b"}\n"
