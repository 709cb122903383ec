"""Readers of a single file for checks."""

from __future__ import annotations

from collections.abc import Callable

from assay.machine.checks.check_types import Measurement
from assay.machine.checks.host import Host


def word_in(path: str) -> Callable[[Host], dict[str, str]]:
    """Return a reader of the whole text of a file."""
    return lambda host: {path: host.text(path)}


def choice_in(path: str) -> Callable[[Host], dict[str, str]]:
    """Return a reader of the word in brackets."""
    return lambda host: {path: host.choice(path)}


def number_in(path: str, unit: str = "") -> Callable[[Host], Measurement]:
    """Return a reader of the number in a file.

    Args:
        path: path of the file.
        unit: unit in the evidence.
    """

    def read(host: Host) -> Measurement:
        value = host.number(path)
        return Measurement(value, f"{value}{f' {unit}' if unit else ''} ({path})")

    return read
