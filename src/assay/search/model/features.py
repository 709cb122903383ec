"""Features: encoding of configurations as points of the unit cube, for a surrogate.

The domain determines distances. Numbers keep their order; those that range over a large factor lie
on a logarithmic scale. All names are equally far apart. A setting that is not set, and whose
default is unknown, lies in the middle of its numbers and is marked by a separate column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.records import Choices, Configuration, Parameter, Range, Value
from assay.records.configuration import is_number
from assay.search.space.search_space import SearchSpace, same_value

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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


class Features:
    """The columns of a space.

    Args:
        space: search space of the configurations.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._features = [_feature(space, name) for name in space.parameters]
        self._options = {name: space.options(name) for name in space.parameters}

    def levels(self, configurations: Sequence[Configuration]) -> npt.NDArray[np.intp]:
        """Return the level number of each value, configurations x parameters."""
        import numpy as np

        columns = [self._levels(feature, configurations) for feature in self._features]
        return np.array(columns, dtype=np.intp).reshape(-1, len(configurations)).T

    def _levels(self, feature: Feature, configurations: Sequence[Configuration]) -> list[int]:
        name = feature.parameter.name
        if self._options[name] is None:
            positions = self._columns(feature, configurations)[:, 0]
            return [min(int(QUARTERS * at), QUARTERS - 1) for at in positions]
        numbers: dict[tuple[type, Value | None], int] = {}
        values = [configuration.get(name) for configuration in configurations]
        return [numbers.setdefault((type(value), value), len(numbers)) for value in values]

    @property
    def settings(self) -> dict[str, slice]:
        """Columns of each parameter, by its name."""
        found, at = {}, 0
        for feature in self._features:
            found[feature.parameter.name] = slice(at, at + feature.width)
            at += feature.width
        return found

    def rows(self, configurations: Sequence[Configuration]) -> npt.NDArray[np.float64]:
        """Return the encoded configurations, configurations x columns, each from 0 to 1."""
        import numpy as np

        blocks = [self._columns(feature, configurations) for feature in self._features]
        return np.hstack(blocks) if blocks else np.zeros((len(configurations), 0))

    def _columns(
        self, feature: Feature, configurations: Sequence[Configuration]
    ) -> npt.NDArray[np.float64]:
        import numpy as np

        name, default = feature.parameter.name, feature.parameter.default
        known: dict[tuple[type, Value | None], tuple[float, ...]] = {}
        rows = []
        for configuration in configurations:
            value = configuration.get(name, default)
            key = (type(value), value)
            if key not in known:
                known[key] = feature.encode(value)
            rows.append(known[key])
        return np.array(rows, dtype=np.float64).reshape(len(rows), feature.width)


def _feature(space: SearchSpace, name: str) -> Feature:
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
