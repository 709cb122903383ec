"""Quantities as Python values: durations, shares and counts."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from assay.errors import InvalidInputError

Duration: TypeAlias = str | float | datetime.timedelta
"""Duration: text as on the command line (``"10m"``), seconds, or a ``timedelta``."""
Share: TypeAlias = str | float
"""Share: text as on the command line (``"1%"``), or a number between 0 and 1."""
Texts: TypeAlias = str | Sequence[str]
"""One text or several."""
Named: TypeAlias = Mapping[str, str] | Texts
"""Texts by name, or ``NAME=TEXT``."""


def path_text(path: str | os.PathLike[str] | None) -> str | None:
    """Return a path as text; ``None`` without one."""
    return None if path is None else os.fspath(path)


def duration_text(value: Duration | None) -> str | None:
    """Return a duration as the text of an option; ``None`` without one.

    Raises:
        InvalidInputError: the number is not finite.
    """
    if value is None or isinstance(value, str):
        return value
    seconds = value.total_seconds() if isinstance(value, datetime.timedelta) else float(value)
    if not math.isfinite(seconds):
        raise InvalidInputError(
            f"{value} is not a duration.", "Give seconds above 0, or a text such as 10m."
        )
    return f"{int(seconds) if seconds.is_integer() else repr(seconds)}s"


def share_text(value: Share | None) -> str | None:
    """Return a share as the text of an option; ``None`` without one."""
    return value if value is None or isinstance(value, str) else repr(float(value))


def count_text(value: str | int | None) -> str | None:
    """Return a count as the text of an option; ``None`` without one."""
    return value if value is None or isinstance(value, str) else str(value)


def texts(values: Texts | None) -> tuple[str, ...]:
    """Return the values of a repeatable option."""
    if values is None:
        return ()
    return (values,) if isinstance(values, str) else tuple(values)


def named_texts(values: Named | None) -> tuple[str, ...]:
    """Return the values ``NAME=TEXT`` of a repeatable option."""
    if isinstance(values, Mapping):
        return tuple(f"{name}={text}" for name, text in values.items())
    return texts(values)
