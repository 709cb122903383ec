"""Words behind figures, which are compared where they are no known unit."""

from __future__ import annotations

import re

_WORD = re.compile(
    r"[ \t\u00a0\u202f]?"
    r"([(\[][^()\[\]\n]+[)\]]|per[ \t][A-Za-z]+"
    r"|(?:(?:[kKMGT]|thousand|million|billion)[ \t](?=[A-Za-z]))?"
    r"(?:[^\W\d_]|/(?=[A-Za-z])|%)[^\s,;:|()\[\]{}\"'=<>]*+"
    r"(?:[ \t]per[ \t][A-Za-z]+)?+)(?![ \t]?[=:])"
)
"""With brackets around it, or without; in front of a colon or an equals sign it names the next
figure."""
MAX_LENGTH = 24
"""Characters of a word; what is longer is no unit."""


def following_word(text: str, end: int) -> str | None:
    """Return the word that stands right behind ``end``, or behind one blank.

    What stands in brackets is one word here, and so is ``requests per second``. One that holds a
    digit is none: it is a part of another figure.

    Args:
        text: what was printed.
        end: of a figure in it.
    """
    found = _WORD.match(text, end)
    return unit_word(found[1]) if found else None


def unit_word(text: str) -> str | None:
    """Return a text that may be a unit; ``None`` for one that is long, empty or holds a digit.

    Args:
        text: that stands behind a figure, or that a pattern captured as its unit.
    """
    word = " ".join(text.split()).rstrip(".!?…")
    if not word or len(word) > MAX_LENGTH or any(letter.isdigit() for letter in word):
        return None
    return word
