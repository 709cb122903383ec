"""Paths in the kernel's tables, with octal escapes for blanks and backslashes."""

from __future__ import annotations

import re


def unescaped(text: str) -> str:
    """Return a path of ``/proc/self/mountinfo`` or ``/proc/swaps`` without escapes.

    The kernel writes space, tab, newline and backslash as three octal digits (``mangle_path``).
    """
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), text)
