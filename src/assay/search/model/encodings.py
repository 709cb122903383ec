"""Encodings: values of a setting as coordinates of the unit cube, for a surrogate.

The domain determines distances. Numbers keep their order; those that range over a large factor lie
on a logarithmic scale. All names are equally far apart. A setting that is not set, and whose
default is unknown, lies in the middle of its numbers and is marked by a separate column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.records import Choices, Parameter, Range, Value
from assay.records.configuration import is_number
from assay.search.space.search_space import SearchSpace, same_value

MIN_LOG_RATIO = 4.0
"""Minimum ratio of the largest to the smallest number for a logarithmic scale."""
UNSET_POSITION = 0.5
QUARTERS = 4
"""Number of levels of a parameter that may take any number: the quarters of its scale."""
NAME_DISTANCE = math.sqrt(0.5)
"""Coordinate of a name: two names are as far apart as the ends of a scale of numbers."""


@dataclass(frozen=True)
class Feature:
    """The columns of one parameter.

    Attributes:
        parameter: the encoded parameter.
        width: number of columns.
        encode: encodes a value; ``None`` stands for a setting that is not set.
    """

    parameter: Parameter
    width: int
    encode: Callable[[Value | None], tuple[float, ...]]


def encoding_of(space: SearchSpace, name: str) -> Feature:
    """Return the encoding of a parameter."""
    parameter = space.parameters[name]
    scale = _scale(parameter)
    if scale is None:
        return _names(parameter, space.options(name) or ())
    power = _power(parameter)
    if parameter.default is not None:
        return Feature(parameter, 1 + len(power(1)), lambda value: (scale(value), *power(value)))
    return Feature(
        parameter,
        2 + len(power(1)),
        lambda value: (
            *((UNSET_POSITION, 0.0) if value is None else (scale(value), NAME_DISTANCE)),
            *power(value),
        ),
    )


def _power(parameter: Parameter) -> Callable[[Value | None], tuple[float, ...]]:
    """Return a column that distinguishes powers of two from other integers, if a domain has both.

    Sizes of blocks, tiles and teams that are powers of two behave more like each other than like
    their neighbours: they fit cache lines, vectors and cores.
    """
    domain = parameter.domain
    values = domain.values() if isinstance(domain, Choices) else ()
    kinds = {_is_power(value) for value in values if isinstance(value, int) and value > 2}
    if len(kinds) < 2:
        return lambda _: ()
    return lambda value: (NAME_DISTANCE * _is_power(value),)


def _is_power(value: Value | None) -> bool:
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0


def _scale(parameter: Parameter) -> Callable[[Value | None], float] | None:
    """Return the scale of a numeric domain, from its minimum to its maximum; ``None`` for names."""
    domain = parameter.domain
    if isinstance(domain, Range):
        low, high, ordered = float(domain.low), float(domain.high), None
        log = domain.log
    elif not isinstance(domain, Choices):
        return None
    else:
        values = list(domain.values())
        if parameter.default is not None and not any(
            same_value(v, parameter.default) for v in values
        ):
            values.append(parameter.default)
        if len(values) < 2 or not all(is_number(v) for v in values):
            return None
        ordered = sorted(float(v) for v in values)
        low, high = ordered[0], ordered[-1]
        log = len(ordered) > 2 and low > 0 and high / low >= MIN_LOG_RATIO
    if high <= low:
        return lambda _: UNSET_POSITION

    def encode(value: Value | None) -> float:
        number = float(value) if is_number(value) else low

        if log and low > 0:
            at = math.log(max(number, low) / low) / math.log(high / low)
        elif ordered is not None:
            at = _rank(number, ordered)
        else:
            at = (number - low) / (high - low)
        return min(1.0, max(0.0, at))

    return encode


def _rank(number: float, ordered: Sequence[float]) -> float:
    nearest = min(range(len(ordered)), key=lambda i: abs(ordered[i] - number))
    return nearest / (len(ordered) - 1)


def _names(parameter: Parameter, options: Sequence[Value | None]) -> Feature:
    """Return one column for each name; a single column for two names."""
    names = [parameter.default, *options[1:]]
    if len(names) <= 2:
        return Feature(parameter, 1, lambda v: (float(not _same(v, names[0])),))
    return Feature(
        parameter, len(names), lambda v: tuple(NAME_DISTANCE * _same(v, name) for name in names)
    )


def _same(a: Value | None, b: Value | None) -> bool:
    return (a is None and b is None) or same_value(a, b)
