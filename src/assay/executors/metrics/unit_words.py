"""Words after figures, which are compared if they are not known units."""

from __future__ import annotations

import re

_WORD = re.compile(
    r"[ \t\u00a0\u202f]?"
    r"([(\[][^()\[\]\n]+[)\]]|per[ \t][A-Za-z]+"
    r"|(?:(?:[kKMGT]|thousand|million|billion)[ \t](?=[A-Za-z]))?"
    r"(?:[^\W\d_]|/(?=[A-Za-z])|%)[^\s,;:|()\[\]{}\"'=<>]*+"
    r"(?:[ \t]per[ \t][A-Za-z]+)?+)(?![ \t]?[=:])"
)
"""Word with or without brackets; before a colon or an equals sign it names the next figure."""
MAX_LENGTH = 24
"""Largest number of characters of a word; longer texts are not units."""


def following_word(text: str, end: int) -> str | None:
    """Return the word directly after ``end``, or after one blank.

    A text in brackets counts as one word, and so does ``requests per second``. A word with a digit
    belongs to another figure and is ignored.

    Args:
        text: printed text.
        end: end of a figure in it.
    """
    found = _WORD.match(text, end)
    return unit_word(found[1]) if found else None


def unit_word(text: str) -> str | None:
    """Return a text that may be a unit; ``None`` if it is long, empty or has a digit.

    Args:
        text: text after a figure, or captured as its unit.
    """
    word = " ".join(text.split()).rstrip(".!?…")
    if not word or len(word) > MAX_LENGTH or any(letter.isdigit() for letter in word):
        return None
    return word
