"""Sketch: digests of the words of an output that locate differences between two outputs.

Lines are separated by ``;`` and words by a blank. A word is a sequence of tokens: ``*`` for a value
of the launch's own configuration, ``#`` and three characters for digits, three characters for all
other text.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

OWN_VALUE = "\ue000"
"""Placeholder in a line for a value of the launch's own configuration."""
MAX_TOKENS = 400
"""Maximum number of tokens of a sketch."""
_TOKEN = re.compile(rf"{OWN_VALUE}|\d+|[^\W\d_]+|(?:[^\w{OWN_VALUE}]|_)+")
_NUMBER = re.compile(r"#...")
_TOKENS = re.compile(r"\*|#?[^*#]{3}")


def sketch_of(lines: Iterable[str]) -> str:
    """Return the sketch of lines with single blanks between words; empty above ``MAX_TOKENS``."""
    sketched = [" ".join(map(_word, line.split(" "))) for line in lines]
    tokens = sum(len(_TOKENS.findall(line.replace(" ", ""))) for line in sketched)
    return ";".join(sketched) if tokens <= MAX_TOKENS else ""


def sketches_agree(one: str, other: str, *, numbers: bool = True) -> bool:
    """Return whether two sketches differ only in values of the launches' own configurations.

    Such a value in one sketch matches any word, or none, at that position of the other.

    Args:
        one, other: sketches; an empty one matches none.
        numbers: compare digits.
    """
    if not (one and other) or "*" not in one + other:
        return False
    return first_difference(one, other, numbers=numbers) is None


def first_difference(one: str, other: str, *, numbers: bool = True) -> int | None:
    """Return the number, from 1, of the first line in which two sketches differ, if any."""
    a, b = (_lines(text, numbers=numbers) for text in (one, other))
    if len(a) != len(b):
        a, b = _without_values_alone(a), _without_values_alone(b)
    for number, (mine, its) in enumerate(zip(a, b, strict=False), start=1):
        if not _lines_agree(tuple(mine.split(" ")), tuple(its.split(" "))):
            return number
    return None if len(a) == len(b) else min(len(a), len(b)) + 1


def _word(word: str) -> str:
    return "".join(map(_token, _TOKEN.findall(word)))


def _token(text: str) -> str:
    if text == OWN_VALUE:
        return "*"
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    short = base64.urlsafe_b64encode(digest[:3]).decode()[:3]
    return f"#{short}" if text.isdecimal() else short


def _lines(sketch: str, *, numbers: bool) -> list[str]:
    return (sketch if numbers else _NUMBER.sub("", sketch)).split(";")


def _without_values_alone(lines: Sequence[str]) -> list[str]:
    """Return lines without those that consist of a value; all lines if none would remain."""
    return [line for line in lines if line != "*"] or list(lines)


@lru_cache(maxsize=4096)
def _lines_agree(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    if a == b:
        return True
    if a and b and _words_agree(a[0], b[0]) and _lines_agree(a[1:], b[1:]):
        return True
    if a[:1] == ("*",) and _lines_agree(a[1:], b):
        return True
    return b[:1] == ("*",) and _lines_agree(a, b[1:])


def _words_agree(one: str, other: str) -> bool:
    return one == other or _matches(one, other) or _matches(other, one)


def _matches(one: str, other: str) -> bool:
    """Return whether a word matches another in all parts except its values."""
    if "*" not in one:
        return False
    return re.fullmatch(".*".join(map(re.escape, one.split("*"))), other) is not None
