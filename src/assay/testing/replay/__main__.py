"""``python -m assay.testing.replay TABLE...``: evaluate methods on recorded spaces."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.errors import AssayError
from assay.testing.replay.jobs import METHODS, RAW_SUFFIX, Job, run_all
from assay.testing.replay.score import Row
from assay.testing.replay.world import Kind


def main() -> None:
    """Run the searches of the command line."""
    asked = _parser().parse_args()
    try:
        rows = _rows(list(_jobs(asked)), asked.jobs)
    except AssayError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_status)
    if asked.json:
        json.dump({"rows": [row.document() for row in rows]}, sys.stdout)
        print()
    else:
        _show(rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m assay.testing.replay", description=__doc__)
    parser.add_argument("tables", type=Path, nargs="+", metavar="TABLE")
    parser.add_argument("--method", action="append", choices=sorted(_names()), default=None)
    parser.add_argument(
        "--launches",
        type=int,
        action="append",
        default=None,
        help="number of launches (default: 100)",
    )
    parser.add_argument(
        "--seeds", type=int, default=20, help="number of seeds (default: %(default)s)"
    )
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--noise", type=float, default=0.05, help="log-normal sigma on means")
    parser.add_argument("--world", choices=[str(kind) for kind in Kind], default=str(Kind.PLAIN))
    parser.add_argument("--null", action="store_true", help="give every point the same time")
    parser.add_argument("--goal", choices=["lower", "higher"], default="lower")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="number of processes (default: number of CPUs)",
    )
    parser.add_argument("--json", action="store_true")
    return parser


def _names() -> list[str]:
    return [*METHODS, *(name + RAW_SUFFIX for name in METHODS)]


def _jobs(asked: argparse.Namespace) -> Iterator[Job]:
    for path in asked.tables:
        for method in asked.method or ["random", "tpe", "assay"]:
            for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
                yield Job(
                    path=path,
                    method=method,
                    seed=seed,
                    counts=tuple(sorted(set(asked.launches or [100]))),
                    noise=asked.noise,
                    kind=Kind(asked.world),
                    null=asked.null,
                    higher=asked.goal == "higher",
                )


def _rows(jobs: Sequence[Job], processes: int) -> list[Row]:
    """Return all rows, by table, method, launches and seed."""
    places = {job: place for place, job in enumerate(jobs)}
    found = [
        ((job.path, job.method), row.launches, places[job], row)
        for job, rows, _ in run_all(jobs, processes)
        for row in rows
    ]
    groups = list(dict.fromkeys((job.path, job.method) for job in jobs))
    found.sort(key=lambda one: (groups.index(one[0]), one[1], one[2]))
    return [row for *_, row in found]


def _show(rows: Sequence[Row]) -> None:
    """Print means by table, method and launches."""
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
