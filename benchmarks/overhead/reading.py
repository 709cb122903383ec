"""Readings, which are single figures, and tables of readings by round."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

NORMAL_975 = statistics.NormalDist().inv_cdf(0.975)
RESAMPLES = 1000
DIGITS = 7
"""Decimal places of a reading in seconds (0.1 µs)."""


@dataclass(frozen=True)
class Key:
    """Identity of a figure; ``quantity`` carries its unit."""

    part: str
    case: str
    tool: str
    quantity: str


@dataclass(frozen=True)
class Reading:
    """One figure."""

    key: Key
    value: float


@dataclass(frozen=True)
class Quartiles:
    """Quartiles by definition 7 of Hyndman and Fan, and the first decile (quiet moments)."""

    p10: float
    q1: float
    median: float
    q3: float

    @property
    def range(self) -> float:
        """The interquartile range."""
        return self.q3 - self.q1


def quartiles(values: Sequence[float]) -> Quartiles:
    """Return the quartiles of one value or more."""
    if len(values) == 1:
        return Quartiles(values[0], values[0], values[0], values[0])
    p10 = statistics.quantiles(values, n=10, method="inclusive")[0]
    return Quartiles(p10, *statistics.quantiles(values, n=4, method="inclusive"))


@dataclass(frozen=True)
class Difference:
    """Median difference or ratio with a 95 % bootstrap interval, imprecise with few rounds."""

    middle: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True)
class Share:
    """Number of launches that were off, and of all launches."""

    count: int
    launches: int

    @property
    def per_thousand(self) -> float:
        """Number of launches that were off, per 1,000."""
        return 1000 * self.count / self.launches

    def wilson(self) -> tuple[float, float]:
        """Return the 95 % interval of Wilson (1927)."""
        share, z2 = self.count / self.launches, NORMAL_975**2
        middle = share + z2 / (2 * self.launches)
        half = NORMAL_975 * math.sqrt(
            share * (1 - share) / self.launches + z2 / (4 * self.launches**2)
        )
        below = 1 + z2 / self.launches
        return max(0.0, (middle - half) / below), min(1.0, (middle + half) / below)

    def beyond(self, other: Share) -> tuple[float, float]:
        """Return the 95 % interval of the difference: method 10 of Newcombe (1998)."""
        (low, high), (other_low, other_high) = self.wilson(), other.wilson()
        share, other_share = self.count / self.launches, other.count / other.launches
        return (
            share - other_share - math.hypot(share - low, other_high - other_share),
            share - other_share + math.hypot(high - share, other_share - other_low),
        )


class Table:
    """All readings of a run, by key and round."""

    def __init__(self) -> None:
        self._rounds: dict[Key, dict[int, list[float]]] = {}

    def add(self, number: int, readings: Iterable[Reading]) -> None:
        """Add the readings of one visit of a round."""
        for reading in readings:
            rounds = self._rounds.setdefault(reading.key, {})
            rounds.setdefault(number, []).append(round(reading.value, DIGITS))

    def values(self, key: Key) -> list[float]:
        """Return all values of a figure; none if there are none."""
        return [value for values in self._rounds.get(key, {}).values() for value in values]

    def rounds(self, key: Key) -> dict[int, list[float]]:
        """Return the values of a figure, by round."""
        return self._rounds.get(key, {})

    def quartiles(self, key: Key) -> Quartiles | None:
        """Return the quartiles of all values of a figure."""
        found = self.values(key)
        return quartiles(found) if found else None

    def median(self, key: Key) -> float | None:
        """Return the median of all values of a figure."""
        found = self.values(key)
        return statistics.median(found) if found else None

    def difference(self, one: Key, other: Key) -> Difference | None:
        """Return the median difference between the medians of two figures in each round.

        Launches of a round share the load of the machine, which partly cancels out.
        """
        return self._compared(one, other, lambda first, second: first - second)

    def ratio(self, one: Key, other: Key) -> Difference | None:
        """Return the median over rounds of the ratio of the medians of two figures."""
        return self._compared(one, other, lambda first, second: first / second)

    def off(self, key: Key, middle: float, most: float) -> Share | None:
        """Return the share of values that differ by more than ``most`` from a middle."""
        found = self.values(key)
        count = sum(abs(value - middle) > most for value in found)
        return Share(count, len(found)) if found else None

    def _compared(
        self, one: Key, other: Key, compare: Callable[[float, float], float]
    ) -> Difference | None:
        first, second = self._rounds.get(one, {}), self._rounds.get(other, {})
        shared = sorted(first.keys() & second.keys())
        if not shared:
            return None
        found = [compare(statistics.median(first[n]), statistics.median(second[n])) for n in shared]
        rng = random.Random(0)
        drawn = sorted(
            statistics.median(rng.choices(found, k=len(found))) for _ in range(RESAMPLES)
        )
        return Difference(
            statistics.median(found),
            drawn[RESAMPLES * 25 // 1000],
            drawn[RESAMPLES * 975 // 1000 - 1],
            len(shared),
        )

    def tools(self, part: str) -> list[str]:
        """Return the tools with figures in a part."""
        return sorted({key.tool for key in self._rounds if key.part == part})

    def cases(self, part: str) -> list[str]:
        """Return the cases with figures in a part."""
        return sorted({key.case for key in self._rounds if key.part == part})

    def document(self) -> list[dict[str, Any]]:
        """Return the readings for JSON."""
        return [
            {
                "part": key.part,
                "case": key.case,
                "tool": key.tool,
                "quantity": key.quantity,
                "rounds": {str(number): values for number, values in sorted(rounds.items())},
            }
            for key, rounds in sorted(self._rounds.items(), key=lambda item: _order(item[0]))
        ]

    @staticmethod
    def of(document: Iterable[dict[str, Any]]) -> Table:
        """Return the table of a ``document``."""
        table = Table()
        for entry in document:
            key = Key(entry["part"], entry["case"], entry["tool"], entry["quantity"])
            table._rounds[key] = {int(n): list(values) for n, values in entry["rounds"].items()}
        return table


def _order(key: Key) -> tuple[str, ...]:
    return (key.part, key.case, key.tool, key.quantity)
