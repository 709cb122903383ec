"""Command line of the benchmark."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.launch.driver import Driver, find_launcher

from .bench import Bench, set_up
from .native import build
from .page import page
from .parts import PARTS
from .peers import Peers, find_peers
from .results import SCHEMA, Measured, column_of, file_of, load, save
from .schedule import SMOKE, Scale, carry_out
from .server import ROOT
from .surroundings import Disturbance, busy_share, favoured, machine

DOCS = ROOT / "docs" / "benchmarks" / "overhead"
RESULTS = ROOT / "build" / "bench-overhead"


@contextmanager
def prepared(scale: Scale, peers: Peers, seed: int, nice: int) -> Iterator[Bench]:
    """Build the programs and start the workers; end the workers afterwards."""
    with favoured(nice), tempfile.TemporaryDirectory(prefix="bench-overhead-") as name:
        folder = Path(name)
        programs = build(folder / "programs")
        with set_up(programs, peers, scale, random.Random(seed), folder) as bench:
            yield bench


def measured(part: str, bench: Bench, rounds: int, nice: int) -> dict[str, Any]:
    """Measure a part and return its result."""
    disturbance = Disturbance(busy_share=busy_share() if rounds > 1 else None)

    def began(number: int) -> None:
        disturbance.note()
        print(f"{part}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)

    table, failures = carry_out(PARTS[part].visits(bench), rounds, bench.rng, began)
    return {
        "schema": SCHEMA,
        "part": part,
        "date": time.strftime("%Y-%m-%d", time.localtime(disturbance.began_s)),
        "machine": machine(),
        "peers": {peer.name: peer.version for peer in bench.peers.found.values()},
        "missing": list(bench.peers.missing),
        "scale": {"rounds": rounds, "output_mib": bench.scale.output_mib},
        "nice": nice,
        "favoured": os.sched_getscheduler(0) == os.SCHED_FIFO,
        "load": disturbance.document(),
        "failures": dict(Counter(failures)),
        "readings": table.document(),
    }


def arguments_of(words: list[str]) -> argparse.Namespace:
    lengths = ", ".join(f"{name} {part.minutes:g}" for name, part in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="benchmarks.overhead",
        description=__doc__,
        epilog=f"Parts and their durations on two CPUs, in minutes: {lengths}.",
    )
    parser.add_argument("--write", action="store_true", help="write results into docs/benchmarks")
    parser.add_argument(
        "--smoke", action="store_true", help="smoke test with a launch or two of everything"
    )
    parser.add_argument("--full", action="store_true", help="10 GiB of output instead of 2 GiB")
    parser.add_argument(
        "--rounds", type=int, help="rounds of each part (default: depends on the part)"
    )
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="part to measure; repeatable (default: all)"
    )
    parser.add_argument("--resume", action="store_true", help="leave out parts with a result")
    parser.add_argument(
        "--nice",
        type=int,
        default=0,
        help="niceness of the whole run (default: 0); root can use -15",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", type=Path, default=ROOT / ".venv" / "bench", metavar="FOLDER")
    parser.add_argument(
        "--page", action="store_true", help="write the page from stored results; measure nothing"
    )
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Measure part by part, store each result, and print the page."""
    arguments = arguments_of(words)
    scale = Scale(
        launches=20,
        few=3,
        spins=5,
        output_mib=10 << 10 if arguments.full else 2 << 10,
        seldom=3,
        rare=3,
        crowd=10_000,
        transactions=2_500,
        accounts=10,
    )
    column = column_of(Driver(find_launcher(os.environ), os.environ).probe())
    chosen = arguments.part or list(PARTS)
    folder = DOCS if arguments.write else RESULTS
    peers = find_peers(arguments.peers)
    if arguments.smoke:
        with prepared(SMOKE, peers, 1, 0) as bench:
            documents = {part: measured(part, bench, 1, 0) for part in chosen}
        print(page({column: Measured(documents)}))
        return 1 if any(document["failures"] for document in documents.values()) else 0
    if arguments.resume:
        chosen = [part for part in chosen if not file_of(folder, column, part).exists()]
    if not arguments.page:
        with prepared(scale, peers, arguments.seed, arguments.nice) as bench:
            for part in chosen:
                rounds = arguments.rounds or PARTS[part].rounds
                document = measured(part, bench, rounds, arguments.nice)
                save(folder, column, part, document)
    text = page(load(folder, PARTS))
    folder.with_suffix(".md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
