"""Shell quoting of words that hold arbitrary bytes."""

from __future__ import annotations

import re
import shlex

_BYTES = re.compile("([\udc80-\udcff]+)")
"""Bytes that are not UTF-8, as Python's texts hold them (PEP 383)."""


def shell_quoted(text: str) -> str:
    r"""Return a word for a POSIX shell that stands for exactly these bytes.

    The script itself remains valid UTF-8: any other byte becomes ``"$(printf '\351')"``.

    Args:
        text: a word, a value or a path.
    """
    if not _BYTES.search(text):
        return shlex.quote(text)
    parts = _BYTES.split(text)
    return "".join(
        _printed(part) if place % 2 else shlex.quote(part)
        for place, part in enumerate(parts)
        if part
    )


def _printed(part: str) -> str:
    digits = "".join(f"\\{byte:03o}" for byte in part.encode(errors="surrogateescape"))
    return f"\"$(printf '{digits}')\""
