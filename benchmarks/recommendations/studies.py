"""Studies: one simulated study each, and its answer beside the truth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from assay.records import (
    Budget,
    Configuration,
    Kind,
    RecommendationStatus,
    StudySpec,
    Workload,
)
from assay.search.conclude import conclude
from assay.search.gp import GpSearcher
from assay.search.space import SearchSpace
from assay.search.testing import Simulated, drive
from assay.search.tune import TuneRace

from .spaces import Shape, draw

NOISE = 0.05


@dataclass(frozen=True)
class Asked:
    """One study to make."""

    shape: Shape
    launches: int
    low: float
    high: float
    seed: int
    noise: float = NOISE


@dataclass(frozen=True)
class Answer:
    """A study's answer beside the truth.

    Attributes:
        status: of the recommendation.
        regret: true time of the recommendation over the least one, less 1.
        ratio: true ratio of the recommendation to the default.
        idle: settings of the recommendation that do nothing.
        settings: of the recommendation, how many.
        told: the ratio that is expected or claimed; ``None`` for the default.
        interval: of it.
    """

    asked: Asked
    status: RecommendationStatus
    regret: float
    ratio: float
    idle: int
    settings: int
    told: float | None = None
    interval: tuple[float, float] | None = None


def answer(asked: Asked) -> Answer:
    """Make a study, and hold its answer against the truth."""
    effects = draw(asked.shape, asked.low, asked.high, asked.seed)
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("simulated",)),
        budget=Budget(launches=asked.launches),
        space=effects.space,
        seed=asked.seed,
        disturbed_above=None,
    )
    program = Simulated(
        takes_s=lambda c: 10.0 * math.exp(effects.log_ratio(c)), noise=asked.noise, seed=asked.seed
    )
    space, searcher = SearchSpace(effects.space), GpSearcher()
    trip = drive(TuneRace(spec, space, searcher), program, spec.budget)
    conclusion = conclude(spec, trip.samples, space, searcher, trip.done)
    chosen = conclusion.recommendation
    assert chosen is not None
    settings = Configuration(chosen.settings)
    log = effects.log_ratio(settings)
    told, interval = None, None
    if chosen.expected is not None:
        told, interval = chosen.expected.ratio, chosen.expected.ci
    elif settings and chosen.claim is not None:
        low, high = chosen.claim.ci
        told, interval = chosen.claim.ratio, (low or 0.0, high or math.inf)
    return Answer(
        asked,
        chosen.status,
        math.expm1(log - effects.best),
        math.exp(log),
        len(effects.idle(settings)),
        len(settings),
        told,
        interval,
    )


def answers(asked: Sequence[Asked], jobs: int) -> Iterator[Answer]:
    """The answers of many studies, in their order."""
    if jobs == 1:
        yield from map(answer, asked)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(answer, asked, chunksize=4)
