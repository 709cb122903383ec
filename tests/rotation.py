"""Rotation: selection of the long tests of a run."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from zlib import crc32

import pytest


def rotation_of(text: str) -> tuple[int, int]:
    """Read ``2/4``: the second of four parts.

    Raises:
        argparse.ArgumentTypeError: the text has another format.
    """
    number, _, parts = text.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise argparse.ArgumentTypeError(f"invalid part: {text!r} (example: 2/4)")
    return int(number), int(parts)


def others_in_turns(first: object, *others: object) -> list[object]:
    """Return parameters of which the first is in every run, and the others are rotating."""
    return [first, *map(_rotating, others)]


def rows_in_turns(first: Sequence[object], *others: Sequence[object]) -> list[object]:
    """Return rows of several parameters; the first is in every run, and the others are rotating."""
    return [first, *(pytest.param(*other, marks=pytest.mark.rotating) for other in others)]


def _rotating(value: object) -> object:
    """Return a parameter with the mark, besides the marks that it has."""
    if isinstance(value, type(pytest.param())):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.rotating], id=value.id)
    return pytest.param(value, marks=pytest.mark.rotating)


def rested(items: Iterable[pytest.Item], number: int, parts: int) -> set[pytest.Item]:
    """Return the tests marked ``rotating`` that are not in a run.

    The tests of a file take turns, so that a full cycle of parts covers all of them. Every run has
    at least one test of each file: where a file has rotating tests only, and fewer than there are
    parts, they take shorter turns. Tests whose mark names a group, ``rotating("guests")``, take
    turns with all of that group. Those with the same ``together`` have the same turn.

    Args:
        items: all tests.
        number, parts: of the run, from 1.
    """
    groups: dict[Path | str, dict[object, list[pytest.Item]]] = defaultdict(dict)
    in_every_run: set[Path] = set()
    for item in items:
        if mark := item.get_closest_marker("rotating"):
            units = groups[mark.args[0] if mark.args else item.path]
            units.setdefault(mark.kwargs.get("together", item), []).append(item)
        else:
            in_every_run.add(item.path)
    found: set[pytest.Item] = set()
    for group, units in groups.items():
        turns = parts if group in in_every_run else min(parts, len(units))
        name = group.name if isinstance(group, Path) else group
        first = crc32(name.encode())  # files begin on different days
        for at, tests in enumerate(units.values(), first):
            if at % turns != number % turns:
                found.update(tests)
    return found
