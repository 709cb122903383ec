"""Swap areas of the kernel.

Interface: ``/proc/swaps`` (proc_swaps(5)).
"""

from __future__ import annotations

import re

import msgspec

from assay.machine.escapes import unescaped

SWAPS = "/proc/swaps"


class SwapArea(msgspec.Struct, frozen=True):
    """An active swap area; ``priority`` is negative if the kernel chose it."""

    path: str
    size_bytes: int
    used_bytes: int
    priority: int


def swap_areas(text: str) -> dict[str, SwapArea]:
    """Return the active swap areas, by path.

    Args:
        text: content of ``/proc/swaps``; lines of unknown format are left out.
    """
    found = {}
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) == 5 and all(re.fullmatch(r"-?[0-9]+", field) for field in fields[2:]):
            path, (size_kib, used_kib, priority) = unescaped(fields[0]), map(int, fields[2:])
            found[path] = SwapArea(path, size_kib * 1024, used_kib * 1024, priority)
    return found
