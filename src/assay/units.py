"""Quantities as text: parsing of user input, formatting of measured values.

Inside assay a quantity is a plain number whose name carries the unit (``wall_s``, ``peak_bytes``).
Text exists only at the edges.
"""

from __future__ import annotations

import math
import re
import signal

from assay.errors import InvalidInputError

_TIME = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_BINARY = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_NUMBER = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%]*)\s*")
_MAX_DURATION_S = 1e9
"""30 years: a longer duration is a typing error, and breaks arithmetic on clocks."""
_MAX_BYTES = 2**63 - 1
"""Largest size that the kernel accepts, in bytes."""


def parse_duration_s(text: str) -> float:
    """Parse a duration in seconds: ``90``, ``90s``, ``1.5m``, ``2h``, ``90d`` or ``250ms``.

    Raises:
        InvalidInputError: the text is not a duration from 1 ns to 30 years.
    """
    match = _NUMBER.fullmatch(text)
    factor = _TIME.get(match[2].lower() or "s") if match else None
    seconds = float(match[1]) * factor if match and factor else math.nan
    if not 1e-9 <= seconds <= _MAX_DURATION_S:
        bound = " above zero" if seconds < 1e-9 else " below 30 years" if seconds > 0 else ""
        raise InvalidInputError(
            f"{text!r} is not a duration{bound}.", "Write for example 90s, 10m or 2h."
        )
    return seconds


def parse_bytes(text: str) -> int:
    """Parse a size in bytes: ``4096``, ``64K``, ``8G``, ``8GiB`` (powers of 1024, as in systemd).

    Raises:
        InvalidInputError: the text is not a size.
    """
    match = _NUMBER.fullmatch(text)
    suffix = match[2].lower() if match else ""
    for ending in ("ib", "b"):
        if suffix != "b" and suffix.endswith(ending):
            suffix = suffix.removesuffix(ending)
            break
    factor = _BINARY.get(suffix)
    size = float(match[1]) * factor if match and factor else math.nan
    if not 0 <= size <= _MAX_BYTES:
        bound = " below 8 EiB" if size > 0 else ""
        raise InvalidInputError(f"{text!r} is not a size{bound}.", "Write for example 512M or 8G.")
    return min(int(size), _MAX_BYTES)  # its nearest float lies above it


def parse_share(text: str) -> float:
    """Parse a share: ``1%`` or ``0.01``.

    Raises:
        InvalidInputError: the value is not between 0 and 1.
    """
    match = _NUMBER.fullmatch(text)
    value = math.nan
    if match is not None and match[2] in ("", "%"):
        value = float(match[1]) / (100.0 if match[2] else 1.0)
    if not 0.0 < value < 1.0:
        bound = "" if math.isnan(value) else " above 0 and below 100 %"
        raise InvalidInputError(f"{text!r} is not a share{bound}.", "Write for example 1% or 0.01.")
    return value


def show_duration(seconds: float) -> str:
    """Format a duration with three digits: ``1.24 s``, ``38.0 ms``, ``6 min 5 s``."""
    if seconds >= 119.5:
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= factor:
            return f"{significant(seconds / factor)} {unit}"
    return f"{significant(seconds / 1e-9)} ns" if seconds > 0 else "0 s"


def show_bytes(count: float) -> str:
    """Format a size in powers of 1024: ``1.50 GiB``."""
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= factor:
            return f"{significant(count / factor)} {unit}"
    return f"{count:.0f} B"


def show_quantity(value: float, unit: str) -> str:
    """Format a value with its unit, scaled if the unit allows it."""
    if unit == "s":
        return show_duration(value)
    if unit == "bytes":
        return show_bytes(value)
    return f"{significant(value)} {unit}".rstrip()


def show_exactly(value: float, unit: str) -> str:
    """Format a value that does not vary with its unit: without zeros that suggest a precision."""
    if unit in ("s", "bytes"):
        return show_quantity(value, unit)
    digits = ".0f" if 1e6 <= abs(value) < 1e15 else ".6g"
    return f"{value:{digits}} {unit}".rstrip()


def significant(value: float, digits: int = 3) -> str:
    """Format a value with ``digits`` significant digits; ordinary magnitudes have no exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = f"{value:.{digits - 1}e}"
    exponent = int(rounded.partition("e")[2])  # rounding may raise it: 9.9996 becomes 10.0
    if -5 < exponent < 7:
        return f"{value:.{max(0, digits - 1 - exponent)}f}"
    return rounded


def show_level(alpha: float) -> str:
    """Format the level of an interval as a percentage, rounded down: 95, 98.75, 99.54."""
    return f"{math.floor(1e4 * (1.0 - alpha) + 1e-6) / 100:g} %"


def show_percent(ratio: float) -> str:
    """Format the change from 1 to ``ratio`` in per cent with a sign: ``-18.2``, ``+1.9``, ``0.0``.

    Claims in words are those of ``search.sentence``.
    """
    shown = f"{100.0 * (ratio - 1.0):+.1f}"
    return "0.0" if shown in ("+0.0", "-0.0") else shown


def show_count(number: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun: ``1 launch``, ``3 launches``, ``1,204 samples``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def show_signal(number: int) -> str:
    """Return the name of a signal, as ``SIGKILL``; ``signal 40`` for a signal without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
