"""Difference: the first key in which two documents differ."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from assay.records import to_builtins

MAX_VALUE_CHARACTERS = 160
"""Maximum number of characters of a value in a message."""


@dataclass(frozen=True)
class Difference:
    """Key with its value in both documents; ``absent`` if one document lacks it."""

    key: str
    recorded: str
    recomputed: str


def first_difference(recorded: Any, recomputed: Any) -> Difference | None:
    """Return the first key in which two records differ, in the order of their keys."""
    return _first("", to_builtins(recorded), to_builtins(recomputed))


def first_different_line(
    key: str, recorded: str | None, recomputed: str | None
) -> Difference | None:
    """Return the first line in which two texts differ; ``None`` represents a missing text."""
    if recorded == recomputed:
        return None
    if recorded is None or recomputed is None:
        return Difference(
            key, *(_shown(_ABSENT if t is None else t) for t in (recorded, recomputed))
        )
    pairs = enumerate(zip_longest(recorded.split("\n"), recomputed.split("\n")), start=1)
    number, (one, other) = next((n, pair) for n, pair in pairs if pair[0] != pair[1])
    lines = (_shown(_ABSENT if line is None else line) for line in (one, other))
    return Difference(f"{key}, line {number}", *lines)


def _first(key: str, recorded: Any, recomputed: Any) -> Difference | None:
    if isinstance(recorded, dict) and isinstance(recomputed, dict):
        for name in dict.fromkeys((*recorded, *recomputed)):
            below = f"{key}.{name}" if key else str(name)
            found = _first(below, recorded.get(name, _ABSENT), recomputed.get(name, _ABSENT))
            if found is not None:
                return found
        return None
    if isinstance(recorded, list | tuple) and isinstance(recomputed, list | tuple):
        for index in range(max(len(recorded), len(recomputed))):
            found = _first(f"{key}[{index}]", _at(recorded, index), _at(recomputed, index))
            if found is not None:
                return found
        return None
    if type(recorded) is type(recomputed) and recorded == recomputed:
        return None
    return Difference(key, _shown(recorded), _shown(recomputed))


class _Absent:
    def __repr__(self) -> str:
        return "absent"


_ABSENT = _Absent()


def _at(values: list[Any] | tuple[Any, ...], index: int) -> Any:
    return values[index] if index < len(values) else _ABSENT


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[: MAX_VALUE_CHARACTERS - 1] + "…"
