"""The command."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from typing import Any

from assay.records import to_builtins
from benchmarks.overhead.reading import Key, Table
from benchmarks.overhead.results import shown
from benchmarks.overhead.server import ROOT
from benchmarks.overhead.surroundings import Disturbance, machine

from .page import page
from .pictures import pictures
from .pieces import SIZES, Piece, pieces, visit

DOCS = ROOT / "docs" / "benchmarks"
RESULT = ROOT / "build" / "bench-kernels.json"
SMOKE = ["deflate", "dgemm", "horner", "lu"]
"""Kernels that come to all of what is here: modes, libraries, and those that have threads."""


def measured(
    found: list[Piece], rounds: int, seed: int, chosen: dict[str, list[str]]
) -> tuple[dict[str, Any], Table]:
    """Carry everything out; an interruption after the first round keeps what there is.

    Args:
        found: what is measured.
        rounds: at most.
        seed: of the orders.
        chosen: sizes, and cases where not all are measured.
    """
    rng = random.Random(seed)
    disturbance, table = Disturbance(), Table()
    slow: set[Key] = set()
    done = 0
    try:
        while done < rounds:
            disturbance.note()
            order = list(found)
            rng.shuffle(order)
            for place, piece in enumerate(order):
                told = f"round {done + 1} of {rounds}, {place + 1} of {len(order)}"
                print(f"{told}: {piece.kernel.kernel}, {piece.name}", file=sys.stderr, flush=True)
                table.add(done, visit(piece, slow, rng))
            done += 1
    except KeyboardInterrupt:
        if not done:
            raise
    document = {
        "schema": 1,
        "date": time.strftime("%Y-%m-%d", time.localtime(disturbance.began_s)),
        "machine": machine(),
        "scale": {"rounds": done, "seed": seed, **chosen},
        "load": disturbance.document(),
        "kernels": [{"case": one.name, **to_builtins(one.kernel)} for one in found],
        "readings": table.document(),
    }
    return document, table


def arguments_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.kernels", description=__doc__)
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks")
    parser.add_argument(
        "--smoke", action="store_true", help="one round of a few kernels with tiny data"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", action="append", default=[], help="of these kernels alone")
    parser.add_argument("--size", action="append", default=[], help="of these sizes (L2, DRAM)")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Measure, keep the result, show the page."""
    arguments = arguments_of(words)
    sizes = ["tiny"] if arguments.smoke else arguments.size or SIZES
    for name in [word for word in os.environ if word.startswith("OPENBLAS_")]:
        del os.environ[name]  # OpenBLAS takes the core that it thinks right
    cases = arguments.case or (SMOKE if arguments.smoke else [])
    found = list(pieces(sizes, cases))
    chosen = {"sizes": list(sizes), "cases": cases}
    rounds = 1 if arguments.smoke else arguments.rounds
    document, table = measured(found, rounds, arguments.seed, chosen)
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
