"""Regret of a search among 60 configurations of a simulated job, on the time of whole launches."""

from __future__ import annotations

import argparse
import math
import statistics
import time

import numpy as np

from assay.records import Budget, Choices, Configuration, Kind, Parameter, Space, StudySpec, Until
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import run_race
from benchmarks.progress.jobs import Job, launches
from benchmarks.progress.simulated_program import WORKLOAD, JobProgram

JOB = Job("200 ms, launch 1%", 0.2, 0.01)


def flat_space() -> Space:
    return Space(
        parameters=(
            Parameter(name="arg.c", domain=Choices(tuple(f"v{i}" for i in range(60))), default="v0"),
        )
    )


def structured_space() -> Space:
    sizes = {"arg.a": 5, "arg.b": 4, "arg.c": 3}
    return Space(
        parameters=tuple(
            Parameter(name=n, domain=Choices(tuple(f"v{i}" for i in range(k))), default="v0")
            for n, k in sizes.items()
        )
    )


class Effects:
    """Log-normal effects with sd 10 %; structured: 80 % of the variance is additive."""

    def __init__(self, kind: str, seed: int, sd: float = 0.1) -> None:
        rng = np.random.default_rng((seed, 7))
        self.kind = kind
        if kind == "flat":
            self.table = {(i,): sd * rng.standard_normal() for i in range(60)}
        else:
            parts = [rng.standard_normal(k) for k in (5, 4, 3)]
            own = {}
            for a in range(5):
                for b in range(4):
                    for c in range(3):
                        additive = (parts[0][a] + parts[1][b] + parts[2][c]) / math.sqrt(3)
                        own[a, b, c] = sd * (
                            math.sqrt(0.8) * additive + math.sqrt(0.2) * rng.standard_normal()
                        )
            self.table = own

    def key(self, configuration: Configuration) -> tuple[int, ...]:
        names = ("arg.c",) if self.kind == "flat" else ("arg.a", "arg.b", "arg.c")
        return tuple(int(str(configuration.get(n, "v0"))[1:]) for n in names)

    def factor(self, configuration: Configuration) -> float:
        return math.exp(self.table[self.key(configuration)])

    def regret(self, configuration: Configuration) -> float:
        return self.factor(configuration) / math.exp(min(self.table.values())) - 1.0


def whole_s(job: Job) -> float:
    rng = np.random.default_rng(0)
    return float(launches(job, rng, np.ones(20), job.whole)[:, -1].mean())


def study(kind: str, seed: int, count: int, sd: float = 0.1):
    space = flat_space() if kind == "flat" else structured_space()
    effects = Effects(kind, seed, sd)
    budget = Budget(time_s=count * whole_s(JOB))
    spec = StudySpec(
        kind=Kind.TUNE, workload=WORKLOAD, budget=budget, space=space, seed=seed,
        disturbed_above=None, until=Until(),
    )
    searcher = GpSearcher()
    bound = SearchSpace(space)
    race = TuneRace(spec, bound, searcher)
    done = run_race(race, JobProgram(JOB, effects.factor, seed), budget)
    conclusion = conclude(spec, done.samples, bound, searcher, done.done)
    chosen = conclusion.recommendation
    settings = Configuration(chosen.settings) if chosen is not None else Configuration()
    claim = chosen.claim if chosen is not None else None
    return effects.regret(settings), claim, done, conclusion


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="flat")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sd", type=float, default=0.1)
    parser.add_argument("-v", action="store_true")
    a = parser.parse_args()
    regrets = []
    for seed in range(a.seeds):
        t = time.perf_counter()
        regret, claim, done, conclusion = study(a.kind, seed, a.count, a.sd)
        regrets.append(100 * regret)
        if a.v:
            stages = {}
            for s in done.samples:
                stages.setdefault(str(s.launch.stage), []).append(s.wall_s)
            print(seed, f"{100*regret:.2f} %", claim and claim.verdict, done.done.reason, {k: (len(v), round(sum(v))) for k, v in stages.items()}, f"{time.perf_counter()-t:.1f} s", flush=True)
    print(a.kind, a.count, f"mean {statistics.fmean(regrets):.3f} median {statistics.median(regrets):.3f} se {statistics.stdev(regrets)/math.sqrt(len(regrets)):.3f}")


if __name__ == "__main__":
    main()
