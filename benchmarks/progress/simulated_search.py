"""Search of assay among configurations of a simulated job, on the time of some whole launches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assay.records import (
    Budget,
    Choices,
    Configuration,
    Kind,
    Parameter,
    Space,
    StudySpec,
    Until,
    Verdict,
)
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import run_race
from benchmarks.progress.jobs import Job, launches
from benchmarks.progress.simulated_program import WORKLOAD, JobProgram

JOB = Job("200 ms, launch 1%", 0.2, 0.01)
SPACES = {"flat": (60,), "structured": (5, 4, 3)}
"""Numbers of values of the settings of each space."""
ADDITIVE_SHARE = 0.8
"""Share of the variance of the effects that the settings of a structured space add up to."""


@dataclass(frozen=True)
class Found:
    """Result of one search.

    Attributes:
        regret: time of the recommended configuration over that of the best one, less 1.
        claims: true if the search proves a gain.
        launches: number of launches.
    """

    regret: float
    claims: bool
    launches: int


class Effects:
    """Log-normal effects of the configurations of a space.

    Args:
        sizes: number of values of each setting.
        seed: seed of the effects.
        sd: standard deviation of their logarithms.
    """

    def __init__(self, sizes: tuple[int, ...], seed: int, sd: float) -> None:
        rng = np.random.default_rng((seed, 7))
        self._names = [f"arg.s{number}" for number in range(len(sizes))]
        own = rng.standard_normal(sizes)
        if len(sizes) > 1:
            trends = [rng.standard_normal(size) for size in sizes]
            added = sum(np.ix_(*trends)) / math.sqrt(len(sizes))
            own = math.sqrt(ADDITIVE_SHARE) * added + math.sqrt(1.0 - ADDITIVE_SHARE) * own
        self._logs = sd * own
        self.space = Space(
            parameters=tuple(
                Parameter(
                    name=name,
                    domain=Choices(tuple(f"v{value}" for value in range(size))),
                    default="v0",
                )
                for name, size in zip(self._names, sizes, strict=True)
            )
        )

    def factor(self, configuration: Configuration) -> float:
        """Return the factor of a configuration on the time of a step."""
        place = tuple(int(str(configuration.get(name, "v0"))[1:]) for name in self._names)
        return math.exp(float(self._logs[place]))

    def regret(self, configuration: Configuration) -> float:
        """Return the time of a configuration over that of the best one, less 1."""
        return self.factor(configuration) / math.exp(float(self._logs.min())) - 1.0


def whole_launch_s(job: Job) -> float:
    """Return the mean time of a whole launch of a job, in seconds."""
    ends = launches(job, np.random.default_rng(0), np.ones(20), job.whole)
    return float(ends[:, -1].mean())


def search(sizes: tuple[int, ...], seed: int, count: int, sd: float) -> Found:
    """Search a space on the time of some whole launches.

    Args:
        sizes: number of values of each setting.
        seed: seed of effects, launches and search.
        count: budget, in whole launches of the default.
        sd: standard deviation of the logarithms of the effects.
    """
    effects = Effects(sizes, seed, sd)
    budget = Budget(time_s=count * whole_launch_s(JOB))
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=WORKLOAD,
        budget=budget,
        space=effects.space,
        seed=seed,
        disturbed_above=None,
        until=Until(),
    )
    searcher, space = GpSearcher(), SearchSpace(effects.space)
    race = TuneRace(spec, space, searcher)
    ran = run_race(race, JobProgram(JOB, effects.factor, seed), budget)
    found = conclude(spec, ran.samples, space, searcher, ran.done)
    chosen = found.recommendation
    settings = Configuration() if chosen is None else Configuration(chosen.settings)
    claim = None if chosen is None else chosen.claim
    proven = claim is not None and claim.verdict is Verdict.FASTER
    return Found(effects.regret(settings), proven, len(ran.samples))
