"""Simulated studies of jobs that report their speed while they run.

The production rules find periods and warm-up and choose the length of launches; the confidence
sequence decides when a study ends. The times are compared with those of the best fixed length,
which is not known in advance. Each finished part is stored in a file of results, so that an
interrupted run continues.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from assay.stats.progress.launch_curve import LaunchCurve

from .bias import STEPS, bias
from .ended_early import EACH, SLOWER, ended_early
from .jobs import JOBS, SHAPES, Job
from .length import EFFECT, adaptive, fixed
from .recorded import RECORDING, read, resampled
from .tables import BIAS_SHARE, tables

CHUNK = 250
"""Studies that are stored at once."""
BIAS_JOB = 4
"""The job whose warm-up is varied: 200 ms, launch 1 %."""
RECORDED_STEPS = (100, 200, 400)
"""Steady steps of launches that are resampled from recordings."""
SECONDS_PER_STUDY = 0.03
"""Processor time of one study, for the announcement."""


class Results:
    """Results by key, in a file that is written after each part."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def part(self, key: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the stored result of a key; compute and store it if there is none."""
        if key not in self.parts:
            self.parts[key] = compute()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self.path.with_suffix(".new")
            fresh.write_text(json.dumps(self.parts, indent=1))
            fresh.replace(self.path)
        found: dict[str, Any] = self.parts[key]
        return found


def main() -> None:
    """Simulate the parts that the file of results lacks, and print the tables."""
    options = _parsed()
    results = Results(options.results)
    chosen = [JOBS[at] for at in options.jobs]
    rows = 2 * len(chosen) * options.studies
    minutes = rows * SECONDS_PER_STUDY / 60
    print(f"{rows} studies, about {minutes:.0f} minutes of one idle core", flush=True)
    begin = time.perf_counter()
    for job in chosen:
        _length(results, job, options.studies, options.seed)
        print(f"{job.name}: {time.perf_counter() - begin:.0f} s", flush=True)
    _bias(results, options.studies // BIAS_SHARE, options.seed)
    _early(results, options.studies, options.seed)
    _recorded(results, options.studies, options.seed)
    print(tables(results.parts, chosen, options.studies))


def _length(results: Results, job: Job, studies: int, seed: int) -> None:
    number = JOBS.index(job)
    results.part(
        f"fixed {number}",
        lambda: {str(one.steps): [one.width_s, one.verdict_s] for one in fixed(job, 2000, seed)},
    )
    for kind, effect in enumerate((0.0, EFFECT)):
        for begin in range(0, studies, CHUNK):
            many = min(CHUNK, studies - begin)
            where = (seed, number, kind, begin)
            results.part(
                f"adaptive {number} {kind} {begin} {many}",
                partial(_adaptive, job, effect, many, where),
            )


def _adaptive(job: Job, effect: float, many: int, seed: tuple[int, ...]) -> dict[str, Any]:
    found = adaptive(job, effect, many, seed)
    return {
        "studies": many,
        "width_s": [float(found.width_s.sum()), float((found.width_s**2).sum())],
        "verdict_s": [float(found.verdict_s.sum()), float((found.verdict_s**2).sum())],
        "covered": int(found.covered.sum()),
        "differs": int(found.differs.sum()),
        "open": int(found.open.sum()),
        "first_look_s": float(found.first_look_s.sum()),
        "steps": np.quantile(found.steps, (0.1, 0.5, 0.9)).tolist(),
        "cut": np.quantile(found.cut, (0.05, 0.5, 0.95)).tolist(),
    }


def _bias(results: Results, studies: int, seed: int) -> None:
    for shape in SHAPES:
        for steps in STEPS:
            for pilots in (0, 4):
                results.part(
                    f"bias {shape} {steps} {pilots} {studies}",
                    partial(_biased, shape, steps, studies, seed, pilots),
                )


def _biased(shape: str, steps: int, studies: int, seed: int, pilots: int) -> dict[str, Any]:
    return vars(bias(JOBS[BIAS_JOB], shape, steps, studies, seed, pilots))


def _early(results: Results, launches: int, seed: int) -> None:
    for number in (3, 4, 5):
        for slower in SLOWER:
            many = math.ceil((launches if slower == 0.0 else launches / 4) / EACH)
            results.part(
                f"early {number} {slower} {launches}",
                partial(_ended, number, slower, many, seed),
            )


def _ended(number: int, slower: float, incumbents: int, seed: int) -> dict[str, Any]:
    return vars(ended_early(JOBS[number], slower, incumbents, seed))


def _recorded(results: Results, studies: int, seed: int) -> None:
    if not RECORDING.exists():
        return
    curves = read()
    for steps in RECORDED_STEPS:
        results.part(
            f"recorded {steps} {studies}",
            partial(_resampled, curves, steps, studies, seed),
        )


def _resampled(curves: list[LaunchCurve], steps: int, studies: int, seed: int) -> dict[str, Any]:
    return vars(resampled(curves, steps, studies, seed))


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.progress.simulation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--studies", type=int, default=2000, help="studies of a row (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of all noise (%(default)s)")
    parser.add_argument(
        "--jobs",
        type=int,
        nargs="+",
        default=list(range(len(JOBS))),
        choices=range(len(JOBS)),
        help="numbers of the jobs (default: all)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("build/progress-simulation.json"),
        help="file of results (%(default)s)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
