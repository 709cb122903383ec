"""Regret of assay and of Optuna among 60 configurations of a simulated job.

``python -m benchmarks.progress.search`` runs the searches that the file of results lacks, seed by
seed, and prints a table. The budget is the time of some whole launches of the default.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import math
import os
import statistics
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.testing.replay.jobs import use_single_thread
from benchmarks.markdown import table
from benchmarks.search.cache import digest

from .results import Results
from .simulated_search import JOB, SPACES, Effects, search, whole_launch_s
from .targets import Target

COUNTS = (10, 30)
"""Budgets, in whole launches of the default."""
EFFECTS_SD = 0.1
SEEDS = 200
NULL_SEEDS = 100
"""Largest number of searches of a space of identical configurations."""
RESULTS = Path("build/progress-search.json")
OURS = "assay"
PRUNED = ("TPE, median", "TPE, successive halving", "TPE, Hyperband")
SHORT = "TPE, short launches"
PEERS = ("TPE", *PRUNED, SHORT)
PRUNED_SHARE = 0.5
SHORT_FACTOR = 2.0
REGRET_LIMIT = 0.1
"""Largest regret on the time of 30 launches, in percent."""
DROPPED = "a setting is left out if its loss is not clearly above the margin of 1 %"
CLAIMS_LIMIT = 0.05
SECONDS_PER_SEED = 20.0
"""Processor time of all searches of one seed, for the announcement."""


@dataclass(frozen=True)
class Cell:
    """Searches of one space with one budget.

    Attributes:
        space: name of the space.
        count: budget, in whole launches of the default.
        sd: standard deviation of the logarithms of the effects; 0: all alike.
    """

    space: str
    count: int
    sd: float = EFFECTS_SD

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods of this cell: where all are alike, only claims matter."""
        return (OURS, *PEERS) if self.sd else (OURS,)


@dataclass(frozen=True)
class Job:
    """One search."""

    cell: Cell
    method: str
    seed: int

    def key(self, versions: dict[str, str]) -> str:
        """Return the key of its result."""
        one = self.cell
        return f"{one.space}/{one.count}/{one.sd}/{self.method}/{versions[self.method]}/{self.seed}"


def versions() -> dict[str, str]:
    """Return the version of the code of each method; methods that are not installed are absent."""
    found = {OURS: digest()}
    if importlib.util.find_spec("optuna") is not None:
        found |= dict.fromkeys(PEERS, importlib.metadata.version("optuna"))
    return found


def cells(spaces: Iterable[str], counts: Sequence[int]) -> list[Cell]:
    """Return the cells of some spaces and budgets, with effects and without."""
    return [Cell(space, count, sd) for space in spaces for count in counts for sd in (0.1, 0.0)]


def run(job: Job) -> dict[str, Any]:
    """Return the regret of a search in percent, and whether it claims a gain."""
    one, sizes = job.cell, SPACES[job.cell.space]
    if job.method == OURS:
        found = search(sizes, job.seed, one.count, one.sd)
        return {"regret": 100.0 * found.regret, "claims": found.claims}
    from .pruners import recommended

    effects = Effects(sizes, job.seed, one.sd)
    budget_s = one.count * whole_launch_s(JOB)
    chosen = recommended(job.method, JOB, sizes, effects.factor, budget_s, job.seed)
    return {"regret": 100.0 * effects.regret(chosen), "claims": False}


def carry_out(
    results: Results,
    among: Sequence[Cell],
    seeds: int,
    processes: int,
    minutes: float = math.inf,
) -> None:
    """Run the searches without a stored result, seed by seed.

    Args:
        results: stored results; those of each search are added at its end.
        among: cells to run.
        seeds: searches of each method in a cell.
        processes: number of processes.
        minutes: minutes after which no search begins.
    """
    known = versions()
    jobs = [
        Job(cell, method, seed)
        for seed in range(seeds)
        for cell in among
        for method in cell.methods
        if method in known and (cell.sd or seed < NULL_SEEDS)
    ]
    missing = [job for job in jobs if job.key(known) not in results.parts]
    share = len(missing) / max(1, len(jobs))
    expected = share * seeds * SECONDS_PER_SEED * len(among) / 8 / processes / 60
    print(f"{len(missing)} searches, about {expected:.0f} minutes", flush=True)
    end = time.monotonic() + 60.0 * minutes
    with ProcessPoolExecutor(processes, initializer=use_single_thread) as pool:
        for begin in range(0, len(missing), 8 * processes):
            if time.monotonic() > end:
                break
            batch = missing[begin : begin + 8 * processes]
            found = pool.map(run, batch)
            results.add({job.key(known): one for job, one in zip(batch, found, strict=True)})


