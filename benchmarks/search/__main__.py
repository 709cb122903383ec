"""Command line of the benchmark."""

from __future__ import annotations

import argparse
import datetime
import itertools
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from assay.machine.reader import read_machine

from . import __doc__ as description
from .cache import Cache, digest
from .page import Results, text
from .picture import draw
from .plan import ENCODED, OURS, PEERS, Wanted, carry_out, is_installed

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "benchmarks"
TABLES = Path(__file__).parent / "tables"
CACHE = ROOT / "build" / "bench-search.jsonl"


def main() -> None:
    """Run the searches and print or write the page."""
    options = _parsed()
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            table = small_table(Path(folder))
            wanted = Wanted((table,), (OURS, "random", "tpe"), 2, (10, 25), side=False)
            cache = Cache(Path(folder) / "results.jsonl", "quick")
            print(_page(wanted, cache, options.jobs, None, [])[0])
        return
    tables = (*options.tables, *sorted(TABLES.glob("*.csv.gz")))
    cache = Cache(options.cache, options.code or digest())
    asked = options.method or [OURS, *PEERS]
    methods = [m for m in asked if is_installed(m) or cache.has(m)]
    missing = [m for m in asked if m not in methods]
    wanted = Wanted(
        tables, tuple(methods), options.seeds, tuple(options.launches), not options.plain
    )
    page, results = _page(wanted, cache, options.jobs, options.minutes, missing)
    print(page)
    if options.write:
        draw(results.recorded, FOLDER / "search.svg")
        (FOLDER / "search.md").write_text(page)


def _page(
    wanted: Wanted, cache: Cache, jobs: int, minutes: float | None, missing: Sequence[str]
) -> tuple[str, Results]:
    began = time.monotonic()
    until_s = None if minutes is None else 60.0 * minutes
    rows = carry_out(wanted.jobs(), cache, jobs, until_s, lambda line: print(line, flush=True))
    results = Results.of(rows)
    heading = _heading(results, cache, missing, time.monotonic() - began)
    return text(results, heading, list(wanted.tables)), results


def _heading(results: Results, cache: Cache, missing: Sequence[str], took_s: float) -> str:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    model = read_machine().model or "an unnamed processor"
    versions = [
        f"`{name}` from {cache.version_of(name)}" for name in results.methods if name in ENCODED
    ]
    tools = f" Other methods: {'; '.join(versions)}." if versions else ""
    left_out = f" Not installed: {', '.join(missing)}." if missing else ""
    return (
        f"Measured on {today} on {model}. Digest of assay's code: {cache.code}.{tools}{left_out} "
        f"The searches that were not in the cache took {took_s / 60:.0f} minutes."
    )


def small_table(folder: Path) -> Path:
    """Write a space of 125 configurations for a smoke test."""
    path = folder / "small.csv"
    rows = [
        f"{a},{b},{c},{10 + (a - 3) ** 2 + abs(b - 2) + (a == b) * c}"
        for a, b, c in itertools.product(range(5), repeat=3)
    ]
    path.write_text("\n".join(["a,b,c,mean", *rows]) + "\n")
    return path


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "tables",
        type=Path,
        nargs="*",
        metavar="TABLE",
        help="further recorded spaces (default: those of this folder only)",
    )
    parser.add_argument(
        "--seeds", type=int, default=60, help="searches of each table (default: %(default)s)"
    )
    parser.add_argument(
        "--launches",
        type=int,
        nargs="+",
        default=[10, 25, 50, 100],
        help="numbers of launches (default: 10 25 50 100)",
    )
    parser.add_argument(
        "--method",
        action="append",
        choices=[OURS, *PEERS],
        help="method to run; repeatable (default: all)",
    )
    parser.add_argument(
        "--plain", action="store_true", help="leave out other noise and tables without differences"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="number of processes (default: one per CPU)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=CACHE,
        help="file of stored results, which are not computed again (default: %(default)s)",
    )
    parser.add_argument("--code", help="version of assay (default: digest of its code)")
    parser.add_argument(
        "--minutes",
        type=float,
        help="minutes after which no further search begins (default: no limit)",
    )
    parser.add_argument("--quick", action="store_true", help="smoke test with a small space")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/search.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
