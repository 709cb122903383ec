"""Results of one environment, compared again in another."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from msgspec.structs import replace as with_fields
from simulated_studies import Study, carry_out, factors, space_of, workload

from assay.records import (
    ArmResult,
    Budget,
    Configuration,
    EarlierRecommendation,
    Kind,
    Reservation,
    StudySpec,
    Summary,
    Verdict,
)
from assay.search.history.cross_environment import compare_environments, confirmation_of
from assay.testing.search_contracts import SimulatedProgram
from assay.wording.launch_notes import cross_environment_words

MALLOC = space_of(malloc=("jemalloc", "tcmalloc"))
GAIN = SimulatedProgram(takes_s=factors(malloc={"jemalloc": 0.9, "tcmalloc": 0.8}))
QUIET = replace(GAIN, noise=0.002, seed=3)
LOUD = replace(GAIN, noise=0.05, seed=4)


def on_partition(program: SimulatedProgram) -> Study:
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=workload(),
        budget=Budget(launches=60),
        space=MALLOC,
        reserve=Reservation(specification="all", partition="quiet"),
    )
    return carry_out(spec, program)


def confirmed(first: Study, program: SimulatedProgram, launches: int = 60) -> Study:
    assert first.conclusion.recommendation is not None
    chosen = first.conclusion.recommendation.settings
    budget = Budget(launches=launches)
    return carry_out(confirmation_of("abc", first.spec, first.conclusion, chosen, budget), program)


def test_same_gain_in_two_places() -> None:
    second = confirmed(on_partition(QUIET), LOUD)
    assert second.spec.kind is Kind.COMPARE
    assert second.spec.reserve is None
    assert [dict(arm.configuration) for arm in second.spec.arms] == [{}, {"malloc": "tcmalloc"}]
    assert second.claim is not None
    assert second.claim.verdict is Verdict.FASTER
    told = second.conclusion.cross_environment
    assert told is not None
    assert told.earlier_recommendation.study == "abc"
    assert told.earlier_recommendation.partition == "quiet"
    assert told.earlier_recommendation.claim is not None
    assert told.earlier_recommendation.claim.ratio == pytest.approx(0.8, rel=0.01)
    assert (
        told.ci is not None and told.launch_factor is not None and told.saved_launches is not None
    )
    assert told.ci[0] < told.launch_factor < told.ci[1]
    assert told.ci[0] > 20  # the ratio of variances is 625
    assert told.saved_launches == round(
        told.earlier_recommendation.launches * (told.launch_factor - 1)
    )
    words = cross_environment_words(told)
    assert "on partition quiet: -20" in words
    assert f"about {told.saved_launches:,} more" in words


def test_equal_noise_saves_no_launches() -> None:
    told = confirmed(on_partition(LOUD), replace(LOUD, seed=9)).conclusion.cross_environment
    assert told is not None and told.ci is not None
    assert told.ci[0] < 1 < told.ci[1]
    assert told.saved_launches is None
    assert "no saved launches are proven" in cross_environment_words(told)


def test_few_launches_have_no_noise_ratio() -> None:
    first = on_partition(QUIET)
    told = confirmed(first, LOUD, launches=5).conclusion.cross_environment
    assert told is not None
    assert (told.launch_factor, told.ci, told.saved_launches) == (None, None, None)


def test_ordinary_comparison_has_no_other_environment() -> None:
    assert on_partition(QUIET).conclusion.cross_environment is None


@pytest.mark.parametrize(("here", "there"), [(8, 8), (30, 6)])
def test_interval_covers_true_ratio(here: int, there: int) -> None:
    """One 90 % interval in ten misses: at most 130 of 1,000 (three standard errors)."""
    rng, missed = random.Random(5), 0
    base = on_partition(QUIET)
    spec = confirmation_of("abc", base.spec, base.conclusion, Configuration(), Budget(launches=4))
    for _ in range(1000):
        found = EarlierRecommendation(
            study="abc", launches=100, spread=spread(rng, 0.01, there), spread_launches=there
        )
        spec = with_fields(spec, earlier_recommendation=found)
        told = compare_environments(spec, (arm(spec, spread(rng, 0.03, here), here),))
        assert told is not None and told.ci is not None
        missed += not told.ci[0] <= 9 <= told.ci[1]
    assert 70 <= missed <= 130


def spread(rng: random.Random, sd: float, n: int) -> float:
    values = [rng.gauss(0, sd) for _ in range(n)]
    mean = sum(values) / n
    return (sum((value - mean) ** 2 for value in values) / (n - 1)) ** 0.5


def arm(spec: StudySpec, sd: float, n: int) -> ArmResult:
    five = dict.fromkeys(("min", "q1", "median", "q3", "max", "mean"), 1.0)
    summary = Summary(n=n, sd=sd, **five)
    name = spec.workload.objective.name
    return ArmResult(name="default", configuration=Configuration(), summary={name: summary})
