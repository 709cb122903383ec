"""Jobs: searches that run in a number of processes, each defined by its fields alone."""

from __future__ import annotations

import functools
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from assay.search.model.gp import GpSearcher
from assay.testing.replay.hebo_search import HeboSearch
from assay.testing.replay.method import Method
from assay.testing.replay.optuna_search import OptunaSearch
from assay.testing.replay.race_search import RaceSearch
from assay.testing.replay.random_search import RandomSearch
from assay.testing.replay.score import Row, score_each
from assay.testing.replay.searcher_search import SearcherSearch
from assay.testing.replay.smac_search import SmacSearch
from assay.testing.replay.table import Table, joined, load, without_difference
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.replay.warm_search import EarlierStudyKind, WarmSearch
from assay.testing.replay.world import Kind, World

METHODS: dict[str, Callable[[], Method]] = {
    "random": RandomSearch,
    "tpe": lambda: OptunaSearch("tpe"),
    "gp": lambda: OptunaSearch("gp"),
    "smac": SmacSearch,
    "hebo": HeboSearch,
    "assay": lambda: RaceSearch("assay", GpSearcher()),
    "assay-searcher": lambda: SearcherSearch("assay-searcher", GpSearcher()),
    "assay-warm": lambda: WarmSearch("assay-warm"),
    "assay-altered": lambda: WarmSearch("assay-altered", telling=EarlierStudyKind.ALTERED),
    "assay-misled": lambda: WarmSearch("assay-misled", telling=EarlierStudyKind.REVERSED),
    "assay-tpe": lambda: RaceSearch("assay-tpe", TpeSearcher()),
}
RAW_SUFFIX = "-raw"
"""Suffix of a method that gets the original columns, with one-hot columns separate."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """Searches of one world, one for each number of launches.

    Attributes:
        path: path of the table.
        method: a name of ``METHODS``, with ``RAW_SUFFIX`` or without.
        seed: seed of the world and of the method.
        counts: numbers of launches, ascending.
        noise: standard deviation of the logarithm, added where only means were recorded.
        kind: kind of further noise.
        null: whether every point takes the same time.
        higher: whether higher is better.
    """

    path: Path
    method: str
    seed: int
    counts: tuple[int, ...]
    noise: float = 0.05
    kind: Kind = Kind.PLAIN
    null: bool = False
    higher: bool = False


def method_of(job: Job) -> Method:
    """Return the method that a job names."""
    return METHODS[job.method.removesuffix(RAW_SUFFIX)]()


def run(job: Job, method: Method | None = None) -> list[Row]:
    """Run one job.

    Args:
        job: job to run.
        method: method to use in place of the job's.

    Raises:
        AssayError: the method cannot run here, or the table cannot be read.
    """
    table = _table(job.path, not job.method.endswith(RAW_SUFFIX), job.null)

    def fresh() -> World:
        return World(table, job.seed, noise=job.noise, kind=job.kind, higher=job.higher)

    rows = score_each(fresh, method or method_of(job), job.counts, job.seed)
    return [replace(row, method=job.method) for row in rows]


Result = tuple[Job, list[Row], float]
"""A job, its rows, and its CPU time in seconds."""


def run_all(
    jobs: Sequence[Job],
    processes: int,
    until_s: float | None = None,
    make: Callable[[Job], Method] = method_of,
) -> Iterator[Result]:
    """Run jobs in parallel; yield the result of each when it ends.

    Args:
        jobs: jobs to run.
        processes: maximum number of parallel processes.
        until_s: latest start of a job after the beginning, in seconds.
        make: returns the method of a job; a module-level function.

    Raises:
        AssayError: see ``run``.
    """
    end = math.inf if until_s is None else time.monotonic() + until_s
    if processes == 1:
        for job in jobs:
            if time.monotonic() < end:
                yield _timed(job, make)
        return
    coming = iter(jobs)
    with ProcessPoolExecutor(processes, initializer=use_single_thread) as pool:
        first = itertools.islice(coming, 2 * processes)
        waiting = {pool.submit(_timed, job, make) for job in first}
        while waiting:
            ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            if time.monotonic() < end:
                following = itertools.islice(coming, len(ended))
                waiting |= {pool.submit(_timed, job, make) for job in following}
            for future in ended:
                yield future.result()


def _timed(job: Job, make: Callable[[Job], Method]) -> Result:
    began = time.process_time()
    return job, run(job, make(job)), time.process_time() - began


def use_single_thread() -> None:
    """Limit each process to one thread, since searches run in parallel."""
    for name in THREADS:
        os.environ.setdefault(name, "1")


@functools.lru_cache(maxsize=24)
def _table(path: Path, is_joined: bool, null: bool) -> Table:
    table = joined(load(path)) if is_joined else load(path)
    return without_difference(table) if null else table
