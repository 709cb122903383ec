"""Statistic of all matches in an output, as ``NAME@p99=PATTERN`` requests."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from assay.errors import InvalidInputError, nearest
from assay.stats.quantile import quantile

_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": lambda values: quantile(values, 0.5),
    "max": max,
    "min": min,
    "sum": math.fsum,
}
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]+)?)", re.ASCII)


def statistic_of(name: str, values: Sequence[float]) -> float:
    """Return a statistic of the values of a launch.

    Args:
        name: statistic that ``demand_statistic`` accepts; quantiles follow definition 7.
        values: at least one value, all in one unit.
    """
    found = _PERCENTILE.fullmatch(name)
    if found:
        return quantile(values, float(found[1]) / 100.0)
    return _STATISTICS[name](values)


def demand_statistic(name: str, text: str) -> None:
    """Refuse an unknown statistic.

    Args:
        name: text after the ``@``.
        text: whole specification, for the message.

    Raises:
        InvalidInputError: the statistic is unknown; the message lists the known ones.
    """
    found = _PERCENTILE.fullmatch(name)
    if name in _STATISTICS or (found and float(found[1]) > 0.0):
        return
    near = nearest(name, tuple(_STATISTICS))
    raise InvalidInputError(
        f"--metric {text}: unknown statistic of all matches: {name!r}.",
        f"Did you mean {near}?"
        if near
        else f"Use one of {', '.join(f'@{known}' for known in _STATISTICS)}, or a quantile such as "
        "@p99 or @p99.9.",
    )
