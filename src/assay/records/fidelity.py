"""Fidelity: a setting of the program whose low values make a launch cheap."""

from __future__ import annotations

from assay.records.codec import Record
from assay.records.configuration import Value


class Fidelity(Record, frozen=True, kw_only=True):
    """Setting that a search keeps low at first, such as a number of steps.

    Attributes:
        name: name of the setting, ``arg.NAME`` or ``env.NAME``.
        levels: its values, the cheapest first; the last one is the full fidelity, which all claims
            rest on.
    """

    name: str
    levels: tuple[Value, ...]

    @property
    def full(self) -> Value:
        """Return the value of the full fidelity."""
        return self.levels[-1]

    @property
    def low(self) -> tuple[Value, ...]:
        """Return the values below the full fidelity, the cheapest first."""
        return self.levels[:-1]


class FidelityLevel(Record, frozen=True, kw_only=True):
    """Launches of a search at one fidelity.

    Attributes:
        value: value of the setting.
        launches: number of launches.
        configurations: number of configurations, including the default.
        time_s: time of these launches, in seconds.
    """

    value: Value
    launches: int
    configurations: int
    time_s: float


class FidelityResult(Record, frozen=True, kw_only=True):
    """Agreement of the order of configurations at low and at full fidelity.

    Only configurations that were launched at both count. Most of them were selected, so they
    differ less than all configurations do.

    Attributes:
        name: name of the setting.
        levels: launches at each fidelity that the search used, the lowest first.
        configurations: number of configurations with values at the lowest of them and at the full
            fidelity.
        tau: Kendall's tau-b of these values: 1 for the same order, 0 for unrelated orders, -1 for
            the reverse order; absent if the order is not defined.
        ci: 95 % bootstrap interval of tau over configurations; absent below eight.
        ceiling: tau between two halves of the launches at one fidelity, which shows the effect of
            the noise alone; absent if too few configurations have two launches.
        top: number of the best configurations at full fidelity that ``top_found`` refers to.
        top_found: how many of these are in the best quarter at low fidelity.
    """

    name: str
    levels: tuple[FidelityLevel, ...] = ()
    configurations: int = 0
    tau: float | None = None
    ci: tuple[float, float] | None = None
    ceiling: float | None = None
    top: int = 0
    top_found: int = 0