class Regrets:
    """Stored results by cell and method."""

    def __init__(self, results: Results) -> None:
        self._parts = results.parts
        self._versions = versions()

    def of(self, cell: Cell, method: str, key: str = "regret") -> dict[int, float]:
        """Return a figure of each search by its seed."""
        if method not in self._versions:
            return {}
        prefix = Job(cell, method, 0).key(self._versions)[:-1]
        return {
            int(name.removeprefix(prefix)): float(part[key])
            for name, part in self._parts.items()
            if name.startswith(prefix)
        }

    def excess(self, cell: Cell, method: str, factor: float) -> list[float]:
        """Return the regret of assay less a multiple of that of another method, by seed."""
        ours, other = self.of(cell, OURS), self.of(cell, method)
        return [ours[seed] - factor * other[seed] for seed in sorted(ours.keys() & other.keys())]


def shown(results: Results, among: Sequence[Cell]) -> str:
    """Return the table of regrets in Markdown."""
    regrets = Regrets(results)
    effective = [cell for cell in among if cell.sd]
    rows = [
        [method, *(_mean(list(regrets.of(cell, method).values())) for cell in effective)]
        for method in (OURS, *PEERS)
    ]
    heads = ["method", *(f"{cell.space}, {cell.count} launches" for cell in effective)]
    claims = [
        [cell.space, str(cell.count), str(len(found)), f"{sum(found):.0f}"]
        for cell in among
        if not cell.sd and (found := list(regrets.of(cell, OURS, "claims").values()))
    ]
    parts = [table(heads, rows)]
    if claims:
        parts.append("Claims of a gain among 60 identical configurations:")
        parts.append(table(["space", "launches", "searches", "claims"], claims))
    return "\n\n".join(parts)


def _mean(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "-"
    return f"{statistics.fmean(values):.3f} ± {_error(values):.3f} ({len(values)})"


def _error(values: Sequence[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values))


def targets(results: Results, among: Sequence[Cell]) -> list[Target]:
    """Return the targets of the cells and their figures."""
    regrets = Regrets(results)
    found = []
    for cell in among:
        ours = regrets.of(cell, OURS, "regret" if cell.sd else "claims")
        values = list(ours.values())
        if len(values) < 2:
            continue
        if not cell.sd:
            found.append(_claims(cell, values))
        elif cell.count == COUNTS[0]:
            found += _against_optuna(cell, regrets)
        else:
            found.append(_absolute(cell, values))
    return found


def _against_optuna(cell: Cell, regrets: Regrets) -> list[Target]:
    """Return the targets relative to the best pruner, and to short launches."""
    ours = list(regrets.of(cell, OURS).values())
    others = {method: list(regrets.of(cell, method).values()) for method in (*PRUNED, SHORT)}
    if not all(map(bool, others.values())):
        return []
    best = min(PRUNED, key=lambda method: statistics.fmean(others[method]))
    found = []
    for method, factor, limit in (
        (best, PRUNED_SHARE, f"at most half of that of Optuna's best pruner ({best})"),
        (SHORT, SHORT_FACTOR, "at most twice that of Optuna on equally short launches"),
    ):
        excess = regrets.excess(cell, method, factor)
        figure = f"{statistics.fmean(ours):.2f} %, Optuna {statistics.fmean(others[method]):.2f} %"
        found.append(Target(_named(cell), limit, figure, statistics.fmean(excess), _error(excess)))
    return found


def _absolute(cell: Cell, values: Sequence[float]) -> Target:
    mean, error = statistics.fmean(values), _error(values)
    limit = f"below {REGRET_LIMIT} %"
    figure = f"{mean:.3f} % ± {error:.3f}"
    return Target(_named(cell), limit, figure, mean - REGRET_LIMIT, error, DROPPED)


def _claims(cell: Cell, values: Sequence[float]) -> Target:
    share = statistics.fmean(values)
    return Target(
        f"claims among identical configurations, {cell.space} space, time of {cell.count} launches",
        "at most 5 %",
        f"{sum(values):.0f} of {len(values)}",
        share - CLAIMS_LIMIT,
        math.sqrt(share * (1.0 - share) / len(values)),
    )


def _named(cell: Cell) -> str:
    return f"regret, {cell.space} space, time of {cell.count} launches"


def main() -> None:
    """Run the searches of the cells and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.progress.search",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help="searches (%(default)s)")
    parser.add_argument("--space", choices=tuple(SPACES), action="append", help="spaces to run")
    parser.add_argument("--count", type=int, action="append", help="budgets to run, in launches")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--minutes", type=float, default=math.inf, help="time limit (none)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file (%(default)s)")
    given = parser.parse_args()
    results = Results(given.results)
    among = cells(given.space or SPACES, given.count or COUNTS)
    carry_out(results, among, given.seeds, given.jobs, given.minutes)
    print(shown(results, among))
    for target in targets(results, among):
        print(" | ".join(target.cells))


if __name__ == "__main__":
    main()
