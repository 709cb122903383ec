"""Conversion of values to text and back.

The type of a value depends only on its text, and the conversion back returns the same text: ``8``
is a number, ``08`` and ``1.50`` are texts.
"""

from __future__ import annotations

import math
import re

from assay.records import Value
from assay.records.configuration import show_value

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_variable_name(text: str) -> bool:
    """Return whether a text is a valid name of a shell variable."""
    return _VARIABLE.fullmatch(text) is not None


def format_value(value: Value) -> str:
    """Return the text of a value in a command line or an environment."""
    return show_value(value)


def parse_value(word: str) -> Value:
    """Return the number of a text, or the text itself."""
    for kind in (int, float):
        try:
            value = kind(word)
        except ValueError:
            continue
        if math.isfinite(value) and format_value(value) == word:
            return value
    return word
