"""What a program does once, at its first launch."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from simulated_studies import carry_out, compare, workload

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Choices,
    Kind,
    Launch,
    Parameter,
    Sample,
    Space,
    Stage,
    StudySpec,
)
from assay.search.conclude import conclude
from assay.search.gp import GpSearcher
from assay.search.space import SearchSpace
from assay.search.testing import Simulated, drive
from assay.search.tune import TuneRace


@dataclass(frozen=True)
class Filling(Simulated):
    """Fills a cache at the first launch of all.

    Attributes:
        once_s: what that takes beside.
    """

    once_s: float = 2.0

    def run(self, launch: Launch) -> Sample:
        first = launch.stage is Stage.SURVEY and launch.block == 0 and launch.position == 0
        more = self.once_s if first else 0.0
        return Simulated(takes_s=lambda c: self.takes_s(c) + more, noise=self.noise).run(launch)


@pytest.mark.parametrize(("once_s", "told"), [(2.0, True), (0.001, False)])
def test_first_launch_that_took_longer_is_told(once_s: float, told: bool) -> None:
    program = Filling(takes_s=lambda c: 0.03, noise=0.03, once_s=once_s)
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload(),
        budget=Budget(launches=20),
        arms=(Arm(name="default", configuration=DEFAULT),),
    )
    studies = [carry_out(spec, program), compare(program, Budget(launches=40), {}, {"nice": 5})]
    for study in studies:
        notes = [n for n in study.conclusion.notes if n.startswith("the first launch")]
        assert bool(notes) == told
    assert studies[1].claim is None or studies[1].claim.ratio == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("launches", [3, 4])
def test_few_launches_repeat_the_default(launches: int) -> None:
    """Two alike, of which the first fills a cache: the second is not 69 times as fast."""
    space = Space(parameters=(Parameter(name="arg.n", domain=Choices((0, 1)), default=0),))
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=workload(),
        budget=Budget(launches=launches),
        space=space,
        disturbed_above=None,
    )
    program = Filling(takes_s=lambda c: 0.03, noise=0.03)
    trip = drive(TuneRace(spec, SearchSpace(space), GpSearcher()), program, spec.budget)
    default = [s for s in trip.samples if not s.launch.configuration]
    assert {s.launch.stage for s in default} >= {Stage.SURVEY, Stage.SEARCH}
    found = conclude(spec, trip.samples, SearchSpace(space), GpSearcher(), trip.done)
    assert found.recommendation is not None
    assert not found.recommendation.settings
