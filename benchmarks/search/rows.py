"""Rows: what the replays gave."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLOOR = 1e-4
"""Mean regrets enter a geometric mean as no less than this, or one lucky table would be all."""


@dataclass(frozen=True)
class Rows:
    """Searches, each with what came of it; see ``assay.search.replay.score.Row``."""

    found: tuple[dict[str, Any], ...]

    def of(self, **wanted: object) -> Rows:
        """Those of a table, a method, so many launches."""
        return Rows(
            tuple(r for r in self.found if all(r[key] == value for key, value in wanted.items()))
        )

    def values(self, key: str) -> list[float]:
        """One figure of each, where it has it."""
        return [float(r[key]) for r in self.found if r[key] is not None]

    def distinct(self, key: str) -> list[Any]:
        """The values that there are, in order."""
        return sorted({r[key] for r in self.found})

    def mean(self, key: str) -> float:
        """Mean of a figure; NaN where none has it."""
        values = self.values(key)
        return statistics.fmean(values) if values else math.nan

    def error(self, key: str) -> float:
        """Standard error of that mean."""
        values = self.values(key)
        return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan

    def median(self, key: str) -> float:
        """Median of a figure."""
        values = self.values(key)
        return statistics.median(values) if values else math.nan

    def geometric(self) -> float:
        """Geometric mean over the tables of their mean regrets."""
        means = [self.of(table=table).mean("regret") for table in self.distinct("table")]
        return math.exp(statistics.fmean(math.log(max(mean, FLOOR)) for mean in means))

    def over_claim(self) -> float:
        """By how much the claimed gains are larger than the true ones, on average."""
        excess = [r["ratio"] / r["claim"] - 1.0 for r in self.found if r["claim"] is not None]
        return statistics.fmean(excess) if excess else math.nan


def replay(tables: Sequence[Path], methods: Iterable[str], *options: str, jobs: int) -> Rows:
    """Run searches.

    Raises:
        subprocess.CalledProcessError: a method cannot run here.
    """
    chosen = [word for method in methods for word in ("--method", method)]
    answer = subprocess.run(
        [
            sys.executable,
            "-m",
            "assay.search.replay",
            *map(str, tables),
            *chosen,
            *options,
            "--jobs",
            str(jobs),
            "--json",
        ],
        stdout=subprocess.PIPE,
        check=True,
    )
    return Rows(tuple(json.loads(answer.stdout)["rows"]))


def better(rows: Rows, name: str, encodings: Sequence[str]) -> Rows:
    """Of one method under several encodings the rows of the better one, under one name."""
    best = min(encodings, key=lambda encoding: rows.of(method=encoding).geometric())
    return Rows(tuple({**r, "method": name} for r in rows.of(method=best).found))
