"""Command line of the benchmark of values that programs report while they run."""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from pathlib import Path
from typing import Any

from .page import stored, text
from .parts import PARTS, STUDIES, Options, Section, quickly
from .search import SEEDS

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"
FIGURES = FOLDER / "progress.json"


def main() -> None:
    """Measure the chosen parts, and print or write the page."""
    given = _parsed()
    names = given.part or list(PARTS)
    if given.quick:
        sections = {name: stored(quickly(name)) for name in names}
    else:
        sections = _measured(names, _options(given))
        known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
        sections = {**known, **sections}
    page = text(sections)
    print(page)
    if given.write and not given.quick:
        FIGURES.write_text(json.dumps(sections, indent=1) + "\n")
        (FOLDER / "progress.md").write_text(page)


def _options(given: argparse.Namespace) -> Options:
    return Options(
        studies=given.studies, seeds=given.seeds, processes=given.jobs, minutes=given.minutes
    )


def _measured(names: list[str], options: Options) -> dict[str, Any]:
    """Return the stored form of the sections of some parts."""
    minutes = sum(PARTS[name].minutes for name in names)
    print(f"{', '.join(names)}: about {minutes:.0f} minutes on an idle machine", flush=True)
    found = {}
    for name in names:
        begin = time.monotonic()
        measured: Section = PARTS[name].measure(options)
        found[name] = stored(measured)
        print(f"{name}: {(time.monotonic() - begin) / 60:.1f} minutes", flush=True)
    return found


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.progress", description=__doc__)
    parser.add_argument(
        "--part", action="append", choices=tuple(PARTS), help="repeatable (default: all)"
    )
    parser.add_argument(
        "--studies", type=int, default=STUDIES, help="simulated studies of a row (%(default)s)"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help="searches of a cell (%(default)s)")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="processes of the simulated searches (default: one per CPU)",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        help="minutes after which a part begins no further simulated study or search; 0 shows the "
        "stored ones (default: no limit)",
    )
    parser.add_argument("--quick", action="store_true", help="smoke test: a short run of each part")
    parser.add_argument(
        "--write", action="store_true", help="write docs/benchmarks/progress.md and its figures"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
