"""Studies, whose answers are compared with the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.records import (
    Budget,
    Configuration,
    Recommendation,
    RecommendationStatus,
    StudySpec,
    Workload,
)
from assay.records.study import Kind
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.race_search import ReplayedStudy
from assay.testing.replay.table import load
from assay.testing.replay.world import Kind as Noise
from assay.testing.replay.world import World
from assay.testing.search_contracts import SimulatedProgram, run_race

from .spaces import Shape, draw
from .starts import Start, default_of

SECONDS = 10.0
"""Time of the default of a simulated space."""


@dataclass(frozen=True)
class Answer:
    """Answer of a study, and its true quality.

    Attributes:
        status: status of the recommendation.
        regret: true time of the recommendation divided by the smallest one, minus 1.
        ratio: true ratio of the recommendation to the default.
        idle: number of recommended settings without effect; 0 if that is unknown.
        settings: number of recommended settings.
        claimed: expected or claimed ratio; ``None`` for the default.
        low, high: ends of its interval.
    """

    status: RecommendationStatus
    regret: float
    ratio: float
    idle: int
    settings: int
    claimed: float | None = None
    low: float = 0.0
    high: float = math.inf

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of the answer."""
        return None if self.claimed is None else (self.low, self.high)


@dataclass(frozen=True)
class SimulatedStudy:
    """A study of a simulated space.

    Attributes:
        shape: shape of its effects.
        launches: budget.
        low, high: range of the effect of a setting's best value (a share of the time).
        seed: seed of the space, the search and the noise.
        noise: log-normal noise of a launch.
    """

    shape: Shape
    launches: int
    low: float
    high: float
    seed: int
    noise: float

    def answer(self) -> Answer:
        """Run the study and return its answer."""
        effects = draw(self.shape, self.low, self.high, self.seed)
        spec = StudySpec(
            kind=Kind.TUNE,
            workload=Workload(argv=("simulated",)),
            budget=Budget(launches=self.launches),
            space=effects.space,
            seed=self.seed,
            disturbed_above=None,
        )
        program = SimulatedProgram(
            takes_s=lambda c: SECONDS * math.exp(effects.log_ratio(c)),
            noise=self.noise,
            seed=self.seed,
        )
        space, searcher = SearchSpace(effects.space), GpSearcher()
        completed_race = run_race(TuneRace(spec, space, searcher), program, spec.budget)
        chosen = conclude(
            spec, completed_race.samples, space, searcher, completed_race.done
        ).recommendation
        assert chosen is not None
        settings = Configuration(chosen.settings)
        log = effects.log_ratio(settings)
        regret, idle = math.expm1(log - effects.best), len(effects.idle(settings))
        return Answer(chosen.status, regret, math.exp(log), idle, len(settings), *_claimed(chosen))


@dataclass(frozen=True)
class RecordedStudy:
    """A study of a recorded space.

    Attributes:
        table: file of the space.
        start: choice of the default configuration.
        noise: variation of launches.
        launches: budget.
        seed: seed of the default, the search and the noise.
    """

    table: Path
    start: Start
    noise: Noise
    launches: int
    seed: int

    def answer(self) -> Answer:
        """Run the study and return its answer."""
        table = load(self.table)
        default = default_of(table, self.start, self.seed)
        world, searcher = World(table, self.seed, kind=self.noise, default=default), GpSearcher()
        visit = ReplayedStudy.of(world, searcher, self.launches, self.seed)
        completed_race = visit.completed_race
        chosen = conclude(
            visit.spec, completed_race.samples, visit.space, searcher, completed_race.done
        ).recommendation
        assert chosen is not None
        point = visit.space.point(Configuration(chosen.settings))
        regret, ratio = world.regret(point), world.ratio(point)
        return Answer(chosen.status, regret, ratio, 0, len(chosen.settings), *_claimed(chosen))


Study = SimulatedStudy | RecordedStudy


def _claimed(chosen: Recommendation) -> tuple[Any, ...]:
    """Return the ratio of a recommendation and its interval; nothing for the default."""
    if chosen.expected is not None:
        return (chosen.expected.ratio, *chosen.expected.ci)
    if not chosen.settings or chosen.claim is None:
        return ()
    low, high = chosen.claim.ci
    return chosen.claim.ratio, low or 0.0, high or math.inf


def answered(study: Study) -> Answer:
    """Run a study in a worker process and return its answer."""
    return study.answer()
