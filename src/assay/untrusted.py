"""Escapes for untrusted text.

The command, the output and the settings of a workload are hostile text. Invisible characters, and
characters that reorder the text beside them, are written as escapes before the text reaches a
terminal, HTML, SVG or Markdown.
"""

from __future__ import annotations

import unicodedata

_JOINERS = frozenset("\u200c\u200d")
"""Format characters that scripts such as Persian and Devanagari need inside words."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet evaluates as a formula."""


def clean(text: str, keep: str = "") -> str:
    """Replace invisible and reordering characters of a text by escapes.

    Args:
        text: untrusted text; lone surrogates (bytes that are not valid UTF-8) are allowed.
        keep: control characters to preserve, such as the newline in a block of lines.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or not _hidden(c) else _escape(c) for c in text)


def clean_lines(text: str) -> str:
    """Replace the same characters as :func:`clean`, but preserve line ends."""
    return clean(text, "\n")


def no_formula(text: str) -> str:
    """Prefix a table cell with a quote if a spreadsheet would evaluate it as a formula."""
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
