"""Command line of the benchmark of scale."""

from __future__ import annotations

import argparse
import json
import math
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.progress.results import Results, about

from .page import text
from .parts import PARTS

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"
FIGURES = FOLDER / "scale.json"
RESULTS = Path("build")
Parts = dict[str, dict[str, Any]]
"""Results by the name of the part."""


def main() -> None:
    """Measure the chosen parts, and print or write the page."""
    given = _parsed()
    names = given.part or list(PARTS)
    if given.quick:
        print(text({name: _quickly(name) for name in names}))
        return
    minutes = sum(PARTS[name].minutes for name in names)
    print(f"{', '.join(names)}: about {minutes:.0f} minutes on an idle machine", flush=True)
    end_s = time.monotonic() + 60 * given.minutes
    measured = {name: _measured(name, end_s, given) for name in names}
    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    results = {**known, **complete(measured, known)}
    page = text(results)
    print(page)
    if given.write:
        FIGURES.write_text(json.dumps(results, indent=1) + "\n")
        (FOLDER / "scale.md").write_text(page)


def complete(measured: Parts, known: Parts) -> Parts:
    """Return the measured parts that replace published ones.

    A part with fewer sizes than the published one does not: its largest size is the target.

    Args:
        measured: results by the name of the part.
        known: published results.
    """
    found = {}
    for name, one in measured.items():
        published = known.get(name, {"figures": {}})["figures"]
        if one["figures"] and published.keys() <= one["figures"].keys():
            found[name] = one
        elif published:
            print(f"{name}: the published figures of more sizes stay")
    return found


def _quickly(name: str) -> dict[str, Any]:
    """Return the result of the smallest size of a part, which does not count."""
    part = PARTS[name]
    return {"about": about(), "figures": {part.quick: part.quick_figures()}}


def _measured(name: str, end_s: float, given: argparse.Namespace) -> dict[str, Any]:
    """Measure the sizes of a part that are not stored yet, until the time ends."""
    path = RESULTS / f"scale-{name}.json"
    if given.again:
        path.unlink(missing_ok=True)
    results = Results(path)
    for size in PARTS[name].sizes:
        if size > given.largest or time.monotonic() >= end_s:
            break
        begin_s = time.monotonic()
        results.part(str(size), partial(PARTS[name].figures, size))
        taken_s = time.monotonic() - begin_s
        print(f"{name}, {size:,} {PARTS[name].unit}: {taken_s:.0f} s", flush=True)
    return {"about": results.about, "figures": results.parts}


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument(
        "--part", action="append", choices=tuple(PARTS), help="repeatable (default: all)"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        help="minutes after which no further size is measured; 0 shows the stored figures "
        "(default: no limit)",
    )
    parser.add_argument(
        "--largest", type=float, default=math.inf, help="largest size to measure (default: all)"
    )
    parser.add_argument(
        "--again", action="store_true", help="measure stored figures again (default: keep them)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="smoke test: a small size of each part"
    )
    parser.add_argument(
        "--write", action="store_true", help="write docs/benchmarks/scale.md and its figures"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
