"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from assay import __version__

from . import __doc__ as description
from .page import text
from .spaces import Shape
from .studies import Answer, Asked, answers
from .summary import summary

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "recommendations.md"
LOWEST = {12: 0.15, 25: 0.08, 50: 0.05}
"""Smallest effect of a setting that matters, by launches; the largest is ``HIGHEST``."""
HIGHEST = 0.4


def main() -> None:
    """Parse, simulate, print."""
    options = _parsed()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # studies run side by side
    began = time.monotonic()
    if options.quick:
        options.studies, options.launches = 1, [12]
    rows = []
    for launches in options.launches:
        low = max((v for n, v in LOWEST.items() if n >= launches), default=min(LOWEST.values()))
        for shape in options.shapes:
            seeds = range(options.first_seed, options.first_seed + options.studies)
            asked = [Asked(shape, launches, low, HIGHEST, seed, options.noise) for seed in seeds]
            found = _told(asked, options.jobs)
            rows.append(summary(shape, launches, found))
            if not options.json:
                print(rows[-1].line(), file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({"rows": [row.document() for row in rows]}))
        return
    page = text(rows, _heading(options.studies, began))
    print(page)
    if options.write:
        PAGE.write_text(page)


def _told(asked: Sequence[Asked], jobs: int) -> list[Answer]:
    return list(answers(asked, jobs))


def _heading(studies: int, began: float) -> str:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return (
        f"{description}\n"
        "`make bench-recommendations BENCH='--write --studies 2000'` writes this page. "
        f"Figures of {today}, assay {__version__}, {studies} studies a row; they follow from the "
        f"seeds, and took {(time.monotonic() - began) / 60:.0f} minutes."
    )


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recommendations",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--studies", type=int, default=2000, help="a row (%(default)s)")
    parser.add_argument("--first-seed", type=int, default=0, help="of the first (%(default)s)")
    parser.add_argument("--launches", type=int, nargs="+", default=list(LOWEST))
    parser.add_argument("--shapes", type=Shape, nargs="+", default=list(Shape))
    parser.add_argument("--noise", type=float, default=0.05, help="of a launch (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--quick", action="store_true", help="one study a row: does it still run?")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--write", action="store_true", help="write the page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
