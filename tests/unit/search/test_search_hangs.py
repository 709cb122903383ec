"""Launches that hang."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

import msgspec
import pytest
from simulated_studies import carry_out, compare, workload

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Choices,
    Evidence,
    Kind,
    Launch,
    Metric,
    Outcome,
    Parameter,
    RecommendationStatus,
    Sample,
    Space,
    Stage,
    StudySpec,
    Until,
    Verdict,
)
from assay.records.sample import KILLED_AFTER, STOP_FAILED, TERMINATION
from assay.search.claims.gate import FAILED, gate_reasons
from assay.search.claims.reliability import excess_losses
from assay.search.conclusion.conclude import conclude
from assay.search.history.hangs import (
    FIRST_LAUNCH_FACTOR,
    MIN_HANG_TIMEOUT_S,
    hang_timeout_s,
)
from assay.search.history.history import History
from assay.search.model.gp import GpSearcher
from assay.search.races.race import Ending, EndReason
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.study.failures import FailedLaunches
from assay.testing.search_contracts import SimulatedProgram, run_race
from assay.wording.disturbance import disturbance_sentence
from assay.wording.failure import failure_text
from assay.wording.sentence import comparison, tuning_verdict


@dataclass(frozen=True)
class Hanging(SimulatedProgram):
    """Program whose other configurations hang in some launches.

    Attributes:
        hangs: share of these launches.
    """

    hangs: float = 0.1

    def run(self, launch: Launch) -> Sample:
        place = f"{launch.stage}/{launch.block}/{launch.position}/{launch.attempt}"
        if launch.configuration and random.Random(place).random() < self.hangs:
            return replace(self, takes_s=lambda c: 1e9, hangs=0.0).run(launch)
        return super().run(launch)


@dataclass(frozen=True)
class Tailed(SimulatedProgram):
    """Program with ten times the time in one launch of twenty."""

    def run(self, launch: Launch) -> Sample:
        place = f"{launch.block}/{launch.position}"
        slow = 10.0 if random.Random(place).random() < 0.05 else 1.0
        return SimulatedProgram(takes_s=lambda c: slow * self.takes_s(c), noise=self.noise).run(
            launch
        )


OBJECTIVE = workload().objective
PROGRAM = Hanging(takes_s=lambda c: 0.09 if c else 0.10, noise=0.1)


@pytest.mark.parametrize("timeout_s", [2.0, None])
def test_arm_that_hangs_is_not_faster(timeout_s: float | None) -> None:
    study = compare(PROGRAM, Budget(launches=240), {}, {"nice": 5}, timeout_s=timeout_s)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.UNCLEAR
    late = [s for s in study.samples if s.outcome is Outcome.TIMED_OUT]
    told = comparison(study.claim, study.spec.workload.objective)
    assert f"{len(late)} of " in told
    assert "launches of nice=5 did not end, and all " in told
    closed = gate_reasons([FAILED], study.conclusion, study.spec)
    assert any("nice=5 did not end" in reason for reason in closed)
    if timeout_s is None:
        assert {s.launch.timeout_s for s in late} == {MIN_HANG_TIMEOUT_S}


def test_arm_that_ends_is_faster_than_arm_that_hangs() -> None:
    slow = replace(PROGRAM, takes_s=lambda c: 0.2 if c else 0.10)
    study = compare(slow, Budget(launches=120), {}, {"nice": 5}, timeout_s=2.0)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.SLOWER


def test_hang_is_the_reason_if_values_do_not_decide() -> None:
    """No further launch can prove such an arm better; the study continues."""
    program = replace(PROGRAM, takes_s=lambda c: 0.097 if c else 0.10)
    study = compare(program, Budget(launches=60), {}, {"nice": 5}, timeout_s=2.0)
    found = study.claim
    assert found is not None
    assert (found.verdict, found.verdict_withheld, found.blocks_needed) == (
        Verdict.UNCLEAR,
        False,
        None,
    )
    assert "launches of nice=5 did not end, and all " in comparison(found, OBJECTIVE)
    told = tuning_verdict(study.spec, found)
    assert "launches of nice=5 did not end, and all " in told and "would decide" not in told
    assert len(study.samples) == 60


def test_hang_of_the_worse_arm_is_not_a_reason() -> None:
    program = replace(PROGRAM, takes_s=lambda c: 0.103 if c else 0.10)
    found = compare(program, Budget(launches=60), {}, {"nice": 5}, timeout_s=2.0).claim
    assert found is not None and found.censored_share > 0.0
    assert (found.verdict, found.data_problem, found.blocks_needed) == (Verdict.UNCLEAR, None, None)
    told = comparison(found, OBJECTIVE)
    assert "launches of nice=5 did not end, and all " in told and "would decide" not in told


def test_hang_of_the_first_arm_is_named_in_the_claim() -> None:
    program = replace(PROGRAM, takes_s=lambda c: 0.1 if c else 0.097)
    found = compare(program, Budget(launches=60), {"nice": 5}, {}, timeout_s=2.0).claim
    assert found is not None and found.data_problem is None
    assert "launches of nice=5 did not end, and all " in comparison(found, OBJECTIVE)


@pytest.mark.parametrize(("hangs", "told"), [(1, False), (9, True)])
def test_arm_that_hangs_more_often_is_not_better(hangs: int, told: bool) -> None:
    program = SimulatedProgram(takes_s=lambda c: 0.05 if c else 0.10)
    study = compare(program, Budget(launches=60), {}, {"nice": 5}, timeout_s=2.0)
    late = {study.spec.arms[0].name: 1, "nice=5": hangs}
    samples = []
    for sample in study.samples:
        if sample.launch.stage is Stage.CONFIRM and late[sample.launch.arm]:
            late[sample.launch.arm] -= 1
            sample = msgspec.structs.replace(sample, outcome=Outcome.TIMED_OUT, metrics={})
        samples.append(sample)
    history = History.of(study.spec, samples)
    found = excess_losses(history, "nice=5", study.spec.arms[0].name)
    assert (found is not None) == told
    assert excess_losses(history, study.spec.arms[0].name, "nice=5") is None


def test_disturbance_does_not_excuse_hanging_arm() -> None:
    program = replace(PROGRAM, takes_s=lambda c: 0.097 if c else 0.10)
    study = compare(program, Budget(launches=60), {}, {"nice": 5}, timeout_s=2.0)
    spec = msgspec.structs.replace(study.spec, disturbed_above=0.1)
    disturbed = msgspec.structs.replace(study.conclusion, disturbed_blocks=3)
    assert disturbance_sentence(disturbed, spec) == ""
    (claim,) = disturbed.claims
    plain = msgspec.structs.replace(claim, data_problem=None)
    for claims in ((plain,), (plain, claim)):
        both = msgspec.structs.replace(disturbed, claims=claims)
        assert "widens the intervals" in disturbance_sentence(both, spec)


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
        race.use_rest()
        completed_race = run_race(race, program, spec.budget)
        found = conclude(
            spec, completed_race.samples, SearchSpace(space), GpSearcher(), completed_race.done
        )
        assert found.recommendation is not None
        assert found.recommendation.status is status


def test_long_tail_is_not_cut() -> None:
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
    caps = [sample.launch.timeout_s for sample in study.samples[1:]]
    assert min(cap for cap in caps if cap is not None) >= FIRST_LAUNCH_FACTOR * 5.0 * math.exp(-0.3)


ENDLESS = SimulatedProgram(takes_s=lambda c: 1e9)


@pytest.mark.parametrize("timeout_s", [None, 0.5])
def test_program_that_never_ends_is_reported(timeout_s: float | None) -> None:
    study = compare(ENDLESS, Budget(time_s=5.0), {}, {"nice": 5}, timeout_s=timeout_s)
    assert study.done.reason is EndReason.WORKLOAD_FAILED
    assert study.done.message == "The program did not end in any launch."
    failures = FailedLaunches(study.spec, study.samples)
    _, remedy = failures.explain(study.done.arms)
    assert ("Raise --timeout" if timeout_s else "Set the limit with --timeout") in remedy
    assert "--setup" in remedy and "--cleanup" in remedy


def measured(metric: Metric, timeout_s: float | None) -> Ending:
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload(metric, timeout_s),
        budget=Budget(time_s=5.0),
        arms=(Arm(name="default", configuration=DEFAULT),),
    )
    return carry_out(spec, replace(ENDLESS, metric=metric)).done


def test_measured_server_that_did_not_end_is_reported_for_every_objective() -> None:
    assert measured(OBJECTIVE, None).message == "The program did not end in any launch."
    figure = measured(Metric(name="n", pattern="n=([0-9]+)", unit=""), 0.5)
    assert figure.message == "The program did not end in any launch."


def test_killed_launch_is_reported_with_reason() -> None:
    late = Sample(
        launch=Launch(
            configuration=DEFAULT, arm="a", stage=Stage.SURVEY, block=0, position=0, timeout_s=2.0
        ),
        outcome=Outcome.TIMED_OUT,
        wall_s=2.0,
        evidence=(
            Evidence(kind=STOP_FAILED, note="exit status 1"),
            Evidence(kind=KILLED_AFTER, value=3.0, unit="s", note="SIGTERM"),
        ),
    )
    assert failure_text(late, workload()) == (
        "did not end within 2.00 s, --stop failed (exit status 1), and was killed 3.00 s after "
        "SIGTERM"
    )


def test_cost_of_a_block_includes_termination_time() -> None:
    ending = Evidence(kind=TERMINATION, value=20.0, unit="s", note="SIGTERM")
    launch = Launch(configuration=DEFAULT, arm="a", stage=Stage.CONFIRM, block=0, position=0)
    late = Sample(launch=launch, outcome=Outcome.TIMED_OUT, wall_s=0.5, evidence=(ending,))
    history = History(OBJECTIVE, [late])
    arm = Arm(name="a", configuration=DEFAULT)
    assert history.cost([arm]).time_s == pytest.approx(20.5, abs=0.1)
    assert history.wall_s("a") == 0.5


@pytest.mark.parametrize(("until", "factor"), [(None, None), (Until(), FIRST_LAUNCH_FACTOR)])
def test_first_look_limits_only_launches_that_end_like_it(
    until: Until | None, factor: float | None
) -> None:
    launch = Launch(configuration=DEFAULT, arm="default", stage=Stage.SURVEY, block=0, position=0)
    look = Sample(launch=launch, outcome=Outcome.ENOUGH, wall_s=30.0)
    spec = StudySpec(kind=Kind.TUNE, workload=workload(), budget=Budget(time_s=900.0), until=until)
    history = History.of(spec, [look])
    expected = None if factor is None else 30.0 * factor
    assert hang_timeout_s(spec, history, "default") == expected
    assert history.first_wall_s("default") == 30.0
    whole = msgspec.structs.replace(
        look, launch=msgspec.structs.replace(launch, stage=Stage.GAUGE), outcome=Outcome.OK
    )
    history.add(msgspec.structs.replace(whole, wall_s=90.0))
    assert hang_timeout_s(spec, history, "default") == 90.0 * FIRST_LAUNCH_FACTOR
    assert history.first_wall_s("default", whole=True) == 90.0
