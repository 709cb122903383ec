"""Slips: values that people write and TOML does not take, told from the word that stands there.

``tomllib`` says of ``[01, 2]`` that the array is not closed: it has read the 0, and expects a
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
    """What is wrong with a word, and what to write.

    Attributes:
        column: where the word begins, from 1.
    """

    cause: str
    remedy: str
    column: int


def find_mistake(line: str, column: int) -> Mistake | None:
    """What is wrong with the word at a place, or just before it, where that can be told.

    Args:
        line: of the file.
        column: from 1, where a reader of TOML stopped.
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
            f'Write {zeros[1]}{zeros[2]}, or "{word}" where a text is meant.',
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
            f'Texts stand in quotation marks: "{word}".',
        )
    if _TRUTH.fullmatch(word) and not word.islower():
        return f"{word} is no value", f"Write {word.lower()}, in small letters."
    return None
