"""Command line of the benchmark."""

from __future__ import annotations

import argparse
import datetime
import os
import tempfile
import time
from pathlib import Path

from assay import __version__
from assay.machine.reader import read_machine
from assay.testing.replay.jobs import Job, run_all
from benchmarks.search.__main__ import FOLDER, small_table
from benchmarks.search.rows import Rows

from . import __doc__ as description
from .page import NAMES, text

LAUNCHES = (25, 50, 100)


def main() -> None:
    """Run the searches and print or write the page."""
    options = _parsed()
    began = time.monotonic()
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            table = small_table(Path(folder))
            found = _results([table], (30,), 2, options.jobs)
            print(text(found, _heading(2, began)))
        return
    found = _results(options.tables, LAUNCHES, options.seeds, options.jobs)
    page = text(found, _heading(options.seeds, began))
    print(page)
    if options.write:
        (FOLDER / "warm.md").write_text(page)


def _results(tables: list[Path], launches: tuple[int, ...], seeds: int, jobs: int) -> Rows:
    wanted = [
        Job(path, method, seed, launches)
        for path in tables
        for method in NAMES
        for seed in range(seeds)
    ]
    found = [row.document() for _, rows, _ in run_all(wanted, jobs) for row in rows]
    return Rows(tuple(sorted(found, key=lambda row: (row["table"], row["method"], row["seed"]))))


def _heading(seeds: int, began: float) -> str:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    model = read_machine().model or "an unnamed processor"
    return (
        f"Measured on {today} with assay {__version__} on {model}, with {seeds} seeds for each "
        f"table. All searches together took {(time.monotonic() - began) / 60:.0f} minutes."
    )


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.warm",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tables", type=Path, nargs="*", metavar="TABLE", help="recorded spaces")
    parser.add_argument(
        "--seeds", type=int, default=12, help="searches of each table (default: %(default)s)"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="number of processes (default: one per CPU)",
    )
    parser.add_argument("--quick", action="store_true", help="smoke test with a small space")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/warm.md")
    options = parser.parse_args()
    if not options.quick and not options.tables:
        parser.error("missing TABLE: name the tables of recorded spaces, or use --quick")
    return options


if __name__ == "__main__":
    main()
