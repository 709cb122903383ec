"""Simulated studies of jobs that report their speed while they run.

The production rules find periods and warm-up and choose the length of launches; the confidence
sequence decides when a study ends. The times are compared with those of the best fixed length,
which is not known in advance. Each finished part is stored in a file of results, so that an
interrupted run continues.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
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
from .results import Results
from .tables import BIAS_SHARE, tables

RESULTS = Path("build/progress-simulation.json")
CHUNK = 250
"""Studies that are stored at once."""
BIAS_JOB = 4
"""The job whose warm-up is varied: 200 ms, launch 1 %."""
RECORDED_STEPS = (100, 200, 400)
"""Steady steps of launches that are resampled from recordings."""
SECONDS_PER_STUDY = 0.03
"""Processor time of one study, for the announcement."""


def main() -> None:
    """Simulate the parts that the file of results lacks, and print the tables."""
    options = _parsed()
    results = Results(options.results)
    chosen = [JOBS[at] for at in options.jobs]
    simulate(results, chosen, options.studies, options.seed, options.minutes)
    print(tables(results.parts, chosen, options.studies))


def simulate(
    results: Results,
    chosen: Sequence[Job],
    studies: int,
    seed: int,
    minutes: float = math.inf,
) -> bool:
    """Simulate the parts without a stored result; return whether none is missing at the end.

    Args:
        results: stored results; each part is added at its end.
        chosen: jobs to simulate.
        studies: studies of a row.
        seed: seed of all noise.
        minutes: minutes after which no part begins.
    """
    wanted = dict(_parts(chosen, studies, seed))
    missing = [key for key in wanted if key not in results.parts]
    expected = sum(_studies(key) for key in missing) * SECONDS_PER_STUDY / 60
    print(f"{len(missing)} parts, about {expected:.0f} minutes of one idle core", flush=True)
    begin = time.monotonic()
    for key in missing:
        if time.monotonic() > begin + 60.0 * minutes:
            return False
        results.part(key, wanted[key])
    return True


def _studies(key: str) -> int:
    """Return the number of studies of a part, or the same time for another part."""
    return int(key.split()[-1]) if key.startswith("adaptive") else CHUNK


Part = tuple[str, Callable[[], dict[str, Any]]]


def _parts(chosen: Sequence[Job], studies: int, seed: int) -> Iterator[Part]:
    """Yield all parts, each with its key."""
    for job in chosen:
        yield from _lengths(job, studies, seed)
    yield from _bias(studies // BIAS_SHARE, seed)
    yield from _early(studies, seed)
    yield from _recorded(studies, seed)


def _lengths(job: Job, studies: int, seed: int) -> Iterator[Part]:
    number = JOBS.index(job)
    yield f"fixed {number}", partial(_fixed, job, seed)
    for kind, effect in enumerate((0.0, EFFECT)):
        for begin in range(0, studies, CHUNK):
            many = min(CHUNK, studies - begin)
            where = (seed, number, kind, begin)
            key = f"adaptive {number} {kind} {begin} {many}"
            yield key, partial(_adaptive, job, effect, many, where)


def _fixed(job: Job, seed: int) -> dict[str, Any]:
    return {str(one.steps): [one.width_s, one.verdict_s] for one in fixed(job, 2000, seed)}


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


def _bias(studies: int, seed: int) -> Iterator[Part]:
    for shape in SHAPES:
        for steps in STEPS:
            for pilots in (0, 4):
                key = f"bias {shape} {steps} {pilots} {studies}"
                yield key, partial(_biased, shape, steps, studies, seed, pilots)


def _biased(shape: str, steps: int, studies: int, seed: int, pilots: int) -> dict[str, Any]:
    return vars(bias(JOBS[BIAS_JOB], shape, steps, studies, seed, pilots))


def _early(launches: int, seed: int) -> Iterator[Part]:
    for number in (3, 4, 5):
        for slower in SLOWER:
            many = math.ceil((launches if slower == 0.0 else launches / 4) / EACH)
            key = f"early {number} {slower} {launches}"
            yield key, partial(_ended, number, slower, many, seed)


def _ended(number: int, slower: float, incumbents: int, seed: int) -> dict[str, Any]:
    return vars(ended_early(JOBS[number], slower, incumbents, seed))


def _recorded(studies: int, seed: int) -> Iterator[Part]:
    if not RECORDING.exists():
        return
    curves = read()
    for steps in RECORDED_STEPS:
        key = f"recorded {steps} {studies}"
        yield key, partial(_resampled, curves, steps, studies, seed)


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
        default=RESULTS,
        help="file of results (%(default)s)",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        help="minutes after which no part begins (default: no limit)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
