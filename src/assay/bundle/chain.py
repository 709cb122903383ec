"""Chain: every entry is tied to all before it by SHA-256."""

from __future__ import annotations

import hashlib

START = "0" * 64
"""What stands before the first entry."""


def link(before: str, content: bytes) -> str:
    """The chain value of an entry: SHA-256 over the value before it and its bytes.

    Args:
        before: 64 hexadecimal digits.
        content: the bytes as they stand in the file.
    """
    return hashlib.sha256(before.encode("ascii") + content).hexdigest()


def sealed_line(value: str, entry: bytes) -> bytes:
    """A line that holds an entry and its chain value."""
    return b'{"chain":"' + value.encode("ascii", "replace") + b'","entry":' + entry + b"}\n"
