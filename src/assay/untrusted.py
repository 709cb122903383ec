"""Text from elsewhere made safe to show.

A workload's command, output and settings are hostile text. What cannot be seen or would reorder
what stands beside it is written out as an escape before it reaches a terminal, HTML, SVG or
Markdown.
"""

from __future__ import annotations

import unicodedata

_JOINERS = frozenset("\u200c\u200d")
"""Format characters that scripts such as Persian and Devanagari need inside words."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for a formula, at the beginning of a text."""


def clean(text: str, keep: str = "") -> str:
    """``text`` with everything invisible or reordering written as an escape.

    Args:
        text: from anywhere; lone surrogates (bytes that were no UTF-8) are allowed.
        keep: control characters that stay, such as the newline in a block of lines.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or not _hidden(c) else _escape(c) for c in text)


def clean_lines(text: str) -> str:
    """A text of several lines made safe to show: as :func:`clean`, but for the ends of lines."""
    return clean(text, "\n")


def no_formula(text: str) -> str:
    """A text for a cell of a table, with a quote in front where a spreadsheet would run it."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _hidden(character: str) -> bool:
    return character not in _JOINERS and unicodedata.category(character) in _HIDDEN


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that os.fsdecode could not read
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
