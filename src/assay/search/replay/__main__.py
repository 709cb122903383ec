"""``python -m assay.search.replay TABLE...``: methods against recorded spaces."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from assay.errors import AssayError
from assay.search.gp import GpSearcher
from assay.search.replay.method import Method
from assay.search.replay.optuna_search import OptunaSearch
from assay.search.replay.race_search import RaceSearch
from assay.search.replay.random_search import RandomSearch
from assay.search.replay.score import Row, score
from assay.search.replay.smac_search import SmacSearch
from assay.search.replay.table import Table, joined, load, without_difference
from assay.search.replay.warm_search import Telling, WarmSearch
from assay.search.replay.world import Kind, World
from assay.search.tpe import TpeSearcher

METHODS: dict[str, Callable[[], Method]] = {
    "random": RandomSearch,
    "tpe": lambda: OptunaSearch("tpe"),
    "gp": lambda: OptunaSearch("gp"),
    "smac": SmacSearch,
    "assay": lambda: RaceSearch("assay", GpSearcher()),
    "assay-warm": lambda: WarmSearch("assay-warm"),
    "assay-altered": lambda: WarmSearch("assay-altered", telling=Telling.ALTERED),
    "assay-misled": lambda: WarmSearch("assay-misled", telling=Telling.REVERSED),
    "assay-tpe": lambda: RaceSearch("assay-tpe", TpeSearcher()),
}
RAW = "-raw"
"""Ending of a method that is given the columns as they are written, one-hot ones apart."""


@dataclass(frozen=True)
class Job:
    """One search to make."""

    path: Path
    method: str
    seed: int
    launches: int
    noise: float
    kind: Kind
    null: bool
    higher: bool


def main() -> None:
    """Run what the command line asks for."""
    asked = _parser().parse_args()
    try:
        rows = list(_rows(list(_jobs(asked)), asked.jobs))
    except AssayError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_status)
    if asked.json:
        json.dump({"rows": [row.document() for row in rows]}, sys.stdout)
        print()
    else:
        _show(rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m assay.search.replay", description=__doc__)
    parser.add_argument("tables", type=Path, nargs="+", metavar="TABLE")
    parser.add_argument("--method", action="append", choices=sorted(_names()), default=None)
    parser.add_argument("--launches", type=int, action="append", default=None, help="(100)")
    parser.add_argument("--seeds", type=int, default=20, help="how many (%(default)s)")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--noise", type=float, default=0.05, help="log-normal sigma on means")
    parser.add_argument("--world", choices=[str(kind) for kind in Kind], default=str(Kind.PLAIN))
    parser.add_argument("--null", action="store_true", help="every point takes the same")
    parser.add_argument("--goal", choices=["lower", "higher"], default="lower")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true")
    return parser


def _names() -> list[str]:
    return [*METHODS, *(name + RAW for name in METHODS)]


def _jobs(asked: argparse.Namespace) -> Iterator[Job]:
    for path in asked.tables:
        for method in asked.method or ["random", "tpe", "assay"]:
            for launches in asked.launches or [100]:
                for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
                    yield Job(
                        path=path,
                        method=method,
                        seed=seed,
                        launches=launches,
                        noise=asked.noise,
                        kind=Kind(asked.world),
                        null=asked.null,
                        higher=asked.goal == "higher",
                    )


def _rows(jobs: Sequence[Job], processes: int) -> Iterator[Row]:
    if processes == 1:
        yield from map(_run, jobs)
        return
    with ProcessPoolExecutor(processes, initializer=_alone) as pool:
        yield from pool.map(_run, jobs)


def _alone() -> None:
    """One thread for each process: searches run side by side."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _run(job: Job) -> Row:
    world = World(_table(job), job.seed, noise=job.noise, kind=job.kind, higher=job.higher)
    row = score(world, METHODS[job.method.removesuffix(RAW)](), job.launches, job.seed)
    return replace(row, method=job.method)


def _table(job: Job) -> Table:
    table = load(job.path)
    if not job.method.endswith(RAW):
        table = joined(table)
    return without_difference(table) if job.null else table


def _show(rows: Sequence[Row]) -> None:
    """Means by table, method and launches."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.table, row.method, row.launches), []).append(row)
    print(f"{'table':24} {'method':12} {'launches':>8} {'regret':>8} {'false':>6} {'think ms':>9}")
    for (table, method, launches), found in groups.items():
        regret = 100 * sum(row.regret for row in found) / len(found)
        false = 100 * sum(row.false_win for row in found) / len(found)
        think_ms = 1e3 * sorted(row.think_s for row in found)[len(found) // 2]
        print(
            f"{table[:24]:24} {method:12} {launches:8} {regret:7.2f}% {false:5.1f}% {think_ms:9.2f}"
        )


if __name__ == "__main__":
    main()
