"""Readings of the usual kinds: what one file holds."""

from __future__ import annotations

from collections.abc import Callable

from assay.machine.checks.check_types import Measurement
from assay.machine.checks.host import Host


def word_in(path: str) -> Callable[[Host], dict[str, str]]:
    """The whole text of a file."""
    return lambda host: {path: host.text(path)}


def choice_in(path: str) -> Callable[[Host], dict[str, str]]:
    """The word that a file marks with brackets."""
    return lambda host: {path: host.choice(path)}


def number_in(path: str, unit: str = "") -> Callable[[Host], Measurement]:
    """The number that a file holds.

    Args:
        path: of the file.
        unit: what is said behind it.
    """

    def read(host: Host) -> Measurement:
        value = host.number(path)
        return Measurement(value, f"{value}{f' {unit}' if unit else ''} ({path})")

    return read
