"""Plain: text from elsewhere made safe to show, and numbers as people read them.

A workload's command, output and settings are hostile text. What cannot be seen or would reorder
what stands beside it is written out as an escape before it reaches HTML, SVG or Markdown.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from assay.records import Metric

_JOINERS = frozenset("\u200c\u200d")
"""Format characters that scripts such as Persian and Devanagari need inside words."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

MINUS = "\u2212"
NBSP = "\u00a0"
ELLIPSIS = "\u2026"

_LABELS = {
    "wall_s": "wall time",
    "user_s": "CPU time in user mode",
    "sys_s": "CPU time in the kernel",
    "peak_bytes": "peak memory, page cache included",
    "peak_anon_bytes": "peak memory",
}


def clean(text: str, keep: str = "") -> str:
    """``text`` with everything invisible or reordering written as an escape.

    Args:
        text: from anywhere; lone surrogates (bytes that were no UTF-8) are allowed.
        keep: control characters that stay, such as the newline in a block of lines.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or not _hidden(c) else _escape(c) for c in text)


def _hidden(character: str) -> bool:
    return character not in _JOINERS and unicodedata.category(character) in _HIDDEN


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that os.fsdecode could not read
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shorten(text: str, width: int) -> str:
    """At most ``width`` characters: the middle gives way, since both ends tell things apart."""
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}{ELLIPSIS}{text[len(text) - (width - 1 - head) :]}"


def label_of(metric: Metric) -> str:
    """What the metric is called in a sentence."""
    return _LABELS.get(metric.name, clean(metric.name))


def change(ratio: float) -> str:
    """A ratio as signed change, ``-18.2 %`` with a true minus; a factor from 2 on."""
    if ratio >= 2.0:
        return f"{ratio:.2f}\u00d7"
    percent = (ratio - 1.0) * 100.0
    if abs(percent) < 0.05:
        return f"0.0{NBSP}%"
    return f"{MINUS if percent < 0 else '+'}{abs(percent):.1f}{NBSP}%"


def whole_change(ratio: float) -> str:
    """A ratio as change for an axis: no decimals where none are needed."""
    return change(ratio).replace(f".0{NBSP}", NBSP) if ratio < 2.0 else f"{ratio:g}\u00d7"


def change_interval(ci: tuple[float | None, float | None]) -> str:
    """An interval of a ratio as changes: ``-20.1 % to -16.3 %``; open ends are said."""
    low, high = ci
    if low is None and high is None:
        return "not bounded"
    if low is None:
        return f"at most {change(high or 0.0)}"
    if high is None:
        return f"at least {change(low)}"
    return f"{change(low)} to {change(high)}"


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 launch``, ``3 launches``, ``1,204 samples``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as the kernel lists CPUs: ``0-3,8``."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)
