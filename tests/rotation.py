"""Rotation: selection of the long tests of a run."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

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


def rested(items: Iterable[pytest.Item], number: int, parts: int) -> set[pytest.Item]:
    """Return the tests marked ``rotating`` that are not in a run.

    The tests of a file take turns, so that as many runs as there are parts have them all. Where a
    file has fewer than that, one of them is in every run. Tests whose mark names a group,
    ``rotating("guests")``, take turns with all of that group.

    Args:
        items: all tests.
        number, parts: of the run, from 1.
    """
    groups: dict[Path | str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if mark := item.get_closest_marker("rotating"):
            groups[mark.args[0] if mark.args else item.path].append(item)
    found: set[pytest.Item] = set()
    for tests in groups.values():
        turns = min(parts, len(tests))
        found |= {test for at, test in enumerate(tests) if at % turns != (number - 1) % turns}
    return found
