"""Studies with two objectives on simulated programs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.records import (
    Budget,
    Conclusion,
    Configuration,
    FrontPoint,
    Kind,
    Launch,
    Metric,
    Outcome,
    Sample,
    Space,
    Stage,
    StudySpec,
    Value,
    Workload,
)
from assay.records.workload import BUILT_IN
from assay.search.claims.front_claims import front_alpha, judge_points
from assay.search.conclusion.conclude import conclude
from assay.search.history.history import DEFAULT_ARM, arm_of
from assay.search.history.objective_view import objective_views
from assay.search.model.gp import GpSearcher
from assay.search.races.front import FrontRace
from assay.search.races.race import Ending
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import run_race

TIME, MEMORY = BUILT_IN["wall_s"], BUILT_IN["peak_anon_bytes"]

Effects = Callable[[Configuration], tuple[float, float]]
"""Log ratios of time and memory of a configuration to the default."""


@dataclass(frozen=True)
class TwoSided:
    """A program with time and memory as metrics.

    Attributes:
        effects: effects of a configuration.
        noise: standard deviation of the logarithm of each.
        fails: share of the launches of a configuration that fail.
        seed: seed of the noise.
        metrics: names of both metrics.
    """

    effects: Effects
    noise: tuple[float, float] = (0.03, 0.005)
    fails: Callable[[Configuration], float] = lambda configuration: 0.0
    seed: int = 0
    metrics: tuple[Metric, Metric] = (TIME, MEMORY)

    def run(self, launch: Launch) -> Sample:
        """Return the sample of a launch, which is always the same for the same launch."""
        place = f"{launch.stage}/{launch.block}/{launch.position}/{launch.attempt}/{launch.arm}"
        rng = random.Random(f"{self.seed}/{place}")
        time, memory = (
            math.exp(effect + rng.gauss(0.0, noise))
            for effect, noise in zip(self.effects(launch.configuration), self.noise, strict=True)
        )
        if rng.random() < self.fails(launch.configuration):
            return Sample(launch=launch, outcome=Outcome.FAILED, wall_s=time, exit_status=1)
        if launch.timeout_s is not None and time > launch.timeout_s:
            return Sample(launch=launch, outcome=Outcome.TIMED_OUT, wall_s=launch.timeout_s)
        metrics = {"wall_s": time, self.metrics[0].name: time, self.metrics[1].name: memory}
        return Sample(launch=launch, outcome=Outcome.OK, wall_s=time, metrics=metrics)


@dataclass(frozen=True)
class FrontStudy:
    """A completed study."""

    spec: StudySpec
    samples: list[Sample]
    done: Ending
    conclusion: Conclusion

    @property
    def front(self) -> list[dict[str, object]]:
        """Return the settings of the points of the front."""
        return [dict(point.settings) for point in self.conclusion.pareto_front]


def front_spec(
    space: Space,
    budget: Budget,
    *,
    seed: int = 0,
    null: bool = False,
    metrics: tuple[Metric, ...] = (TIME, MEMORY),
) -> StudySpec:
    """Return a study with two objectives."""
    return StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("./program",), metrics=metrics),
        budget=budget,
        space=space,
        seed=seed,
        null=null,
        objectives=tuple(metric.name for metric in metrics[:2]),
    )


def front_study(
    space: Space, program: TwoSided, budget: Budget, *, seed: int = 0, null: bool = False
) -> FrontStudy:
    """Run a study to its end."""
    spec = front_spec(space, budget, seed=seed, null=null, metrics=program.metrics)
    bound, searcher = SearchSpace(space), GpSearcher()
    completed_race = run_race(FrontRace(spec, bound, searcher), program, budget)
    found = conclude(spec, completed_race.samples, bound, GpSearcher(), completed_race.done)
    return FrontStudy(spec, completed_race.samples, completed_race.done, found)


def confirmation(
    program: TwoSided, settings: Sequence[Mapping[str, Value]], blocks: int
) -> list[FrontPoint]:
    """Return the verdicts on points after a confirmation of this number of blocks."""
    points = [arm_of(Configuration(one)) for one in settings]
    roster = (DEFAULT_ARM, *points)
    samples = [
        program.run(
            Launch(
                configuration=arm.configuration,
                arm=arm.name,
                stage=Stage.CONFIRM,
                block=block,
                position=position,
                block_arms=None if position else roster,
            )
        )
        for block in range(blocks)
        for position, arm in enumerate(roster)
    ]
    spec = front_spec(Space(), Budget(launches=len(samples)))
    return judge_points(objective_views(spec, samples), points, [], front_alpha(spec, len(points)))
