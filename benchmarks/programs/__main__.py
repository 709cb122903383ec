"""Command line of the benchmark: ``make bench-programs``.

It tunes each program several times with each budget. Then it compares each recommendation with
controls, which leave out one of its settings and are launched in the same blocks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

from assay.machine.reader import read_machine
from benchmarks.search.cache import digest

from .page import page
from .studies import INPUT, PROGRAMS, QUICK, ROOT, tuned

KEPT = ROOT / "build" / "bench-programs.jsonl"
PAGE = ROOT / "docs" / "benchmarks" / "programs.md"
BUDGETS = ("2m", "5m")
REPEATS = 3
PAIRS = 20
"""Launches of each side of a control."""


def main(words: list[str]) -> int:
    """Run the missing studies and print the page."""
    arguments = _parsed(words)
    if arguments.quick:
        with tempfile.TemporaryDirectory() as folder:
            found = tuned("sleep", QUICK, "5s", 0, pairs=8, db=Path(folder) / "quick.db")
        print(page([found]))
        return 0
    wanted = product(range(arguments.repeats), arguments.budget or BUDGETS, PROGRAMS)
    known = kept() if arguments.page else measured(wanted)
    text = page(known)
    print(text)
    if arguments.write:
        PAGE.write_text(text)
    return 0


def measured(wanted: Iterable[tuple[int, str, str]]) -> list[dict[str, Any]]:
    """Run and store the studies without a stored result, each with its controls."""
    create_input()
    known, model = kept(), read_machine().model
    have = {(one["seed"], one["budget"], one["program"]) for one in known}
    KEPT.parent.mkdir(exist_ok=True)
    for seed, budget, program in wanted:
        if (seed, budget, program) in have:
            continue
        found = tuned(
            program, PROGRAMS[program], budget, seed, pairs=PAIRS, db=KEPT.with_suffix(".db")
        )
        known.append({**found, "cpu": model, "code": digest()})
        with KEPT.open("a") as lines:
            print(json.dumps(known[-1]), file=lines)
    return known


def kept() -> list[dict[str, Any]]:
    """Return the stored studies of this version of the code."""
    if not KEPT.exists():
        return []
    code = digest()
    known = [json.loads(line) for line in KEPT.read_text().splitlines()]
    return [one for one in known if one["code"] == code]


def create_input() -> None:
    """Create the input file of ``compress`` if it is missing."""
    if not INPUT.exists():
        INPUT.parent.mkdir(parents=True, exist_ok=True)
        make = [sys.executable, str(ROOT / "examples" / "compress" / "make_input.py"), str(INPUT)]
        subprocess.run(make, check=True)


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.programs", description=__doc__)
    parser.add_argument(
        "--budget", action="append", help="budget of the studies; repeatable (default: 2m and 5m)"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=REPEATS,
        help="studies of each program and budget (default: 3)",
    )
    parser.add_argument(
        "--page", action="store_true", help="print the page of stored studies; run nothing"
    )
    parser.add_argument("--quick", action="store_true", help="smoke test with one short study")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/programs.md")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
