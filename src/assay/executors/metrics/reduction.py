"""Reduction of all matches in an output to one figure, as ``NAME@p99=PATTERN`` requests."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from assay.errors import InvalidInputError, nearest
from assay.stats.quantile import quantile

_WAYS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": lambda values: quantile(values, 0.5),
    "max": max,
    "min": min,
    "sum": math.fsum,
}
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]+)?)", re.ASCII)


def reduce_values(way: str, values: Sequence[float]) -> float:
    """Return one figure of the values of a launch.

    Args:
        way: reduction that ``demand_reduction`` accepts; quantiles follow definition 7.
        values: at least one value, all in one unit.
    """
    found = _PERCENTILE.fullmatch(way)
    if found:
        return quantile(values, float(found[1]) / 100.0)
    return _WAYS[way](values)


def demand_reduction(way: str, text: str) -> None:
    """Refuse an unknown reduction.

    Args:
        way: text behind the ``@``.
        text: whole specification, for the message.

    Raises:
        InvalidInputError: the reduction is unknown; the message lists the known ones.
    """
    found = _PERCENTILE.fullmatch(way)
    if way in _WAYS or (found and float(found[1]) > 0.0):
        return
    near = nearest(way, tuple(_WAYS))
    raise InvalidInputError(
        f"--metric {text}: unknown reduction of all matches to one figure: {way!r}.",
        f"Did you mean {near}?"
        if near
        else f"Use one of {', '.join(f'@{known}' for known in _WAYS)}, or a quantile such as "
        "@p99 or @p99.9.",
    )
