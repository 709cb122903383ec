"""CPU lists and masks in the kernel's format.

Formats: ``Documentation/core-api/kernel-api.rst`` (``bitmap_parselist``, ``bitmap_parse``) and
``cpuset(7)``. The same formats name NUMA nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

from assay.errors import InvalidInputError

if TYPE_CHECKING:
    from assay.machine.root import Root

_MAX = 1 << 16
"""Far above any kernel's NR_CPUS (8192 on x86-64); it bounds the memory for ``0-99999999999``."""

_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9})/(\d{1,9}))?)?", re.ASCII)


def parse_list(text: str) -> tuple[int, ...]:
    """Return the numbers of a list, ascending.

    Examples: ``0-3,8``, ``0-7:2/4`` (the first 2 of every 4). An empty text is an empty list: the
    kernel writes it for an empty set.

    Raises:
        InvalidInputError: the text is not a CPU list.
    """
    found: set[int] = set()
    for part in text.replace("\n", ",").split(","):
        if part.strip():
            found.update(_expand(part.strip(), text))
    return tuple(sorted(found))


def list_in(text: str | None) -> tuple[int, ...]:
    """Return the same as ``parse_list``; an empty tuple for a missing or invalid text."""
    try:
        return parse_list(text or "")
    except InvalidInputError:
        return ()


def read_list(root: Root, path: str) -> tuple[int, ...] | None:
    """Return the numbers in a file; ``None`` if it is missing, empty or invalid."""
    text = root.read_text(path)
    try:
        return parse_list(text) if text else None
    except InvalidInputError:
        return None


def format_list(cpus: Iterable[int]) -> str:
    """Return the list in the kernel's shortest form without strides: ``0-3,8``."""
    parts: list[tuple[int, int]] = []
    for cpu in sorted(set(cpus)):
        if parts and parts[-1][1] == cpu - 1:
            parts[-1] = (parts[-1][0], cpu)
        else:
            parts.append((cpu, cpu))
    return ",".join(f"{low}-{high}" if low < high else str(low) for low, high in parts)


def show_numbers(noun: str, numbers: Iterable[int]) -> str:
    """Return numbers for a sentence: ``CPU 3``, ``CPUs 0-3``, ``no CPU``."""
    found = set(numbers)
    if not found:
        return f"no {noun}"
    return f"{noun}{'s' if len(found) > 1 else ''} {format_list(found)}"


def show_list(cpus: Iterable[int]) -> str:
    """Return the list for readers: constant strides are shown as ``0-76 by 4``."""
    found = sorted(set(cpus))
    steps = {b - a for a, b in pairwise(found)}
    if len(found) > 3 and len(steps) == 1 and steps != {1}:
        return f"{found[0]}-{found[-1]} by {steps.pop()}"
    return format_list(found)


def parse_mask(text: str) -> tuple[int, ...]:
    """Return the numbers of a hexadecimal mask such as ``f`` or ``00000000,0000000f``, ascending.

    Raises:
        InvalidInputError: the text is not a mask.
    """
    words = text.strip().removeprefix("0x").split(",")
    # Words after the first have 32 bits each; the kernel always writes all eight digits.
    digits = words[0] + "".join(word.rjust(8, "0") for word in words[1:])
    if not re.fullmatch(r"[0-9A-Fa-f]+", digits) or len(digits) * 4 > _MAX:
        raise _not_a("mask", text)
    mask = int(digits, 16)
    found = []
    while mask:  # a step for each number, not for each bit
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(found)


def _expand(part: str, text: str) -> Iterable[int]:
    match = _PART.fullmatch(part)
    if match is None:
        raise _not_a("list", text)
    low, high = int(match[1]), int(match[2] or match[1])
    used, group = (int(match[3]), int(match[4])) if match[3] else (1, 1)
    if low > high or high >= _MAX or not 0 < used <= group:
        raise _not_a("list", text)
    return (cpu for cpu in range(low, high + 1) if (cpu - low) % group < used)


def _not_a(kind: str, text: str) -> InvalidInputError:
    return InvalidInputError(
        f"Invalid CPU {kind}: {text.strip()!r}.",
        "Write for example 0-3,8." if kind == "list" else "Write for example ff.",
    )
