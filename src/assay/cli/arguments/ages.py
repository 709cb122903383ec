"""Dates, ages and counts of the command line."""

from __future__ import annotations

import datetime

from assay.errors import InvalidInputError
from assay.units import parse_duration_s

_DAY = datetime.timedelta(days=1)
_UNITS = "units: d, h, m, s"
_FORMS = f"Write for example 2026-11-28, '2026-11-28 14:30', or an age such as 7d ({_UNITS})."


def begin_of(option: str, text: str, now_s: float) -> float:
    """Return the beginning of a day, or a time, in seconds since 1970 (UTC).

    Args:
        option: name of the option, for messages.
        text: date, or date and time, in the local time zone; or an age.
        now_s: present time, in seconds since 1970 (UTC).

    Raises:
        InvalidInputError: invalid date.
    """
    return _period(option, text, now_s)[0]


def end_of(option: str, text: str, now_s: float) -> float:
    """Return the end of a day, or a time, in seconds since 1970 (UTC); as ``begin_of``."""
    return _period(option, text, now_s)[1]


def count_of(option: str, text: str, least: int) -> int:
    """Return a number of studies.

    Raises:
        InvalidInputError: not a whole number, or below ``least``.
    """
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 9 or int(digits) < least:
        raise InvalidInputError(
            f"{option} {text}: invalid number of studies.",
            f"Write a whole number from {least}, for example {option} 20.",
        )
    return int(digits)


def age_of(option: str, text: str) -> float:
    """Return an age, in seconds.

    Raises:
        InvalidInputError: invalid duration, or one without a unit.
    """
    age_s = _age_s(text)
    if age_s is None:
        raise InvalidInputError(
            f"{option} {text}: invalid age.", f"Write a unit, for example {option} 90d ({_UNITS})."
        )
    return age_s


def _age_s(text: str) -> float | None:
    """Return an age in seconds; ``None`` for other texts.

    A number without a unit is none: ``20261128`` is a day, and ``90`` hardly means seconds.
    """
    try:
        return parse_duration_s(text) if text[-1:].isalpha() else None
    except InvalidInputError:
        return None


def _period(option: str, text: str, now_s: float) -> tuple[float, float]:
    age_s = _age_s(text)
    if age_s is not None:
        return (now_s - age_s,) * 2
    try:
        begin = datetime.datetime.fromisoformat(text.strip())
        whole_day = len(text.strip()) <= len("2026-11-28")
        end = begin + _DAY if whole_day else begin
        return begin.timestamp(), end.timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInputError(f"{option} {text}: invalid date.", _FORMS) from error
