"""Scale: a common unit and number of decimals of related values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from assay.reporting.formatting import MINUS
from assay.units import significant
from assay.untrusted import clean

_TIME = ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "\u00b5s"), (1e-9, "ns"))
_BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_LONG_S = 600.0
"""Maximum duration in seconds rather than minutes: 95.2 s is easier to read than 1.59 min."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Format of the values of a metric.

    Attributes:
        factor: divisor of values in ``unit``.
        unit: text; empty without a unit.
        decimals: number of decimals in a column.
    """

    factor: float
    unit: str
    decimals: int

    def number(self, value: float) -> str:
        """Return a value without its unit, with grouped thousands."""
        shown = f"{abs(value) / self.factor:,.{self.decimals}f}"
        return f"{MINUS}{shown}" if value < 0 else shown

    def spread(self, value: float) -> str:
        """Return a value with more decimals if it would be shown as zero."""
        shown = self.number(value)
        none = value == 0 or any(digit in shown for digit in "123456789")
        return shown if none else significant(value / self.factor, 1)

    def quantity(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{self.number(value)} {self.unit}".rstrip()


def scale_for(values: Iterable[float], unit: str) -> Scale:
    """Return the scale for typical values, at four significant digits.

    Args:
        values: values in the unit of the metric.
        unit: ``s``, ``bytes``, or any text, which is unchanged.
    """
    sizes = sorted(abs(v) for v in values if v != 0 and math.isfinite(v))
    typical = sizes[len(sizes) // 2] if sizes else 1.0
    factor, shown = _step(typical, unit)
    magnitude = math.floor(math.log10(typical / factor))
    return Scale(factor, shown, min(9, max(0, 3 - magnitude)))


def _step(typical: float, unit: str) -> tuple[float, str]:
    if unit == "s":
        if 1.0 <= typical < _LONG_S:
            return 1.0, "s"
        return next((s for s in _TIME if typical >= s[0]), _TIME[-1])
    if unit == "bytes":
        return next((s for s in _BYTES if typical >= s[0]), _BYTES[-1])
    return 1.0, clean(unit)
