"""Results of searches, and the figures that follow from them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

PLUS = 1e-3
"""Addition to each mean regret before a geometric mean, so that no single table dominates."""


@dataclass(frozen=True)
class Ratio:
    """Ratio of two geometric means.

    Attributes:
        value: ratio.
        error: standard error of the ratio.
    """

    value: float
    error: float

    @property
    def low(self) -> float:
        """Value minus two standard errors."""
        return self.value - 2.0 * self.error


@dataclass(frozen=True)
class Rows:
    """Results of searches; see ``assay.testing.replay.score.Row``."""

    found: tuple[dict[str, Any], ...]

    def of(self, **wanted: object) -> Rows:
        """Return the rows with these values, such as a table or a number of launches."""
        return Rows(
            tuple(r for r in self.found if all(r[key] == value for key, value in wanted.items()))
        )

    def values(self, key: str) -> list[float]:
        """Return one figure of each row that has it."""
        return [float(r[key]) for r in self.found if r[key] is not None]

    def by_seed(self) -> dict[int, float]:
        """Return the regret by seed; the rows are of one table, method and count."""
        return {int(r["seed"]): float(r["regret"]) for r in self.found}

    def distinct(self, key: str) -> list[Any]:
        """Return the different values of a key, in order."""
        return sorted({r[key] for r in self.found})

    def mean(self, key: str) -> float:
        """Return the mean of a figure; NaN if no row has it."""
        values = self.values(key)
        return statistics.fmean(values) if values else math.nan

    def error(self, key: str) -> float:
        """Return the standard error of that mean."""
        values = self.values(key)
        return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan

    def median(self, key: str) -> float:
        """Return the median of a figure; NaN if no row has it."""
        values = self.values(key)
        return statistics.median(values) if values else math.nan

    def geometric(self) -> float:
        """Return the geometric mean over the tables of their mean regrets plus 0.1 %."""
        means = [self.of(table=table).mean("regret") for table in self.distinct("table")]
        if not means:
            return math.nan
        return math.exp(statistics.fmean(math.log(mean + PLUS) for mean in means))

    def over_claim(self) -> float:
        """Return the mean excess of claimed gains over true ones."""
        excess = [r["ratio"] / r["claim"] - 1.0 for r in self.found if r["claim"] is not None]
        return statistics.fmean(excess) if excess else math.nan


def ratio(ours: Rows, theirs: Rows) -> Ratio:
    """Return the ratio of two geometric means over the tables that both have.

    Its error follows from the variance between seeds, which both share. To first order, the
    logarithm of a table's mean changes with regret / (mean + 0.1 %). Tables are taken as given.
    """
    logs, variance = [], 0.0
    tables = [t for t in ours.distinct("table") if theirs.of(table=t).found]
    for table in tables:
        a, b = (_relative(rows.of(table=table).by_seed()) for rows in (ours, theirs))
        logs.append(math.log(a.mean) - math.log(b.mean))
        variance += _variance(a.moves, b.moves)
    if not logs:
        return Ratio(math.nan, math.nan)
    value = math.exp(statistics.fmean(logs))
    return Ratio(value, value * math.sqrt(variance) / len(logs))


def excess_in_errors(ours: Rows, theirs: Rows) -> float:
    """Return the excess of our mean regret on one table over theirs, in standard errors."""
    a, b = ours.by_seed(), theirs.by_seed()
    variance = _variance(a, b)
    excess = statistics.fmean(a.values()) - statistics.fmean(b.values())
    if math.isnan(variance):
        return math.nan
    if variance > 0.0:
        return excess / math.sqrt(variance)
    return math.copysign(math.inf, excess) if excess else 0.0


@dataclass(frozen=True)
class _Relative:
    """Mean plus 0.1 %, and the ratio of each seed's regret to it."""

    mean: float
    moves: dict[int, float]


def _relative(regrets: dict[int, float]) -> _Relative:
    mean = statistics.fmean(regrets.values()) + PLUS
    return _Relative(mean, {seed: regret / mean for seed, regret in regrets.items()})


def _variance(a: dict[int, float], b: dict[int, float]) -> float:
    """Return the variance of the difference of two means, with the covariance of shared seeds."""
    if len(a) < 2 or len(b) < 2:
        return math.nan
    found = statistics.variance(a.values()) / len(a) + statistics.variance(b.values()) / len(b)
    shared = sorted(a.keys() & b.keys())
    if len(shared) > 1:
        covariance = statistics.covariance([a[s] for s in shared], [b[s] for s in shared])
        found -= 2.0 * covariance * len(shared) / (len(a) * len(b))
    return max(found, 0.0)


def better(rows: Rows, name: str, encodings: Sequence[str]) -> Rows:
    """Return the rows of a method's better encoding, for each number of launches.

    A table that an encoding does not change has rows of the first encoding only.
    """
    found: list[dict[str, Any]] = []
    for launches in rows.distinct("launches"):
        kinds = [_filled(rows.of(launches=launches), encodings[0], one) for one in encodings]
        best = min(kinds, key=lambda kind: kind.geometric())
        found += [{**r, "method": name} for r in best.found]
    return Rows(tuple(found))


def _filled(rows: Rows, first: str, encoding: str) -> Rows:
    own = rows.of(method=encoding)
    missing = set(rows.distinct("table")) - set(own.distinct("table"))
    plain = (r for r in rows.of(method=first).found if r["table"] in missing)
    return Rows((*own.found, *plain))


def joined(parts: Iterable[Rows]) -> Rows:
    """Return the rows of all parts."""
    return Rows(tuple(r for part in parts for r in part.found))
