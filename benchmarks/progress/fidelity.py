"""Regret of a search by wall time, with and without cheap launches.

60 configurations of a simulated job that reports nothing while it runs. The budget is the time of
some whole launches of the default. `python -m benchmarks.progress.fidelity` prints the mean regret
of each cell.
"""

from __future__ import annotations

import argparse
import math
import statistics
from dataclasses import dataclass

import numpy as np

from assay.records import (
    Budget,
    Fidelity,
    Kind,
    Launch,
    Outcome,
    RecommendationStatus,
    Sample,
    StudySpec,
    Workload,
)
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import run_race
from benchmarks.progress.jobs import Job, launches
from benchmarks.progress.simulated_program import Effect
from benchmarks.progress.simulated_search import JOB, SPACES, Effects, whole_launch_s

STEPS = Fidelity(name="arg.steps", levels=(50, 171, 585, 2000))
"""Levels of `--fidelity arg.steps=50..2000:log`."""
COUNTS = (10, 30)
"""Budgets, in whole launches of the default."""


@dataclass(frozen=True)
class Found:
    """Result of one search.

    Attributes:
        regret: time of the recommended configuration over that of the best one, less 1.
        proven: true if the search proves a gain.
        tau: Kendall's tau of lowest and full fidelity; ``None`` if unknown.
    """

    regret: float
    proven: bool
    tau: float | None


class WholeProgram:
    """Launches of a job that ends by itself, after the steps of its fidelity.

    Args:
        job: simulated job.
        effect: effects of configurations.
        seed: seed of launches and steps.
    """

    def __init__(self, job: Job, effect: Effect, seed: int) -> None:
        self._job = job
        self._effect = effect
        self._rng = np.random.default_rng((seed, 11))

    def run(self, launch: Launch) -> Sample:
        """Return the sample of one launch; see ``assay.testing.search_contracts.Program``."""
        steps = int(STEPS.full if launch.fidelity is None else launch.fidelity)
        factor = self._effect(launch.configuration)
        ends = launches(self._job, self._rng, np.array([factor]), steps)[0]
        wall_s = float(ends[-1])
        return Sample(launch=launch, outcome=Outcome.OK, wall_s=wall_s, metrics={"wall_s": wall_s})


def search(
    sizes: tuple[int, ...], seed: int, count: int, sd: float, fidelity: Fidelity | None
) -> Found:
    """Search a space on the time of some whole launches.

    Args:
        sizes: number of values of each setting.
        seed: seed of effects, launches and search.
        count: budget, in whole launches of the default.
        sd: standard deviation of the logarithms of the effects.
        fidelity: fidelity of the search; ``None`` for whole launches alone.
    """
    effects = Effects(sizes, seed, sd)
    budget = Budget(time_s=count * whole_launch_s(JOB))
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("simulated",)),
        budget=budget,
        space=effects.space,
        seed=seed,
        disturbed_above=None,
        fidelity=fidelity,
    )
    searcher, space = GpSearcher(), SearchSpace(effects.space)
    race = TuneRace(spec, space, searcher)
    ran = run_race(race, WholeProgram(JOB, effects.factor, seed), budget)
    found = conclude(spec, ran.samples, space, searcher, ran.done)
    chosen = found.recommendation
    assert chosen is not None
    return Found(
        effects.regret(chosen.settings),
        chosen.status is RecommendationStatus.PROVEN,
        found.fidelity.tau if found.fidelity is not None else None,
    )


def main() -> None:
    """Run the searches of the cells and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="searches of each cell")
    parser.add_argument("--sd", type=float, default=0.1, help="spread of the effects; 0: all alike")
    parser.add_argument("--space", choices=tuple(SPACES), action="append", help="cells to run")
    parser.add_argument("--count", type=int, choices=COUNTS, action="append", help="budgets to run")
    arguments = parser.parse_args()
    print("space       launches  fidelity  regret %     se  median %  proven %   tau")
    for space in arguments.space or SPACES:
        for count in arguments.count or COUNTS:
            for fidelity in (None, STEPS):
                found = [
                    search(SPACES[space], seed, count, arguments.sd, fidelity)
                    for seed in range(arguments.seeds)
                ]
                print(_line(space, count, fidelity, found), flush=True)


def _line(space: str, count: int, fidelity: Fidelity | None, found: list[Found]) -> str:
    regrets = [100.0 * one.regret for one in found]
    error = statistics.stdev(regrets) / math.sqrt(len(regrets)) if len(regrets) > 1 else math.nan
    taus = [one.tau for one in found if one.tau is not None]
    tau = f"{statistics.fmean(taus):5.2f}" if taus else "     "
    proven = 100.0 * sum(one.proven for one in found) / len(found)
    return (
        f"{space:<12}{count:8d}  {'yes' if fidelity else 'no':<8}  "
        f"{statistics.fmean(regrets):8.2f}  {error:5.2f}  {statistics.median(regrets):8.2f}  "
        f"{proven:8.1f}  {tau}"
    )


if __name__ == "__main__":
    main()
