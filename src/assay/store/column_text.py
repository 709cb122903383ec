"""Text of columns."""

from __future__ import annotations


def escape_undecodable(text: str) -> str:
    """Escape bytes that are not UTF-8, which columns reject."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")
