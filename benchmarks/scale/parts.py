"""Parts of the benchmark: their sizes, limits and figures."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import crowds, display, large_study, launches, machines, many_studies, sweeping, thinking
from .cost import NoAnswerError
from .targets import FAILED, Limit

Measure = Callable[[int, Path], dict[str, float]]
Found = dict[str, float | str]


@dataclass(frozen=True)
class Part:
    """Part of the benchmark.

    Attributes:
        title: title of its section.
        unit: unit of the sizes.
        sizes: sizes in increasing order.
        quick: size of the smoke test.
        minutes: length on an idle machine with two CPUs.
        measure: returns the figures of a size, given a folder for files.
        columns: titles of the figures that the page shows, with their units, by key.
        limits: limits asked.
        quick_measure: function of the smoke test (default: ``measure``).
    """

    title: str
    unit: str
    sizes: Sequence[int]
    quick: int
    minutes: float
    measure: Measure
    columns: dict[str, str]
    limits: Sequence[Limit]
    quick_measure: Measure | None = None

    def figures(self, size: int) -> Found:
        """Return the figures of a size, or the reason of the missing answer."""
        return _found(self.measure, size)

    def quick_figures(self) -> Found:
        """Return the figures of the smoke test, which do not count."""
        return _found(self.quick_measure or self.measure, self.quick)


def _found(measure: Measure, size: int) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return dict(measure(size, Path(folder)))
        except NoAnswerError as error:
            return {FAILED: str(error)}


SAMPLES = 100_000
LAUNCHES = 10_000
STUDIES = 10_000
CELLS = 10_000
CPUS = (256, 896, 1792)
MACHINE_LIMITS_S = (0.3, 0.5, 1.0)
LIST_S = 0.3
EXPORT_S = 10.0
EXPORT_MB = 100.0
READ_MB = 400.0
START = "includes the start of Python and the imports of assay"
IMPORTS = (
    "75 MB are the start of Python and the imports of assay; the rest hardly grows with the samples"
)
COUNTING = "a sample takes 35 us: it is inflated, decoded and counted one by one"
OTHER_LOAD = "other work on the machine disturbs the launches; earlier runs had 0.78 to 1.05"
MODEL = "140 MB are the libraries and a small model; the rest grows with launches and settings"
THREADS = "ratios vary by 0.05 from run to run; `run` and `measure` have the same launcher"

LAUNCH_LIMITS = (
    Limit("CPU time of a launch of `true`", "mean", LAUNCHES, 4.0, "ms"),
    Limit(
        "the same, last tenth of the launches over the first",
        "ratio",
        LAUNCHES,
        1.1,
        "",
        OTHER_LOAD,
    ),
)
DISPLAY_LIMITS = (
    Limit("share of a core for the live line, launches of `true`", "share", LAUNCHES, 1.0, "%"),
)
STUDY_LIMITS = (
    Limit("memory of a measurement of 100,000 launches", "resumed memory", SAMPLES, 200.0, "MB"),
    Limit("store, per sample", "bytes", SAMPLES, 600.0, "bytes"),
    Limit("report of 100,000 samples", "report", SAMPLES, 10.0, "s"),
    Limit("the same, memory", "report memory", SAMPLES, 300.0, "MB"),
    Limit("the same, page", "page", SAMPLES, 5.0, "MB"),
    *(
        Limit(f"{name} of 100,000 samples{text}", f"{key}{suffix}", SAMPLES, most, unit, reason)
        for key, name in (("csv", "CSV"), ("json", "JSON"), ("bundle", "bundle"))
        for text, suffix, most, unit, reason in (
            ("", "", EXPORT_S, "s", ""),
            (", memory", " memory", EXPORT_MB, "MB", IMPORTS),
        )
    ),
    Limit("`study show` of 100,000 samples, memory", "show memory", SAMPLES, READ_MB, "MB"),
    Limit("`study verify` of 100,000 samples, memory", "verify memory", SAMPLES, READ_MB, "MB"),
    Limit(
        "resumption of 100,000 samples, to the next launch",
        "next launch",
        SAMPLES,
        3.0,
        "s",
        COUNTING,
    ),
)
LIST_LIMITS = (
    Limit("`study list --limit` of 10,000 studies", "list", STUDIES, LIST_S, "s", START),
    Limit("the same with the slowest filter", "filter", STUDIES, LIST_S, "s", START),
)
MACHINE_LIMITS = tuple(
    Limit(f"`machine {action}` of {cpus:,} CPUs", action, cpus, most_s, "s", START)
    for action in ("show", "check")
    for cpus, most_s in zip(CPUS, MACHINE_LIMITS_S, strict=True)
)
SWEEP_LIMITS = (
    Limit("plan of a sweep of 10,000 cells", "plan", CELLS, 1.0, "s"),
    Limit("CPU time of its launches", "launch", CELLS, 11.2, "ms"),
    Limit("its report", "report", CELLS, 20.0, "s"),
)


def _thinking_limits(size: int, settings: int, most_ms: float) -> tuple[Limit, ...]:
    searched = f"{size:,} trials, {settings} settings"
    return (
        Limit(f"thinking time of a trial, {searched}", "mean", size, most_ms, "ms"),
        Limit(f"memory, {searched}", "memory", size, 250.0, "MB", MODEL),
    )


def _crowd_limits(size: int, unit: str, most: float) -> tuple[Limit, ...]:
    name = f"{size:,} {unit}, wall time over direct"
    return tuple(
        Limit(f"{name}, `{way}`", f"{way} wall", size, most, "", THREADS)
        for way in ("run", "measure")
    )


THINKING_COLUMNS = {
    "searched": "trials of the search",
    "mean": "a trial, ms",
    "proposal": "a trial that the model proposed, ms",
    "last quarter": "last quarter, ms",
    "memory": "memory, MB",
}
CROWD_COLUMNS = {
    f"{way} {quantity}": f"`{way}`, {quantity} time"
    for way in ("run", "measure")
    for quantity in ("wall", "CPU")
}
VERBS = ("report", "csv", "json", "bundle", "show", "verify", "resumed")
PARTS = {
    "launches": Part(
        "Launches of `true`",
        "launches",
        (1_000, 3_000, LAUNCHES),
        60,
        4,
        launches.measure,
        {"mean": "a launch, ms", "ratio": "last tenth over first", "memory": "memory, MB"},
        LAUNCH_LIMITS,
    ),
    "display": Part(
        "Live line",
        "launches",
        (1_000, LAUNCHES),
        60,
        1,
        display.measure,
        {"share": "share of a core, %", "display": "CPU time, s", "wall": "wall time, s"},
        DISPLAY_LIMITS,
    ),
    "study": Part(
        "One large study",
        "samples",
        (3_000, 10_000, 30_000, SAMPLES),
        300,
        5,
        large_study.measure,
        {
            "bytes": "bytes a sample",
            "writing": "to write a sample, us",
            "page": "page, MB",
            **{verb: f"{verb}, s" for verb in VERBS},
            "next launch": "next launch, s",
            **{f"{verb} memory": f"{verb}, MB" for verb in VERBS},
        },
        STUDY_LIMITS,
    ),
    "list": Part(
        "Many studies",
        "studies",
        (1_000, 3_000, STUDIES),
        30,
        3,
        many_studies.measure,
        {
            "list": "`--limit`, s",
            **{name: f"by {name}, s" for name in many_studies.FILTERS},
            "whole list": "whole list, s",
            "prune": "plan to prune, s",
            "memory": "memory, MB",
        },
        LIST_LIMITS,
    ),
    "thinking-20": Part(
        "Thinking time, 20 settings",
        "trials",
        (100, 200, 400),
        12,
        1,
        thinking.few_settings,
        THINKING_COLUMNS,
        _thinking_limits(400, 20, 40.0),
    ),
    "thinking-100": Part(
        "Thinking time, 100 settings",
        "trials",
        (250, 500, 1_000),
        12,
        4,
        thinking.many_settings,
        THINKING_COLUMNS,
        _thinking_limits(1_000, 100, 150.0),
    ),
    "sweep": Part(
        "Sweeps",
        "cells",
        (1_000, 3_000, CELLS),
        20,
        4,
        sweeping.measure,
        {
            "plan": "plan, s",
            "launch": "a launch, ms",
            "report": "report, s",
            "page": "page, MB",
            "report memory": "report, MB",
        },
        SWEEP_LIMITS,
    ),
    "machine": Part(
        "Large machines",
        "CPUs",
        CPUS,
        16,
        1,
        machines.measure,
        {"show": "`machine show`, s", "check": "`machine check`, s", "memory": "memory, MB"},
        MACHINE_LIMITS,
        partial(machines.measure, rounds=1),
    ),
    "children": Part(
        "Short children",
        "children",
        (1_000, 3_000, 10_000),
        50,
        4,
        crowds.children,
        CROWD_COLUMNS,
        _crowd_limits(10_000, "children", 1.03),
        partial(crowds.children, rounds=1),
    ),
    "threads": Part(
        "Threads",
        "threads",
        (500, 1_500, 5_000),
        50,
        2,
        crowds.threads,
        CROWD_COLUMNS,
        _crowd_limits(5_000, "threads", 1.05),
        partial(crowds.threads, rounds=1),
    ),
}
"""Parts in their order."""
