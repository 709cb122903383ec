"""Whole tunings with a fidelity on simulated programs."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.unit.search.simulated_studies import Study, workload

from assay.records import (
    Budget,
    Choices,
    Configuration,
    Fidelity,
    Kind,
    Launch,
    Parameter,
    Sample,
    Space,
    StudySpec,
)
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import SimulatedProgram, run_race

STEPS = Fidelity(name="arg.steps", levels=(50, 200, 800, 2000))
START_S = 0.1
FULL_S = 10.0


@dataclass(frozen=True)
class Stepping(SimulatedProgram):
    """A program whose time grows with its steps.

    Attributes:
        misleads: factor on the logarithms of the effects at low fidelity; -1 reverses the order.
    """

    misleads: float = 1.0

    def run(self, launch: Launch) -> Sample:
        if launch.fidelity is None:
            return super().run(launch)
        share = int(launch.fidelity) / int(STEPS.full)
        effect = math.log(self.takes_s(launch.configuration) / FULL_S)

        def takes_s(configuration: Configuration) -> float:
            return START_S + share * FULL_S * math.exp(self.misleads * effect)

        cheap = SimulatedProgram(takes_s=takes_s, noise=self.noise, seed=self.seed)
        return cheap.run(launch)


def log_normal(sd: float, seed: int) -> Callable[[Configuration], float]:
    """Return the time of a whole launch with an effect of each configuration."""

    def takes_s(configuration: Configuration) -> float:
        if not configuration:
            return FULL_S
        text = hashlib.sha256(f"{seed}/{configuration}".encode()).hexdigest()
        return FULL_S * math.exp(random.Random(text).gauss(0.0, sd))

    return takes_s


def one_of(count: int) -> Space:
    """Return a space of one categorical setting."""
    values = tuple(f"v{number}" for number in range(count))
    return Space(parameters=(Parameter(name="arg.kind", domain=Choices(values), default="v0"),))


def tune(space: Space, program: SimulatedProgram, launches: float, seed: int = 0) -> Study:
    """Tune with a fidelity on the time of some whole launches."""
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=workload(),
        budget=Budget(time_s=launches * FULL_S),
        space=space,
        seed=seed,
        fidelity=STEPS,
    )
    race_space, searcher = SearchSpace(space), GpSearcher()
    ran = run_race(TuneRace(spec, race_space, searcher), program, spec.budget)
    found = conclude(spec, ran.samples, race_space, searcher, ran.done)
    return Study(spec, ran.samples, ran.done, found)
