"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import itertools
import os
import tempfile
import time
from pathlib import Path

from assay import __version__
from assay.machine.reader import read_machine

from . import __doc__ as description
from .page import Results, text
from .picture import draw
from .rows import Rows, better, replay

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"
LAUNCHES = (25, 50, 75, 100)
WORLDS = ("drift", "tails", "unstable", "unequal")
ENCODINGS = {"random": ("random",), "tpe": ("tpe", "tpe-raw"), "gp": ("gp", "gp-raw")}
"""Others get the better of columns as they are recorded and of one-hot columns joined."""


def main() -> None:
    """Parse, search, print."""
    options = _parsed()
    began = time.monotonic()
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            table = small_table(Path(folder))
            print(text(_results([table], (25, 50), 2, options.jobs), _heading(2, began)))
        return
    found = _results(options.tables, LAUNCHES, options.seeds, options.jobs)
    page = text(found, _heading(options.seeds, began))
    print(page)
    if options.write:
        draw(found.recorded, FOLDER / "search.svg")
        (FOLDER / "search.md").write_text(page)


def _results(tables: list[Path], launches: tuple[int, ...], seeds: int, jobs: int) -> Results:
    counts = [word for n in launches for word in ("--launches", str(n))]
    most = ("--launches", str(launches[-1]))
    size = ("--seeds", str(seeds))
    kinds = {name: codes for name, codes in ENCODINGS.items() if name != "gp" or _has_torch()}

    def all_methods(*options: str) -> Rows:
        methods = ["assay", *itertools.chain.from_iterable(kinds.values())]
        rows = replay(tables, methods, *size, *options, jobs=jobs)
        parts = [rows.of(method="assay")]
        parts += [better(rows, name, codes) for name, codes in kinds.items()]
        return Rows(tuple(itertools.chain.from_iterable(part.found for part in parts)))

    return Results(
        recorded=all_methods(*counts),
        null=all_methods(*most, "--null"),
        worlds={
            world: replay(
                tables, ("assay", "random", "tpe"), *size, *most, "--world", world, jobs=jobs
            )
            for world in WORLDS
        },
    )


def _has_torch() -> bool:
    """Optuna's own Gaussian process needs it."""
    return importlib.util.find_spec("torch") is not None


def _heading(seeds: int, began: float) -> str:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    model = read_machine().model or "an unnamed processor"
    return (
        f"{description}\n"
        "`make bench-search BENCH='--write TABLE...'` writes this page. Figures of "
        f"{today}, assay {__version__}, {seeds} seeds a table; means that were recorded get a "
        "log-normal noise of 5 %, recorded repeats stand for themselves. They follow from the "
        f"seeds but for the times, which are of {model}; all took "
        f"{(time.monotonic() - began) / 60:.0f} minutes."
    )


def small_table(folder: Path) -> Path:
    """A space of 125 configurations, to see that everything still runs."""
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
    parser.add_argument("tables", type=Path, nargs="*", metavar="TABLE")
    parser.add_argument("--seeds", type=int, default=30, help="searches a table (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--quick", action="store_true", help="a small space: does it still run?")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/search.md")
    options = parser.parse_args()
    if not options.quick and not options.tables:
        parser.error("name the tables of recorded spaces, or give --quick")
    return options


if __name__ == "__main__":
    main()
