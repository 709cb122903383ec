"""Printed numbers: whether a figure is a whole number or part of a longer one."""

from __future__ import annotations

import re
from collections.abc import Iterator

CONTEXT_CHARACTERS = 40
"""Characters on either side of a figure that are searched for a longer number."""

POWER = re.compile(
    "[ \u00a0\u202f]?[x\u00d7*\u00b7\u22c5][ \u00a0\u202f]?10"
    r"(?:(?:\^|\*\*)\{?[-+\u2212]?\d+\}?|[⁺⁻]?[⁰¹²³⁴-⁹]+)"
)
"""Power of ten after a figure: ``x10^3``, `` x 10**3``, ``*10³``, also with other signs."""

_FORMS = (
    rf"\d+(?:[.,\u00b7]\d+)?{POWER.pattern}",  # 1.5x10^3
    # 1,234,567.8
    r"\d{1,3}(?:(?P<sep>[,.'\u2019_\u00a0\u202f])\d{3})(?:(?P=sep)\d{3})*(?:[.,]\d+)?",
    r"\d+,\d+",  # 60,2
    r"\d+[·⋅\u066b]\d+",  # 60·2
    r"\d+(?::\d\d)+(?:[.,]\d+)?",  # 1:02.5
    r"(?:\d+h)?\d+m\d+(?:[.,]\d+)?",  # 1m02.5s
    r"\d+(?:\.\d+){2,}",  # 1.2.3
    r"\d*\.?\d+[eEdD][-+]?\d+",  # 1.5e-05
    r"0[xX][0-9A-Fa-f]+",
    r"\d*\.\d+",
    r"\d+",
)
_SIGN = r"(?:(?<![0-9A-Za-z_.,:)\]}%-])[-\u2212])?"
"""Sign of a number; a hyphen after a word, as in ``step-5``, is not a sign."""
_NUMBERS = tuple(
    re.compile(rf"{_SIGN}(?<![0-9A-Za-z_])(?<![0-9][.,:'\u2019]){form}(?![0-9]|[.,:'\u2019][0-9])")
    for form in _FORMS
)


def number_around(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return begin and end of the number that contains ``text[begin:end]``.

    The result is the same range if it is a whole number or not part of a number. In ``run-5``,
    ``p99`` and ``12,13,14`` each number is separate.

    Args:
        text: printed text.
        begin, end: range of a figure in it.
    """
    first, last = max(0, begin - CONTEXT_CHARACTERS), min(len(text), end + CONTEXT_CHARACTERS)
    spans = [(begin, end), *_spans(text, first, last)]
    around = (span for span in spans if span[0] <= begin and span[1] >= end)
    return max(around, key=lambda span: span[1] - span[0])


def _spans(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    for number in _NUMBERS:
        for match in number.finditer(text, first, last):
            yield match.span()
