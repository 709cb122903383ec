"""Command line of the benchmark."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from assay.records import to_builtins
from benchmarks.overhead.reading import Key, Table
from benchmarks.overhead.results import shown
from benchmarks.overhead.server import ROOT
from benchmarks.overhead.surroundings import Disturbance, busy_share, machine

from .page import page
from .pictures import pictures
from .pieces import SIZES, Piece, pieces, visit
from .python_peers import measured_peers
from .results import combined, tables

DOCS = ROOT / "docs" / "benchmarks"
RESULT = ROOT / "build" / "bench-kernels.json"
SMOKE = ["deflate", "dgemm", "horner", "lu"]
"""Kernels of the smoke test; together they use modes, libraries and threads."""


def measured(
    found: list[Piece], rounds: int, seed: int, chosen: dict[str, list[str]]
) -> tuple[dict[str, Any], Table]:
    """Run all rounds; an interruption after the first round keeps the complete rounds.

    Args:
        found: pieces of work.
        rounds: largest number of rounds.
        seed: seed of the random orders.
        chosen: sizes, and the kernels if only some are measured.
    """
    rng = random.Random(seed)
    table = Table()
    disturbance = Disturbance(busy_share=busy_share() if rounds > 1 else None)
    slow: set[Key] = set()
    done = 0
    try:
        while done < rounds:
            disturbance.note()
            order = list(found)
            rng.shuffle(order)
            for place, piece in enumerate(order):
                progress = f"round {done + 1} of {rounds}, {place + 1} of {len(order)}"
                print(
                    f"{progress}: {piece.kernel.kernel}, {piece.name}", file=sys.stderr, flush=True
                )
                table.add(done, list(visit(piece, slow, rng)))
            done += 1
    except KeyboardInterrupt:
        if not done:
            raise
    date = time.strftime("%Y-%m-%d", time.localtime(disturbance.began_s))
    load = disturbance.document()
    run = {"date": date, "rounds": done, "load": load}
    document = {
        "schema": 1,
        "date": date,
        "machine": machine(),
        "scale": {"rounds": done, "seed": seed, **chosen},
        "load": load,
        "kernels": [{"case": one.name, **run, **to_builtins(one.kernel)} for one in found],
        "readings": table.document(),
        "python": [],
    }
    return document, table


def arguments_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.kernels", description=__doc__)
    parser.add_argument(
        "--write",
        action="store_true",
        help="write into docs/benchmarks; with --case, keep the results of other kernels",
    )
    parser.add_argument(
        "--smoke", action="store_true", help="smoke test: one round of a few kernels with tiny data"
    )
    parser.add_argument("--rounds", type=int, default=7, help="rounds (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the orders (default: 1)")
    parser.add_argument(
        "--case", action="append", default=[], help="kernel to measure; repeatable (default: all)"
    )
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        help="size of the data; repeatable (default: L2 and DRAM)",
    )
    parser.add_argument(
        "--python",
        type=Path,
        default=Path(sys.executable),
        help="interpreter with the libraries of peers.txt (default: the present one)",
    )
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Measure, store the result and print the page."""
    arguments = arguments_of(words)
    sizes = ["tiny"] if arguments.smoke else arguments.size or SIZES
    for name in [word for word in os.environ if word.startswith("OPENBLAS_")]:
        del os.environ[name]  # OpenBLAS chooses its core type itself
    cases = arguments.case or (SMOKE if arguments.smoke else [])
    found = list(pieces(sizes, cases))
    chosen = {"sizes": list(sizes), "cases": cases}
    rounds = 1 if arguments.smoke else arguments.rounds
    document, table = measured(found, rounds, arguments.seed, chosen)
    counts = sorted({1, len(os.sched_getaffinity(0))})
    document["python"] = to_builtins(measured_peers(found, arguments.python, counts, rounds))
    if arguments.write and cases:
        document = combined(msgspec.json.decode((DOCS / "kernels.json").read_bytes()), document)
        table, found = tables(document)
    kernels = {(one.kernel.kernel, one.name): one.kernel for one in found}
    text = page(document, table, kernels)
    print(text)
    if arguments.smoke:
        return 0
    folder = DOCS if arguments.write else RESULT.parent
    folder.mkdir(parents=True, exist_ok=True)
    stem = "kernels" if arguments.write else RESULT.stem
    (folder / f"{stem}.json").write_text(shown(document))
    (folder / f"{stem}.md").write_text(text)
    for name, svg in pictures(table, found).items():
        (folder / name).write_text(svg)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
