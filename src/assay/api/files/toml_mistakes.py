"""Frequent mistakes in TOML values, recognised by the word at the position of the error.

``tomllib`` reports that the array ``[01, 2]`` is not closed: it has parsed the 0, and expects a
comma.
"""

from __future__ import annotations

import re

import msgspec

_WORD = re.compile(r"[A-Za-z0-9_.+%-]+")
_FRONT_ZEROS = re.compile(r"([+-]?)0+(\d[\d_]*(?:\.\d+)?)")
_BARE_POINT = re.compile(r"([+-]?\d*)\.(\d*)")
_WITH_UNIT = re.compile(r"[+-]?\d[\d_]*(?:\.\d+)?(?:[A-Za-z]+|%)")
_TRUTH = re.compile(r"true|false", re.IGNORECASE)


class Mistake(msgspec.Struct, frozen=True):
    """Mistake in a word.

    Attributes:
        cause: cause of the error.
        remedy: correct text to write.
        column: column where the word begins, from 1.
    """

    cause: str
    remedy: str
    column: int


def find_mistake(line: str, column: int) -> Mistake | None:
    """Return the mistake in the word at or before a column; ``None`` if it is not a known one.

    Args:
        line: line of the file.
        column: column where the parser stopped, from 1.
    """
    for match in _WORD.finditer(line):
        if match.start() < column <= match.end() + 1:
            found = _judged(match[0])
            return found and Mistake(*found, match.start() + 1)
    return None


def _judged(word: str) -> tuple[str, str] | None:
    if zeros := _FRONT_ZEROS.fullmatch(word):
        return (
            f"a number cannot begin with a 0, as {word} does",
            f'Write {zeros[1]}{zeros[2]}, or "{word}" for a text.',
        )
    if (point := _BARE_POINT.fullmatch(word)) and (point[1].strip("+-") or point[2]):
        whole = f"{point[1]}0" if not point[1].strip("+-") else point[1]
        return (
            f"{word} lacks a digit beside its point",
            f"Write {whole}.{point[2] or '0'}.",
        )
    if _WITH_UNIT.fullmatch(word):
        return (
            f"{word} is neither a number nor a text",
            f'Put texts in quotation marks: "{word}".',
        )
    if _TRUTH.fullmatch(word) and not word.islower():
        return f"invalid value {word}", f"Write {word.lower()}, in small letters."
    return None
