"""Choice of the searcher's options by leaving out each table.

``python -m benchmarks.search.choices`` prints it.

Every set of options searches every table. For each table, the set that is best on all other tables
is chosen. Its regret on that table is reported beside that of the options in use. So options that
suit one table only do not profit from it.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.search.model.gp import GpSearcher
from assay.search.model.hyperparameters import Priors
from assay.search.model.options import SearcherOptions
from assay.testing.replay.jobs import Job
from assay.testing.replay.method import Method
from assay.testing.replay.race_search import RaceSearch
from assay.testing.replay.searcher_search import SearcherSearch
from benchmarks import markdown

from .cache import Cache, digest
from .plan import LAUNCHES, carry_out
from .rows import PLUS, Rows

TABLES = Path(__file__).parent / "tables"
CACHE = Path(__file__).parents[2] / "build" / "bench-choices.jsonl"
PRESENT = "present"
"""Name of the options in use."""
_FEWER = SearcherOptions(turns=("improve", "bound", "improve", "near"), probes=("probe",))
_MORE = SearcherOptions(turns=("improve", "bound"), probes=("probe", "probe"))
CHOICES = {
    PRESENT: SearcherOptions(),
    "start-6": SearcherOptions(startup=6),
    "clipped-half": SearcherOptions(clipped_at=0.5),
    "fewer-probes": _FEWER,
    "more-probes": _MORE,
    "no-probes": SearcherOptions(probes=()),
    "shorter": SearcherOptions(priors=Priors(length=(math.log(0.25), 1.0))),
    "longer": SearcherOptions(priors=Priors(length=(0.0, 1.0))),
}


def method_of(job: Job) -> Method:
    """Return the method of a job, whose name is its kind, a slash and its choice."""
    kind, _, choice = job.method.partition("/")
    searcher = GpSearcher(CHOICES[choice])
    if kind == "assay-race":
        return RaceSearch(job.method, searcher)
    return SearcherSearch(job.method, searcher)


@dataclass(frozen=True)
class Left:
    """Result for one table.

    Attributes:
        table: table that was left out.
        choice: best choice on all other tables.
        regrets: regrets of that choice on this table, by number of launches.
        present: regrets of the options in use.
        best: best choice on this table.
    """

    table: str
    choice: str
    regrets: list[float]
    present: list[float]
    best: str


def leave_one_out(rows: Rows) -> list[Left]:
    """Return the choice for each table by all other tables."""
    choices = sorted({_choice(r["method"]) for r in rows.found}, key=list(CHOICES).index)
    tables = rows.distinct("table")
    regrets = {(c, t): _regrets(rows, c, t) for c in choices for t in tables}
    found = []
    for table in tables:
        rest = [t for t in tables if t != table]
        chosen = min(choices, key=lambda c: statistics.fmean(_score(regrets[c, t]) for t in rest))
        best = min(choices, key=lambda c: _score(regrets[c, table]))
        present = regrets.get((PRESENT, table), [])
        found.append(Left(table, chosen, regrets[chosen, table], present, best))
    return found


def text(rows: Rows) -> str:
    """Return the result as Markdown."""
    counts = rows.distinct("launches")
    left = leave_one_out(rows)
    choices = [c for c in CHOICES if any(_choice(r["method"]) == c for r in rows.found)]
    overall = [
        [
            choice,
            *(f"{100 * _geometric(rows, choice, n):.2f}" for n in counts),
        ]
        for choice in choices
    ]
    lines = [
        [one.table, one.choice, _shown(one.regrets), _shown(one.present), one.best] for one in left
    ]
    shown = " / ".join(map(str, counts))
    head = [
        "table left out",
        "choice by the others",
        f"its regret after {shown}, %",
        "present",
        "best",
    ]
    return (
        f"Geometric means of the regrets plus 0.1 %, in percent, {len(rows.distinct('seed'))} "
        f"seeds.\n\n{markdown.table(['choice', *map(str, counts)], overall)}\n\n"
        f"{markdown.table(head, lines)}\n\n"
        f"On the tables left out: {_left_out(left)}"
    )


def _left_out(left: Sequence[Left]) -> str:
    parts = []
    for name, kind in (("chosen", "regrets"), ("present", "present")):
        values = [getattr(one, kind) for one in left]
        if all(values):
            means = [
                math.exp(statistics.fmean(math.log(v + PLUS) for v in column))
                for column in zip(*values, strict=True)
            ]
            parts.append(f"{name} {_shown(means)} %")
    return "; ".join(parts)


def _geometric(rows: Rows, choice: str, launches: int) -> float:
    found = [r for r in rows.of(launches=launches).found if _choice(r["method"]) == choice]
    return Rows(tuple(found)).geometric()


def _regrets(rows: Rows, choice: str, table: str) -> list[float]:
    found = Rows(tuple(r for r in rows.of(table=table).found if _choice(r["method"]) == choice))
    return [found.of(launches=n).mean("regret") for n in rows.distinct("launches")]


def _score(regrets: Sequence[float]) -> float:
    return statistics.fmean(math.log(regret + PLUS) for regret in regrets)


def _shown(values: Sequence[float]) -> str:
    return " / ".join(f"{100 * value:.1f}" for value in values)


def _choice(method: str) -> str:
    return method.partition("/")[2]


def main() -> None:
    """Run the searches and print the result."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search.choices", description=__doc__
    )
    parser.add_argument(
        "tables",
        type=Path,
        nargs="*",
        help="further recorded spaces (default: those of the benchmark only)",
    )
    parser.add_argument(
        "--choice",
        action="append",
        choices=sorted(CHOICES),
        help="choice to compare; repeatable (default: all)",
    )
    parser.add_argument(
        "--race", action="store_true", help="use the race instead of the searcher only"
    )
    parser.add_argument(
        "--seeds", type=int, default=20, help="searches of each table (default: %(default)s)"
    )
    parser.add_argument("--launches", type=int, nargs="+", default=list(LAUNCHES[:3]))
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="number of processes (default: one per CPU)",
    )
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--code", help="version of assay (default: digest of its code)")
    parser.add_argument(
        "--minutes",
        type=float,
        help="minutes after which no further search begins (default: no limit)",
    )
    options = parser.parse_args()
    kind = "assay-race" if options.race else "assay-searcher"
    jobs = [
        Job(path, f"{kind}/{choice}", seed, tuple(options.launches))
        for seed in range(options.seeds)
        for path in (*options.tables, *sorted(TABLES.glob("*.csv.gz")))
        for choice in options.choice or CHOICES
    ]
    until_s = None if options.minutes is None else 60.0 * options.minutes
    rows = carry_out(
        jobs,
        Cache(options.cache, options.code or digest()),
        options.jobs,
        until_s,
        functools.partial(print, flush=True),
        method_of,
    )
    print(text(rows))


if __name__ == "__main__":
    main()
