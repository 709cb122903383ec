"""The race behind ``assay tune`` as a method, with any searcher."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.records import (
    DEFAULT,
    Budget,
    Choices,
    Configuration,
    Goal,
    Kind,
    Launch,
    Metric,
    Outcome,
    Parameter,
    Sample,
    Space,
    StudySpec,
    Value,
    Verdict,
    Workload,
)
from assay.records.workload import WALL
from assay.search.conclusion.conclude import conclude
from assay.search.model.searcher import Belief, Contrast, Estimate, Searcher, Trial
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.method import MethodResult
from assay.testing.replay.table import Point, Table
from assay.testing.replay.world import World
from assay.testing.search_contracts import CompletedRace, run_race

SCORE = Metric(name="score", goal=Goal.HIGHER, pattern="x")
"""Objective for which higher is better; its pattern is never used."""


class RaceSearch:
    """Runs survey, search, ablation and confirmation within a number of launches.

    Args:
        name: name in reports.
        searcher: searcher of the race.
    """

    def __init__(self, name: str, searcher: Searcher) -> None:
        self.name = name
        self._searcher = searcher

    def search(self, world: World, launches: int, seed: int) -> MethodResult:
        """See ``Method.search``."""
        searcher = TimedSearcher(self._searcher)
        study = ReplayedStudy.of(world, searcher, launches, seed)
        return _found(study, searcher)


@dataclass(frozen=True)
class ReplayedStudy:
    """A completed study of a world.

    Attributes:
        space: search space of the study.
        spec: specification of the study.
        completed_race: the completed race.
    """

    space: TableSpace
    spec: StudySpec
    completed_race: CompletedRace

    @classmethod
    def of(cls, world: World, searcher: Searcher, launches: int, seed: int) -> ReplayedStudy:
        """Tune in a new world."""
        space = TableSpace(world.table, world.default)
        spec = _spec(space, world, launches, seed)
        completed_race = run_race(
            TuneRace(spec, space, searcher), RecordedProgram(world, space), spec.budget
        )
        return cls(space, spec, completed_race)


def _spec(space: TableSpace, world: World, launches: int, seed: int) -> StudySpec:
    metrics = (SCORE,) if world.higher else (WALL,)
    return StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("recorded",), metrics=metrics),
        budget=Budget(launches=launches),
        space=space.declared,
        seed=seed,
        disturbed_above=None,
    )


@dataclass(frozen=True)
class RecordedProgram:
    """The program of a world in the form that a race launches."""

    world: World
    space: TableSpace

    def run(self, launch: Launch) -> Sample:
        """See ``Runs.run``."""
        taken = self.world.launch(self.space.point(launch.configuration), launch.timeout_s)
        if taken.value is None:
            return Sample(launch=launch, outcome=Outcome.FAILED, wall_s=taken.spent, exit_status=1)
        if taken.stopped:
            return Sample(launch=launch, outcome=Outcome.TIMED_OUT, wall_s=taken.value)
        metrics = {WALL.name: taken.value}
        if self.world.higher:
            metrics[SCORE.name] = taken.value
        return Sample(launch=launch, outcome=Outcome.OK, wall_s=taken.spent, metrics=metrics)


def _found(study: ReplayedStudy, searcher: TimedSearcher) -> MethodResult:
    space, completed_race = study.space, study.completed_race
    conclusion = conclude(study.spec, completed_race.samples, space, searcher, completed_race.done)
    chosen = conclusion.recommendation
    settings = Configuration(chosen.settings) if chosen is not None else DEFAULT
    claim = chosen.claim if chosen is not None else None
    claim = claim if claim is not None and claim.verdict is Verdict.FASTER else None
    claimed = claim if settings and claim is not None and claim.ratio is not None else None
    return MethodResult(
        space.point(settings),
        claimed.ratio if claimed else None,
        _interval(claimed.ci) if claimed else None,
        think_s=tuple(searcher.think_s),
    )


def _interval(ci: tuple[float | None, float | None]) -> tuple[float, float]:
    return ci[0] or 0.0, ci[1] if ci[1] is not None else float("inf")


class TableSpace(SearchSpace):
    """The points of a table as a search space.

    Args:
        table: table of the valid points.
        default: index of the default point.
    """

    def __init__(self, table: Table, default: int) -> None:
        self.declared = Space(
            parameters=tuple(
                Parameter(
                    name=_setting(name),
                    domain=Choices(table.domain(i)),
                    default=table.points[default][i],
                )
                for i, name in enumerate(table.columns)
            )
        )
        self._places = {point: i for i, point in enumerate(table.points)}
        self._default = table.points[default]
        self._names = [parameter.name for parameter in self.declared.parameters]
        super().__init__(self.declared, admissible=lambda c: self._point(c) in self._places)

    def point(self, configuration: Configuration) -> int:
        """Return the index in the table of a valid configuration."""
        return self._places[self._point(configuration)]

    def _point(self, configuration: Configuration) -> Point:
        pairs = zip(self._names, self._default, strict=True)
        return tuple(configuration.get(name, default) for name, default in pairs)

    def enumerate(self, most: int) -> list[Configuration] | None:
        """See ``SearchSpace.enumerate``; valid points are known, however sparse."""
        if len(self._places) > most:
            return None
        every = (self.canonical(Configuration(self._named(point))) for point in self._places)
        return [DEFAULT, *(c for c in every if c != DEFAULT)]

    def _named(self, point: Point) -> dict[str, Value]:
        return dict(zip(self._names, point, strict=True))


def _setting(column: str) -> str:
    return "arg." + "".join(c if c.isalnum() or c in "_-" else "_" for c in column)


@dataclass
class TimedSearcher:
    """A searcher that records the time of its proposals."""

    inner: Searcher
    name: str = "timed"
    think_s: list[float] = field(default_factory=list)

    def propose(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """See ``Searcher.propose``."""
        began = time.perf_counter()
        proposals = self.inner.propose(space, trials, count, seed)
        took_s = time.perf_counter() - began
        self.think_s += [took_s / max(1, len(proposals))] * len(proposals)
        return proposals

    def verify(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """See ``Searcher.verify``."""
        return self.inner.verify(space, trials, count, seed)

    def core(self, space: SearchSpace, trials: Sequence[Trial]) -> list[Configuration]:
        """See ``Searcher.core``."""
        return self.inner.core(space, trials)

    def belief(self, space: SearchSpace, trials: Sequence[Trial]) -> Belief:
        """See ``Searcher.belief``."""
        return self.inner.belief(space, trials)

    def contrasts(
        self, space: SearchSpace, trials: Sequence[Trial], wanted: Sequence[Contrast]
    ) -> list[Estimate]:
        """See ``Searcher.contrasts``."""
        return self.inner.contrasts(space, trials, wanted)

    def remaining_gain(
        self, space: SearchSpace, trials: Sequence[Trial], confidence: float, seed: int
    ) -> float:
        """See ``Searcher.remaining_gain``."""
        return self.inner.remaining_gain(space, trials, confidence, seed)
