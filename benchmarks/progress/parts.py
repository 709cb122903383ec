"""Parts of the benchmark: each measures and returns its section of the page."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.markdown import table

from . import reading, search, simulation, writers
from .jobs import JOBS
from .recorded import read, resampled
from .results import Results, about
from .simulated_search import SPACES
from .simulation import RECORDED_STEPS
from .simulation_targets import targets as simulation_targets
from .tables import BIAS_LIMIT, ERROR_LIMIT, recorded_table, tables
from .targets import Target
from .training import record

FOLDER = Path("build")
RECORDED_LAUNCHES = 60
CORE_LIMIT = 0.5
"""Largest share of a core at 1,000 values a second, in percent: of assay, and of the program
beyond printed lines."""
QUICK_STUDIES = 5
PYTORCH = "benchmarks.progress.pytorch"
PYTORCH_RESULTS = Path(__file__).parent / "pytorch" / "results.json"
MODELS = ("conv", "transformer")
PYTORCH_REASON = "needs PyTorch in the benchmarks' environment and 40 minutes of an idle machine"
UNPROVEN_REASON = (
    "with few launches the search uses the whole budget, as it values a better configuration more "
    "than a proof; other work disturbed the machine"
)
SHORT_REASON = (
    "the gain is so large that a confirmation by whole launches needs the fewest blocks; a step of "
    "the default takes less than the 2 s for which the target is defined"
)
HOUR_S = 3600.0
STUDIES = 2000
"""Simulated studies of a row for which the targets are defined."""
COLUMNS = (
    "*To ±1 %* is the time until the interval is ±1 %, and *to the verdict* that to the verdict at "
    "2 %, each over that of the best fixed length, which is known only in hindsight. *Over whole* "
    "is the time to ±1 % over that of whole launches. *Covered* is the share of studies whose "
    "interval contains the truth at every look."
)


@dataclass(frozen=True)
class Options:
    """Extent of a run.

    Attributes:
        quick: whether figures do not count: one short run of each part.
        studies: simulated studies of a row.
        seeds: searches of a cell.
        processes: processes of simulated searches.
        minutes: minutes after which a part begins no further simulated study or search.
        folder: folder of the results.
    """

    quick: bool = False
    studies: int = STUDIES
    seeds: int = search.SEEDS
    processes: int = 1
    minutes: float = math.inf
    folder: Path = FOLDER


@dataclass(frozen=True)
class Section:
    """Section of the page.

    Attributes:
        targets: targets and their figures.
        text: tables, in Markdown.
        about: date and machine of the figures.
    """

    targets: list[Target]
    text: str
    about: dict[str, Any] = field(default_factory=about)


def measure_simulation(options: Options) -> Section:
    """Simulate studies with adaptive lengths."""
    results = Results(options.folder / simulation.RESULTS.name)
    chosen = [JOBS[3]] if options.quick else list(JOBS)
    studies = QUICK_STUDIES if options.quick else options.studies
    simulation.simulate(results, chosen, studies, seed=1, minutes=options.minutes)
    return shown_simulation(results, studies)


def shown_simulation(results: Results, studies: int) -> Section:
    """Return the section of stored simulations."""
    extent = f"{studies:,} studies of a row; the targets are defined for {STUDIES:,}."
    text = "\n\n".join((extent, COLUMNS, tables(results.parts, JOBS, studies)))
    return Section(simulation_targets(results.parts, studies), text, results.about)


def measure_search(options: Options) -> Section:
    """Search simulated spaces with assay and with Optuna."""
    results = Results(options.folder / search.RESULTS.name)
    among = search.cells(SPACES, search.COUNTS)
    if options.quick:
        among = search.cells(["structured"], search.COUNTS[:1])
    seeds = 2 if options.quick else options.seeds
    search.carry_out(results, among, seeds, options.processes, options.minutes)
    return shown_search(results)


def shown_search(results: Results) -> Section:
    """Return the section of stored searches."""
    among = search.cells(SPACES, search.COUNTS)
    extent = f"The targets are defined for {search.SEEDS} searches of a cell."
    text = f"{extent}\n\n{search.shown(results, among)}"
    return Section(search.targets(results, among), text, results.about)


def measure_reading(options: Options) -> Section:
    """Measure the CPU time of assay for each reported value."""
    drains, rounds = (5, 1) if options.quick else (reading.DRAINS, reading.ROUNDS)
    found = {
        name: median(reading.cost_us(*source, drains) for _ in range(rounds))
        for name, source in reading.SOURCES.items()
    }
    shares = {name: us * reading.LINES_PER_S * 1e-4 for name, us in found.items()}
    rows = [[name, f"{us:.1f} us", f"{shares[name]:.2f} %"] for name, us in found.items()]
    worst = max(shares, key=lambda name: shares[name])
    target = Target(
        f"the same, most expensive source ({worst})",
        f"at most {CORE_LIMIT} % of a core",
        f"{shares[worst]:.2f} %",
        shares[worst] - CORE_LIMIT,
        reason="a frame of a progress bar has several values and control characters",
    )
    printed = shares["pattern, printed lines"]
    first = Target(
        "CPU time of assay at 1,000 values a second, printed lines",
        f"at most {CORE_LIMIT} % of a core",
        f"{printed:.2f} %",
        printed - CORE_LIMIT,
    )
    return Section(
        [first, target], table(["source", "CPU time of a line", "at 1,000 lines a second"], rows)
    )


def measure_writers(options: Options) -> Section:
    """Measure the cost of records for the program."""
    rounds, seconds = (1, 0.5) if options.quick else (10, 5.0)
    calls = writers.calls(rounds)
    cores = writers.at_1000_per_s(rounds, seconds)
    beyond = cores["records beyond lines"]
    target = Target(
        "CPU time of a program with 1,000 records a second beyond that with as many lines",
        f"at most {CORE_LIMIT} % of a core",
        f"{beyond:.2f} %",
        beyond - CORE_LIMIT,
        reason="time of a call in Python",
    )
    text = "\n\n".join(
        (
            table(["call", "CPU time"], [[name, f"{us:.2f} us"] for name, us in calls.items()]),
            table(["program", "share of a core"], [[n, f"{c:.2f} %"] for n, c in cores.items()]),
        )
    )
    return Section([target], text)


def measure_recorded(options: Options) -> Section:
    """Record launches of a training loop, and resample studies of identical arms from them."""
    path = options.folder / "progress-training.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    wanted = 4 if options.quick else RECORDED_LAUNCHES
    have = len(path.read_text().splitlines()) if path.exists() else 0
    record(max(0, wanted - have), path)
    studies = QUICK_STUDIES if options.quick else options.studies
    curves = read(path)
    found = [resampled(curves, steps, studies, seed=1) for steps in RECORDED_STEPS]
    false = max(found, key=lambda one: one.false - 2 * one.error)
    biased = max(found, key=lambda one: abs(one.bias) - 2 * one.bias_error)
    targets = [
        Target(
            "false verdicts between resampled recordings of one program",
            "at most 5 %",
            f"{false.false:.1%} ± {false.error:.1%}",
            false.false - ERROR_LIMIT,
            false.error,
        ),
        Target(
            "bias of a recorded launch without its warm-up",
            "below 0.3 %",
            f"{abs(biased.bias):.2%} ± {biased.bias_error:.2%}",
            abs(biased.bias) - BIAS_LIMIT,
            biased.bias_error,
        ),
    ]
    return Section(targets, recorded_table(map(vars, found)))


def measure_pytorch(options: Options) -> Section:
    """Tune a real training loop, where its benchmark and PyTorch are installed."""
    if not options.quick and (PYTORCH_RESULTS.parent / "__main__.py").exists():
        for model in MODELS:
            subprocess.run([sys.executable, "-m", PYTORCH, "--model", model, "--write"])
    return shown_pytorch(PYTORCH_RESULTS)


def shown_pytorch(path: Path) -> Section:
    """Return the section of stored studies of PyTorch programs: the newest of each model.

    Args:
        path: list of documents, the newest last.
    """
    measure = "gain of a PyTorch training loop proven in 15 minutes"
    limit = "a confirmation by whole launches needs over an hour"
    if not path.exists():
        return Section([Target(measure, limit, "", None, reason=PYTORCH_REASON)], "")
    newest = {one["model"]: one for one in json.loads(path.read_text())}
    targets, rows = [], []
    for model, one in newest.items():
        whole = one["whole"]
        whole_s = whole["confirmation_s"] if whole else 0.0
        met = one["status"] == "proven" and whole_s > HOUR_S
        figure = one["status"]
        if whole:
            figure += f", whole launches {whole_s / 60:.0f} min"
            figure += f" (with their search {whole['study_s'] / 60:.0f} min)"
        reason = "" if met else SHORT_REASON if whole else UNPROVEN_REASON
        targets.append(
            Target(f"{measure}, {model}", limit, figure, 0.0 if met else 1.0, reason=reason)
        )
        rows.append([model, one["date"], one["budget"], str(one["launches"]), figure])
    last = next(reversed(newest.values()))
    known = {"date": last["date"], "machine": last["machine"]}
    return Section(targets, table(["model", "date", "budget", "launches", "result"], rows), known)


@dataclass(frozen=True)
class Part:
    """Part of the benchmark.

    Attributes:
        title: title of its section.
        minutes: length on an idle machine with two CPUs.
        measure: returns its section.
    """

    title: str
    minutes: float
    measure: Callable[[Options], Section]


PARTS = {
    "reading": Part("Cost of reading", 1, measure_reading),
    "writers": Part("Cost of records for the program", 3, measure_writers),
    "recorded": Part("Recorded launches", 4, measure_recorded),
    "simulation": Part("Length of launches", 22, measure_simulation),
    "search": Part("Search among 60 configurations", 40, measure_search),
    "pytorch": Part("PyTorch", 40, measure_pytorch),
}
"""Parts in their order: those that time programs come first."""


def quickly(name: str) -> Section:
    """Return the section of a short run of a part, whose figures do not count."""
    with tempfile.TemporaryDirectory() as folder:
        return PARTS[name].measure(Options(quick=True, folder=Path(folder)))
