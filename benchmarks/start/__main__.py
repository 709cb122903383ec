"""Command line of the benchmark."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.overhead.native import build
from benchmarks.overhead.peers import Peers, find_peers
from benchmarks.overhead.reading import Table
from benchmarks.overhead.results import shown
from benchmarks.overhead.server import ROOT
from benchmarks.overhead.surroundings import Disturbance, busy_share, machine

from . import commands, plans
from .firsts import Firsts
from .page import page

DOCS = ROOT / "docs" / "benchmarks"
RESULT = ROOT / "build" / "bench-start.json"
BESIDE = ("taskset", "numactl", "hyperfine")


def measured(peers: Peers, rounds: int, launches: int, of_plans: int, seed: int) -> dict[str, Any]:
    """Measure all commands and plans and return the result."""
    rng = random.Random(seed)
    disturbance = Disturbance(busy_share=busy_share() if rounds > 1 else None)
    table = Table()
    with tempfile.TemporaryDirectory(prefix="bench-start-") as name:
        folder = Path(name)
        firsts = Firsts(build(folder / "programs"), rng)
        stores = commands.prepare(folder, firsts.noting)
        launchers = plans.prepare(folder, firsts.noting)
        for number in range(rounds):
            disturbance.note()
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            table.add(number, commands.visit(firsts, peers, stores, launches))
            table.add(number, plans.visit(firsts, launchers, of_plans))
    return {
        "schema": 1,
        "date": time.strftime("%Y-%m-%d", time.localtime(disturbance.began_s)),
        "machine": machine(),
        "peers": {name: peers.found[name].version for name in BESIDE if name in peers},
        "missing": [name for name in BESIDE if name not in peers],
        "scale": {"rounds": rounds, "launches": launches, "of_plans": of_plans, "seed": seed},
        "favoured": os.sched_getscheduler(0) == os.SCHED_FIFO,
        "load": disturbance.document(),
        "readings": table.document(),
    }


def arguments_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.start", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write into docs/benchmarks")
    parser.add_argument(
        "--smoke", action="store_true", help="smoke test with a launch or two of everything"
    )
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", type=Path, default=ROOT / ".venv" / "bench", metavar="FOLDER")
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FILE",
        help="file of results to render; measure nothing",
    )
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Measure or read the result, store it, and print the page."""
    arguments = arguments_of(words)
    if arguments.source is not None:
        document = json.loads(arguments.source.read_text())
    else:
        rounds, launches, of_plans = (1, 1, 2) if arguments.smoke else (arguments.rounds, 5, 20)
        peers = find_peers(arguments.peers)
        document = measured(peers, rounds, launches, of_plans, arguments.seed)
    text = page(document, Table.of(document["readings"]))
    print(text)
    if arguments.smoke:
        return 0
    folder = DOCS if arguments.write else RESULT.parent
    folder.mkdir(parents=True, exist_ok=True)
    stem = "start" if arguments.write else RESULT.stem
    (folder / f"{stem}.json").write_text(shown(document))
    (folder / f"{stem}.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
