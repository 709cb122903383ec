"""Launches that do not end."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

import pytest
from simulated_studies import carry_out, compare, workload

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Choices,
    Kind,
    Launch,
    Outcome,
    Parameter,
    RecommendationStatus,
    Sample,
    Space,
    StudySpec,
    Verdict,
)
from assay.search.conclude import conclude
from assay.search.endless import FACTOR, LEAST_S
from assay.search.gate import FAILED, reasons
from assay.search.gp import GpSearcher
from assay.search.sentence import comparison
from assay.search.space import SearchSpace
from assay.search.testing import Simulated, drive
from assay.search.tune import TuneRace


@dataclass(frozen=True)
class Hanging(Simulated):
    """Does not end in some launches of what is not the default.

    Attributes:
        hangs: share of its launches.
    """

    hangs: float = 0.1

    def run(self, launch: Launch) -> Sample:
        place = f"{launch.stage}/{launch.block}/{launch.position}/{launch.attempt}"
        if launch.configuration and random.Random(place).random() < self.hangs:
            return replace(self, takes_s=lambda c: 1e9, hangs=0.0).run(launch)
        return super().run(launch)


@dataclass(frozen=True)
class Tailed(Simulated):
    """Takes ten times as long in one launch of twenty."""

    def run(self, launch: Launch) -> Sample:
        place = f"{launch.block}/{launch.position}"
        slow = 10.0 if random.Random(place).random() < 0.05 else 1.0
        return Simulated(takes_s=lambda c: slow * self.takes_s(c), noise=self.noise).run(launch)


PROGRAM = Hanging(takes_s=lambda c: 0.09 if c else 0.10, noise=0.1)


@pytest.mark.parametrize("timeout_s", [2.0, None])
def test_an_arm_that_hangs_is_not_faster(timeout_s: float | None) -> None:
    study = compare(PROGRAM, Budget(launches=240), {}, {"nice": 5}, timeout_s=timeout_s)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.UNCLEAR
    late = [s for s in study.samples if s.outcome is Outcome.TIMED_OUT]
    told = comparison(study.claim, study.spec.workload.objective)
    assert f"{len(late)} of " in told
    assert "launches of nice=5 did not end, and all " in told
    closed = reasons([FAILED], study.conclusion, study.spec)
    assert any("nice=5 did not end" in reason for reason in closed)
    if timeout_s is None:
        assert {s.launch.cap_s for s in late} == {LEAST_S}


def test_arm_that_ends_is_faster_than_arm_that_hangs() -> None:
    slow = replace(PROGRAM, takes_s=lambda c: 0.2 if c else 0.10)
    study = compare(slow, Budget(launches=120), {}, {"nice": 5}, timeout_s=2.0)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.SLOWER


def test_arm_that_hangs_is_not_recommended() -> None:
    space = Space(parameters=(Parameter(name="arg.n", domain=Choices((0, 1)), default=0),))
    gain = Hanging(takes_s=lambda c: 0.05 if c else 0.10, noise=0.02, hangs=0.25)
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=workload(),
        budget=Budget(launches=120),
        space=space,
        disturbed_above=None,
    )
    for program, status in (
        (gain, RecommendationStatus.DEFAULT),
        (replace(gain, hangs=0.0), RecommendationStatus.PROVEN),
    ):
        race = TuneRace(spec, SearchSpace(space), GpSearcher())
        race.go_on()
        trip = drive(race, program, spec.budget)
        found = conclude(spec, trip.samples, SearchSpace(space), GpSearcher(), trip.done)
        assert found.recommendation is not None
        assert found.recommendation.status is status


def test_a_long_tail_is_not_cut() -> None:
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload(),
        budget=Budget(launches=200),
        precision=1e-6,
        arms=(Arm(name="default", configuration=DEFAULT),),
    )
    study = carry_out(spec, Tailed(takes_s=lambda c: 5.0, noise=0.05))
    assert all(sample.outcome is Outcome.OK for sample in study.samples)
    assert max(sample.wall_s or 0.0 for sample in study.samples) > 40.0
    caps = [sample.launch.cap_s for sample in study.samples[1:]]
    assert min(cap for cap in caps if cap is not None) >= FACTOR * 5.0 * math.exp(-0.3)
