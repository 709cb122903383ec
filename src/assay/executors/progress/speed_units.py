"""Units of printed speeds, and their conversion to one unit over a launch.

Programs such as tqdm print ``it/s`` for fast and ``s/it`` for slow steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.executors.metrics.printed_units import PREFIXES, UNITS, PrintedUnit


@dataclass(frozen=True, slots=True)
class _Speed:
    """Speed unit.

    Attributes:
        counted: counted thing in the singular, such as ``step``.
        inverse: true for time per thing.
        factor: conversion factor to things per second, or to seconds per thing.
    """

    counted: str
    inverse: bool
    factor: float


class UnitConverter:
    """Converts values to one unit.

    Args:
        unit: unit of the metric; the first printed unit counts if values cannot be converted to it.

    Attributes:
        unit: unit of the converted values; empty without a printed one.
        converted: units other than that, of values that were converted.
        refused: units of values that cannot be converted.
    """

    def __init__(self, unit: str = "") -> None:
        self.unit = unit
        self.converted: set[str] = set()
        self.refused: set[str] = set()
        self._printed = False

    def convert(self, value: float, unit: PrintedUnit | None) -> float | None:
        """Return a value in the unit of all values; ``None`` if it cannot be converted.

        Args:
            value: printed value.
            unit: its printed unit; values without one are taken as they are.
        """
        if unit is None:
            return value
        if unit.name == self.unit:
            self._printed = True
            return value
        found = _converted(value, unit.name, self.unit) if self.unit else None
        if found is not None:
            self.converted.add(unit.name)
        elif not self._printed:
            self.unit, found = unit.name, value
        else:
            self.refused.add(unit.name)
        self._printed = True
        return found


def is_time_per_step(unit: str) -> bool:
    """Return whether a unit is that of a duration, such as ``s``, ``ms`` or ``s/it``."""
    known = UNITS.get(unit)
    if known is not None:
        return known.base == "s"
    speed = _speed(unit)
    return speed is not None and speed.inverse


def seconds_in(unit: str) -> float:
    """Return the seconds in the time unit of a speed or duration: 0.001 for ``ms/step``.

    1 for a unit without a time.
    """
    for word in (unit, *unit.split("/")):
        known = UNITS.get(word)
        if known is not None and known.base == "s":
            return known.factor
    return 1.0


def _converted(value: float, unit: str, wanted: str) -> float | None:
    """Return a value in another unit; ``None`` if the units measure different things."""
    own, other = UNITS.get(unit), UNITS.get(wanted)
    if own is not None and other is not None and own.base == other.base:
        return value * own.factor / other.factor
    speed, target = _speed(unit), _speed(wanted)
    if speed is None or target is None:
        return None
    scale = _scale(speed.counted, target.counted)
    if scale is None:
        return None
    value *= speed.factor
    value = value / scale if speed.inverse else value * scale
    if speed.inverse != target.inverse:
        value = 1.0 / value if value else math.inf
    return value / target.factor


def _speed(unit: str) -> _Speed | None:
    """Return the parts of a speed unit such as ``it/s`` or ``ms/step``; ``None`` for others."""
    first, slash, second = unit.partition("/")
    if not slash:
        return None
    for counted, duration, inverse in ((first, second, False), (second, first, True)):
        time = UNITS.get(duration)
        if time is not None and time.base == "s":
            return _Speed(_singular(counted), inverse, time.factor if inverse else 1 / time.factor)
    return None


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 2 and word.endswith("s") else word


def _scale(counted: str, wanted: str) -> float | None:
    """Return how many wanted things one counted thing is: 1000 for ``kit`` and ``it``."""
    if counted == wanted:
        return 1.0
    own, other = UNITS.get(counted), UNITS.get(wanted)
    if own is not None and other is not None and own.base == other.base:
        return own.factor / other.factor
    for prefix, known in PREFIXES.items():
        if counted == prefix + wanted:
            return known.factor
        if wanted == prefix + counted:
            return 1.0 / known.factor
    return None
