"""Coding of configurations: one number for each setting, so that arrays hold many of them.

The code of a value is its index among the options of its setting; that of a continuous range is the
value itself. Encoded columns and levels follow from the codes without a loop over configurations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from assay.records import Configuration, Range, Value
from assay.records.configuration import is_number
from assay.search.model.encodings import NAME_DISTANCE, QUARTERS, UNSET_POSITION, Feature

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

NEAR_SHARE = 0.1
"""Distance of the neighbours of a number, as a share of its continuous range."""


class SettingCodes(Protocol):
    """Codes of one setting."""

    def code(self, value: Value | None) -> float:
        """Return the code of a value; ``None`` stands for a setting that is not set."""
        ...

    def value(self, code: float) -> Value | None:
        """Return the value of a code."""
        ...

    def drawn(self, shares: Array) -> Array:
        """Return random codes.

        Args:
            shares: random numbers from 0 to 1.
        """
        ...

    def near(self, code: float) -> Array:
        """Return the codes of other values; of a continuous range, of the nearest ones."""
        ...

    def columns(self, codes: Array) -> Array:
        """Return the encoded columns, configurations x columns."""
        ...

    def levels(self, codes: Array) -> Places:
        """Return the level numbers of values."""
        ...


class OptionCodes:
    """Codes of a setting with options: their indices. Values that are no options are appended.

    Args:
        feature: encoding of the setting.
        options: its values, its default first.
    """

    def __init__(self, feature: Feature, options: Sequence[Value | None]) -> None:
        self._feature = feature
        self._count = len(options)
        self._values: list[Value | None] = []
        self._codes: dict[tuple[type, Value | None], float] = {}
        self._table: Array | None = None
        for value in options:
            self.code(value)

    def code(self, value: Value | None) -> float:
        """See ``SettingCodes.code``."""
        key = (type(value), value)
        found = self._codes.get(key)
        if found is None:
            found = self._codes[key] = float(len(self._values))
            self._values.append(value)
            self._table = None
        return found

    def value(self, code: float) -> Value | None:
        """See ``SettingCodes.value``."""
        return self._values[int(code)]

    def drawn(self, shares: Array) -> Array:
        """See ``SettingCodes.drawn``; all options are equally likely."""
        import numpy as np

        return np.minimum(np.floor(shares * self._count), self._count - 1.0)

    def near(self, code: float) -> Array:
        """See ``SettingCodes.near``."""
        import numpy as np

        every = np.arange(self._count, dtype=np.float64)
        return np.asarray(every[every != code])

    def columns(self, codes: Array) -> Array:
        """See ``SettingCodes.columns``."""
        import numpy as np

        if self._table is None:
            default = self._feature.parameter.default
            rows = [self._feature.encode(default if v is None else v) for v in self._values]
            self._table = np.array(rows, dtype=np.float64).reshape(len(rows), -1)
        return self._table[codes.astype(np.intp)]

    def levels(self, codes: Array) -> Places:
        """See ``SettingCodes.levels``."""
        import numpy as np

        return codes.astype(np.intp)


class RangeCodes:
    """Codes of a setting with a continuous range: its values; not a number stands for not set.

    Args:
        feature: encoding of the setting.
        domain: the range.
    """

    def __init__(self, feature: Feature, domain: Range) -> None:
        self._feature = feature
        self._domain = domain

    def code(self, value: Value | None) -> float:
        """See ``SettingCodes.code``."""
        return float(value) if is_number(value) else math.nan

    def value(self, code: float) -> Value | None:
        """See ``SettingCodes.value``."""
        if math.isnan(code):
            return None
        return round(code) if self._domain.integer else float(code)

    def drawn(self, shares: Array) -> Array:
        """See ``SettingCodes.drawn``; the values are those of ``Range.at``."""
        import numpy as np

        low, high = float(self._domain.low), float(self._domain.high)
        if self._domain.log:
            found = low * np.exp(math.log(high / low) * shares)
        else:
            found = low + (high - low) * shares
        found = np.clip(found, low, high)
        found = np.round(found) if self._domain.integer else found
        found += 0.0  # -0.0 becomes 0.0: equal values have equal bytes
        default = self._feature.parameter.default
        if is_number(default):
            found[found == default] = math.nan
        return found

    def near(self, code: float) -> Array:
        """See ``SettingCodes.near``; ``NEAR_SHARE`` of the range away, and not set."""
        import numpy as np

        unset = math.isnan(code)
        position = UNSET_POSITION if unset else self._domain.position(code)
        shares = np.array([position - NEAR_SHARE, position + NEAR_SHARE])
        found = self.drawn(np.clip(shares, 0.0, 1.0))
        return found if unset else np.append(found[found != code], math.nan)

    def columns(self, codes: Array) -> Array:
        """See ``SettingCodes.columns``."""
        import numpy as np

        default = self._feature.parameter.default
        unset = np.isnan(codes)
        own = self._positions(np.where(unset, float(self._domain.low), codes))[:, None]
        if default is not None:
            own[unset] = self._feature.encode(default)[0]
            return own
        marks = np.where(unset, 0.0, NAME_DISTANCE)[:, None]
        return np.hstack([np.where(unset[:, None], UNSET_POSITION, own), marks])

    def _positions(self, values: Array) -> Array:
        """Return positions on the scale of the range, from 0 to 1."""
        import numpy as np

        low, high = float(self._domain.low), float(self._domain.high)
        if high <= low:
            return np.full(len(values), UNSET_POSITION)
        if self._domain.log and low > 0:
            found = np.log(np.maximum(values, low) / low) / math.log(high / low)
        else:
            found = (values - low) / (high - low)
        return np.clip(found, 0.0, 1.0)

    def levels(self, codes: Array) -> Places:
        """See ``SettingCodes.levels``."""
        import numpy as np

        positions = self.columns(codes)[:, 0]
        return np.minimum((QUARTERS * positions).astype(np.intp), QUARTERS - 1)


class Coding:
    """Codes of the configurations of a space.

    Args:
        features: encoding of each setting.
        options: values of each setting; ``None`` for a continuous range.
    """

    def __init__(
        self, features: Sequence[Feature], options: Sequence[tuple[Value | None, ...] | None]
    ) -> None:
        self.names = [feature.parameter.name for feature in features]
        self.settings = [
            _codes_of(feature, values) for feature, values in zip(features, options, strict=True)
        ]

    def codes(self, configurations: Sequence[Configuration]) -> Array:
        """Return the codes, configurations x settings."""
        import numpy as np

        unset = np.array([setting.code(None) for setting in self.settings])
        found = np.repeat(unset[None, :], len(configurations), axis=0)
        places = {name: at for at, name in enumerate(self.names)}
        for row, configuration in zip(found, configurations, strict=True):
            for name, value in configuration.items():
                at = places.get(name)
                if at is not None:
                    row[at] = self.settings[at].code(value)
        return found

    def drawn(self, count: int, rng: np.random.Generator) -> Array:
        """Draw the codes of configurations whose values are equally likely."""
        shares = rng.random((len(self.settings), count))
        for at, setting in enumerate(self.settings):
            shares[at] = setting.drawn(shares[at])
        return shares.T.copy()

    def neighbours(self, codes: Array) -> Array:
        """Return the codes of configurations that differ in one setting from one."""
        import numpy as np

        found = []
        for at, setting in enumerate(self.settings):
            others = setting.near(float(codes[at]))
            changed = np.repeat(codes[None, :], len(others), axis=0)
            changed[:, at] = others
            found.append(changed)
        return np.vstack(found) if found else codes[None, :][:0]

    def rows(self, codes: Array) -> Array:
        """Return the encoded columns, configurations x columns."""
        import numpy as np

        if not self.settings:
            return np.zeros((len(codes), 0))
        pairs = enumerate(self.settings)
        return np.hstack([setting.columns(codes[:, at]) for at, setting in pairs])

    def levels(self, codes: Array) -> Places:
        """Return the level numbers, configurations x settings."""
        import numpy as np

        found = np.empty(codes.shape, dtype=np.intp)
        for at, setting in enumerate(self.settings):
            found[:, at] = setting.levels(codes[:, at])
        return found

    def configuration(self, codes: Array) -> Configuration:
        """Return the configuration of one row of codes."""
        triples = zip(self.names, self.settings, codes.tolist(), strict=True)
        pairs = ((name, setting.value(code)) for name, setting, code in triples)
        return Configuration({name: value for name, value in pairs if value is not None})


def _codes_of(feature: Feature, values: tuple[Value | None, ...] | None) -> SettingCodes:
    domain = feature.parameter.domain
    if values is None and isinstance(domain, Range):
        return RangeCodes(feature, domain)
    return OptionCodes(feature, values or (None,))
