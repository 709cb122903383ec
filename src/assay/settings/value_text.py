"""Values as the words that a program is given, and words as values.

The type of a value depends on its text alone, and its text comes back unchanged: ``8`` is a
number, ``08`` and ``1.50`` are texts.
"""

from __future__ import annotations

import math
import re

from assay.records import Value
from assay.records.configuration import show_value

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_variable_name(text: str) -> bool:
    """Return whether a shell takes a text for the name of a variable."""
    return _VARIABLE.fullmatch(text) is not None


def format_value(value: Value) -> str:
    """The text that stands for a value in a command line or an environment."""
    return show_value(value)


def parse_value(word: str) -> Value:
    """The number that a word is, or the word itself."""
    for kind in (int, float):
        try:
            value = kind(word)
        except ValueError:
            continue
        if math.isfinite(value) and format_value(value) == word:
            return value
    return word
