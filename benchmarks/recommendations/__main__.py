"""Command line of the benchmark."""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.testing.replay.world import Kind as Noise
from benchmarks.search.cache import digest

from . import __doc__ as description
from .kept import PATH, Kept
from .page import text
from .spaces import Shape
from .starts import Start
from .studies import RecordedStudy, SimulatedStudy, Study
from .summary import Row, summary

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "recommendations.md"
LOWEST = {12: 0.15, 25: 0.08, 50: 0.05}
"""Smallest effect of a setting that matters, by launches; the largest is ``MAX_EFFECT``."""
MAX_EFFECT = 0.4
NOISE = 0.05
"""Standard deviation of the logarithm of a launch of a simulated space."""
WORLDS = (
    *((noise, Start.RANDOM) for noise in Noise),
    (Noise.PLAIN, Start.MEDIAN),
    (Noise.PLAIN, Start.GOOD),
)
"""Noise and default of the rows of recorded spaces."""


@dataclass(frozen=True)
class Wanted:
    """A row of the page: its name and its studies."""

    space: str
    launches: int
    studies: Sequence[Study]
    simulated: bool = True
    without: bool = field(default=False, kw_only=True)

    def row(self, kept: Kept) -> Row | None:
        """Return the row of the stored studies; ``None`` without any."""
        found = kept.of(self.studies)
        if not found:
            return None
        return summary(
            self.space, self.launches, found, simulated=self.simulated, without=self.without
        )


def main() -> None:
    """Run the studies and print or write the page."""
    options = _parsed()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # several studies run at a time
    if options.quick:
        options.studies, options.launches = 1, options.launches[:1]
    began = time.monotonic()
    until = math.inf if options.minutes is None else began + 60.0 * options.minutes
    kept = Kept.read(options.cache)
    rows, missing = [], 0
    for wanted in [*_simulated(options), *_recorded(options)]:
        kept.make(wanted.studies, options.jobs, until)
        missing += len(wanted.studies) - len(kept.of(wanted.studies))
        if (row := wanted.row(kept)) is not None:
            rows.append(row)
            print(row.line(), file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({"rows": [row.document() for row in rows]}))
        return
    page = text(rows, _heading())
    print(page)
    if options.write and missing:
        sys.exit(f"The page was not written: {missing} studies are missing. Run it again.")
    if options.write:
        PAGE.write_text(page)


def _simulated(options: argparse.Namespace) -> Iterator[Wanted]:
    seeds = range(options.first_seed, options.first_seed + options.studies)
    for launches in options.launches:
        low = max((v for n, v in LOWEST.items() if n >= launches), default=min(LOWEST.values()))
        for shape in options.shapes:
            studies = [SimulatedStudy(shape, launches, low, MAX_EFFECT, s, NOISE) for s in seeds]
            yield Wanted(f"effects: {shape}", launches, studies, without=shape is Shape.NONE)


def _recorded(options: argparse.Namespace) -> Iterator[Wanted]:
    if not options.tables:
        return
    # All tables have the same number of studies, at least one.
    each = max(1, options.studies // len(options.tables))
    seeds = range(options.first_seed, options.first_seed + each)
    for launches in options.launches:
        for noise, start in WORLDS:
            studies = [
                RecordedStudy(table, start, noise, launches, seed)
                for seed in seeds
                for table in options.tables
            ]
            yield Wanted(f"tables: {noise}, default {start}", launches, studies, simulated=False)


def _heading() -> str:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return (
        f"Computed on {today}. Digest of assay's code: {digest()}. The figures follow from the "
        "seeds and do not depend on the machine."
    )


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recommendations",
        description=description,
        epilog="2,000 studies per row take about 10 hours on two CPUs, 48 about 15 minutes.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "tables", type=Path, nargs="*", help="recorded spaces (default: simulated spaces only)"
    )
    parser.add_argument(
        "--studies", type=int, default=2000, help="studies per row (default: %(default)s)"
    )
    parser.add_argument(
        "--first-seed", type=int, default=0, help="seed of the first study (default: %(default)s)"
    )
    parser.add_argument("--launches", type=int, nargs="+", default=list(LOWEST))
    parser.add_argument("--shapes", type=Shape, nargs="+", default=list(Shape))
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="number of processes (default: one per CPU)",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        help="minutes after which no further study begins (default: no limit)",
    )
    parser.add_argument(
        "--cache", type=Path, default=PATH, help="file of stored answers (default: %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="smoke test with one study per row")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--write", action="store_true", help="write the page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
