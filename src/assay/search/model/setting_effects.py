"""Effects of settings in sparse models: their values, and the prior covariance of these."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

LENGTH = 0.5
"""Length scale of an effect in the columns of a setting, which range from 0 to 1."""
ROUGHNESS = 0.15
"""Share of the variance of an effect that is independent between values, however close they are."""
SAME_VALUE_DISTANCE = 1e-12
"""Squared distance below which values are the same."""
MAX_VALUES = 32
"""Maximum number of distinct numbers of a setting; more are rounded to as many positions."""
MAX_PAIRS = 100
"""Maximum number of distinct pairs of values of two settings that interact. If there are more,
numbers are rounded to ``PAIR_POSITIONS``; if that does not suffice, the settings do not
interact."""
PAIR_POSITIONS = 9


@dataclass(frozen=True)
class Term:
    """A part of an effect: of one setting, or of two that interact.

    Attributes:
        settings: indices of the settings.
        positions: number of positions to which the columns of each setting are rounded; 0 for
            exact values.
        values: columns of the distinct observed values; of an interaction, of the distinct pairs.
        places: number of the value of each configuration.
    """

    settings: tuple[int, ...]
    positions: tuple[int, ...]
    values: Array
    places: Places


@dataclass(frozen=True)
class Effect:
    """The effect of one or two settings, as a Gaussian process over their observed values.

    Attributes:
        terms: parts that are added.
        root: square root of the prior covariance of the effects of all values.
    """

    terms: tuple[Term, ...]
    root: Array

    @property
    def settings(self) -> tuple[int, ...]:
        """Indices of the settings."""
        return tuple(k for term in self.terms for k in term.settings)

    @property
    def size(self) -> int:
        """Number of values of all terms together."""
        return len(self.root)

    @functools.cached_property
    def places(self) -> tuple[Places, ...]:
        """Number of the value of each configuration, for each term.

        The numbers of a later term follow those of an earlier one.
        """
        begins = itertools.accumulate((len(term.values) for term in self.terms), initial=0)
        return tuple(begin + term.places for begin, term in zip(begins, self.terms, strict=False))

    @functools.cached_property
    def members(self) -> Any:
        """Indicator of the values of each configuration, values x configurations."""
        import numpy as np
        from scipy.sparse import csr_array

        count, terms = len(self.places[0]), len(self.places)
        columns = np.column_stack(self.places).reshape(-1)
        begins = np.arange(0, count * terms + 1, terms)
        found = csr_array((np.ones(len(columns)), columns, begins), shape=(count, self.size))
        return found.T.tocsr()

    def cross_table(self, weights: Array) -> Array:
        """Return the summed weights of configurations with each pair of values.

        Args:
            weights: weight of each configuration.
        """
        import numpy as np

        found = np.zeros(self.size**2)
        for one, other in itertools.product(self.places, repeat=2):
            found += np.bincount(one * self.size + other, weights, minlength=len(found))
        return found.reshape(self.size, self.size)


class SettingEffects:
    """Effects of the settings of a space on observed configurations.

    Args:
        rows: observed configurations x columns.
        settings: columns of each setting.
    """

    def __init__(self, rows: Array, settings: Sequence[slice]) -> None:
        self.count = len(rows)
        self._settings = tuple(settings)
        self._rows = rows
        columns = (rows[:, one] for one in self._settings)
        self._exact = [rounded_values(one, MAX_VALUES, MAX_VALUES) for one in columns]

    @property
    def varied(self) -> list[int]:
        """Settings with more than one observed value."""
        return [k for k, (_, values, _) in enumerate(self._exact) if len(values) > 1]

    def alone(self, setting: int) -> Effect:
        """Return the effect of one setting."""
        positions, values, places = self._exact[setting]
        term = Term((setting,), (positions,), values, places)
        return Effect((term,), _root(self.covariance(term, values, values)))

    def added(self, first: Effect, second: Effect) -> Effect:
        """Return the sum of two effects."""
        import numpy as np

        root = np.zeros((first.size + second.size, first.size + second.size))
        root[: first.size, : first.size] = first.root
        root[first.size :, first.size :] = second.root
        return Effect((*first.terms, *second.terms), root)

    def interacting(self, first: int, second: int) -> Effect | None:
        """Return the joint effect of two settings; ``None`` with too many pairs of values."""
        term = self._pairs(first, second, exact=True) or self._pairs(first, second, exact=False)
        if term is None:
            return None
        return Effect((term,), _root(self.covariance(term, term.values, term.values)))

    def _pairs(self, first: int, second: int, exact: bool) -> Term | None:
        """Return the distinct pairs of values of two settings, if they are few enough."""
        import numpy as np

        parts = [self._exact[first], self._exact[second]]
        if not exact:
            columns = (self._rows[:, self._settings[k]] for k in (first, second))
            parts = [rounded_values(one, PAIR_POSITIONS, PAIR_POSITIONS) for one in columns]
        (one, ones, at), (other, others, to) = parts
        numbers, places = np.unique(at * len(others) + to, return_inverse=True)
        if len(numbers) > MAX_PAIRS:
            return None
        values = np.hstack([ones[numbers // len(others)], others[numbers % len(others)]])
        return Term((first, second), (one, other), values, np.asarray(places).reshape(-1))

    def columns_of(self, term: Term, rows: Array) -> Array:
        """Return the columns of configurations that a term depends on, as in its ``values``."""
        import numpy as np

        pairs = zip(term.settings, term.positions, strict=True)
        columns = [rounded(rows[:, self._settings[k]], positions) for k, positions in pairs]
        return columns[0] if len(columns) == 1 else np.hstack(columns)

    def covariance(self, term: Term, first: Array, second: Array) -> Array:
        """Return the prior covariance of the effects of values of a term, for an amplitude of 1."""
        if len(term.settings) == 1:
            return correlation(first, second)
        columns = self._settings[term.settings[0]]
        width = columns.stop - columns.start
        one = correlation(first[:, :width], second[:, :width])
        two = correlation(first[:, width:], second[:, width:])
        found: Array = (one + two + one * two) * (2.0 / 3.0)
        return found


def correlation(first: Array, second: Array) -> Array:
    """Return the correlation of the effects of values of a setting."""
    import numpy as np

    squared = np.zeros((len(first), len(second)))
    for column in range(first.shape[1]):
        squared += (first[:, column, None] - second[None, :, column]) ** 2
    smooth = np.exp(squared * (-0.5 / LENGTH**2))
    return np.asarray((1.0 - ROUGHNESS) * smooth + ROUGHNESS * (squared < SAME_VALUE_DISTANCE))


def rounded(columns: Array, positions: int) -> Array:
    """Return columns rounded to a number of positions from 0 to 1; exact for 0."""
    import numpy as np

    return np.round(columns * (positions - 1)) / (positions - 1) if positions else columns


def rounded_values(columns: Array, max_values: int, positions: int) -> tuple[int, Array, Places]:
    """Return the positions that columns are rounded to, the distinct values, and their numbers.

    Args:
        columns: configurations x columns of a setting.
        max_values: number of values above which columns are rounded.
        positions: number of positions to which they are rounded.
    """
    values, places = distinct(columns)
    if len(values) <= max_values:
        return 0, values, places
    return positions, *distinct(rounded(columns, positions))


def distinct(columns: Array) -> tuple[Array, Places]:
    """Return the distinct rows, and the number of each."""
    import numpy as np

    if columns.shape[1] == 1:
        numbers, places = np.unique(columns[:, 0], return_inverse=True)
        return numbers[:, None], np.asarray(places).reshape(-1)
    values, places = np.unique(columns, axis=0, return_inverse=True)
    return values, np.asarray(places).reshape(-1)


def _root(covariance: Array) -> Array:
    import numpy as np

    spread, directions = np.linalg.eigh(covariance)
    found: Array = directions * np.sqrt(np.maximum(spread, 0.0))
    return found
