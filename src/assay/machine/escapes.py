"""Escapes: paths in the kernel's tables, where blanks and backslashes are octal numbers."""

from __future__ import annotations

import re


def unescaped(text: str) -> str:
    """A path of ``/proc/self/mountinfo`` or ``/proc/swaps`` as it is.

    The kernel writes space, tab, newline and backslash as three octal digits (``mangle_path``).
    """
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), text)
