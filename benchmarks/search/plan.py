"""Plan of the searches for the page, and their execution."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.testing.replay.jobs import RAW_SUFFIX, Job, method_of, run_all
from assay.testing.replay.method import Method
from assay.testing.replay.table import joined, load
from assay.testing.replay.world import Kind

from .cache import Cache
from .rows import Rows

LAUNCHES = (10, 25, 50, 100)
NOISY_LAUNCHES = (50,)
NULL_LAUNCHES = (25, 100)
WORLDS = (Kind.DRIFT, Kind.TAILS, Kind.UNSTABLE, Kind.UNEQUAL)
SEEDS = {"smac": 20, "hebo": 20}
"""Seeds of slow methods; other methods have the requested number."""
NEEDED = {"tpe": "optuna", "gp": "torch", "smac": "smac", "hebo": "hebo"}
"""Module that a method imports."""
ENCODED = ("tpe", "gp", "smac", "hebo")
"""Methods that get the better encoding: columns as recorded, or joined one-hot columns."""
PEERS = ("random", "tpe", "gp", "smac", "hebo")
OURS = "assay"
SIDE_SEEDS = 20
"""Seeds for other noise and for tables without differences."""
COST_S = {"random": 0.1, "tpe": 1.0, "gp": 25.0, "smac": 80.0, "hebo": 200.0, "assay": 6.0}
"""CPU seconds of one job on an AMD EPYC, for all numbers of launches together."""


@dataclass(frozen=True)
class Wanted:
    """Parameters of a comparison.

    Attributes:
        tables: files of the recorded spaces.
        methods: names of methods, without encodings.
        seeds: number of seeds of quick methods.
        counts: numbers of launches.
        side: whether to search with other noise and on tables without differences too.
    """

    tables: tuple[Path, ...]
    methods: tuple[str, ...]
    seeds: int
    counts: tuple[int, ...] = LAUNCHES
    side: bool = True

    def jobs(self) -> list[Job]:
        """Return all jobs, seed by seed, so that an interrupted run has complete seeds."""
        found = [job for seed in range(self.seeds) for job in self._of_seed(seed)]
        return found + (list(self._beside()) if self.side else [])

    def _of_seed(self, seed: int) -> Iterator[Job]:
        for path in self.tables:
            for method in self.methods:
                if seed < min(self.seeds, SEEDS.get(method, self.seeds)):
                    for name in encodings(method, path):
                        yield Job(path, name, seed, self.counts)

    def _beside(self) -> Iterator[Job]:
        quick = [m for m in (OURS, "random", "tpe") if m in self.methods]
        seeds = range(min(self.seeds, SIDE_SEEDS))
        for seed in seeds:
            for path in self.tables:
                if OURS in self.methods:
                    yield Job(path, OURS, seed, NULL_LAUNCHES, null=True)
                for kind in WORLDS:
                    for method in quick:
                        yield Job(path, method, seed, NOISY_LAUNCHES, kind=kind)


def encodings(method: str, path: Path) -> tuple[str, ...]:
    """Return the names of the encodings with which a method searches a table."""
    if method not in ENCODED or not _has_one_hot(path):
        return (method,)
    return method, method + RAW_SUFFIX


_ONE_HOT: dict[Path, bool] = {}


def _has_one_hot(path: Path) -> bool:
    if path not in _ONE_HOT:
        table = load(path)
        changing = [i for i in range(len(table.columns)) if len(table.domain(i)) > 1]
        _ONE_HOT[path] = len(joined(table).columns) < len(changing)
    return _ONE_HOT[path]


def is_installed(method: str) -> bool:
    """Return whether a method can run here."""
    return method not in NEEDED or importlib.util.find_spec(NEEDED[method]) is not None


def estimate_s(jobs: Sequence[Job]) -> float:
    """Return the expected CPU seconds of jobs."""
    return sum(COST_S.get(job.method.removesuffix(RAW_SUFFIX), 2.0) for job in jobs)


def carry_out(
    jobs: Sequence[Job],
    cache: Cache,
    processes: int,
    until_s: float | None = None,
    say: Callable[[str], None] = print,
    make: Callable[[Job], Method] = method_of,
) -> Rows:
    """Run the jobs without a stored result that can run here; return the rows of all jobs.

    Args:
        jobs: jobs of the comparison.
        cache: stored results; those of each job are added at its end.
        processes: number of processes.
        until_s: time after the start from which no job begins, in seconds.
        say: function that reports progress.
        make: function that returns the method of a job.
    """
    found = cache.read()
    missing = [
        job
        for job in jobs
        if any(key not in found for key in cache.keys(job))
        and is_installed(job.method.removesuffix(RAW_SUFFIX))
    ]
    expected_s = estimate_s(missing) / processes
    say(
        f"{len(jobs) - len(missing)} of {len(jobs)} jobs have a stored result; the others take "
        f"about {expected_s / 60:.0f} minutes on {processes} CPUs."
    )
    began = reported = time.monotonic()
    for number, (job, rows, took_s) in enumerate(
        run_all(missing, processes, until_s, make), start=1
    ):
        for key, record in zip(cache.keys(job), cache.append(job, rows, took_s), strict=True):
            found[key] = record
        if time.monotonic() - reported > 30.0:
            reported = time.monotonic()
            say(f"{number} of {len(missing)} jobs after {(reported - began) / 60:.1f} minutes")
    keys = dict.fromkeys(key for job in jobs for key in cache.keys(job))
    return Rows(tuple(_row(found[key]) for key in keys if key in found))


def _row(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "part": "null" if record["null"] else record["world"]}
