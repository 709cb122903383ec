"""Recommendations without a proof: an answer for every budget."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import pytest
from simulated_studies import workload

from assay.records import (
    Bound,
    Budget,
    Choices,
    Conclusion,
    Configuration,
    Evidence,
    Goal,
    Kind,
    Metric,
    Parameter,
    Recommendation,
    RecommendationStatus,
    Requirement,
    Sample,
    Space,
    StudySpec,
    decode,
    encode,
)
from assay.search.claims.proof import (
    blocks_at_any_analysis,
    blocks_at_planned_analysis,
    prefers_proof,
)
from assay.search.conclusion.conclude import conclude
from assay.search.conclusion.interim import interim_sentence, interim_words
from assay.search.history.history import arm_of
from assay.search.model.candidate import Candidate, best_candidate
from assay.search.model.gp import GpSearcher
from assay.search.model.sample_means import SampleMeans
from assay.search.model.searcher import Contrast, Estimate, Trial
from assay.search.races.race import EndReason
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import CompletedRace, SimulatedProgram, run_race
from assay.wording.proof import proof_command

SPACE = Space(
    parameters=tuple(
        Parameter(name=f"arg.p{k}", domain=Choices((0, 1, 2)), default=0) for k in range(6)
    )
)

CORE = Configuration({"arg.p1": 2})
WHOLE = Configuration({"arg.p1": 2, "arg.p3": 1})


def program(gain: float, seed: int = 0, **given: object) -> SimulatedProgram:
    """Sets p1 to 2 for a gain; nothing else does anything."""
    return SimulatedProgram(
        takes_s=lambda c: math.exp(-gain * (c.get("arg.p1") == 2)), noise=0.03, seed=seed, **given
    )


def spec(launches: int, seed: int = 0, metric: Metric | None = None) -> StudySpec:
    return StudySpec(
        kind=Kind.TUNE,
        workload=workload(metric) if metric else workload(),
        budget=Budget(launches=launches),
        space=SPACE,
        seed=seed,
        disturbed_above=None,
    )


def study(asked: StudySpec, runs: SimulatedProgram) -> tuple[CompletedRace, Conclusion]:
    space = SearchSpace(asked.space)
    completed_race = run_race(TuneRace(asked, space, GpSearcher()), runs, asked.budget)
    return completed_race, conclude(
        asked, completed_race.samples, space, GpSearcher(), completed_race.done
    )


def chosen_of(asked: StudySpec, runs: SimulatedProgram) -> Recommendation:
    found = study(asked, runs)[1].recommendation
    assert found is not None
    return found


def test_one_launch_gives_value_of_default_and_sufficient_budget() -> None:
    completed_race, found = study(spec(1), program(0.5))
    assert completed_race.done.reason is EndReason.BUDGET
    assert found.recommendation is not None
    assert found.recommendation.status is RecommendationStatus.DEFAULT
    assert "wall_s is" in found.recommendation.sentence
    assert "--runs 8" in found.recommendation.sentence
    assert found.recommendation.proof is not None
    assert found.recommendation.proof.launches == 7


@pytest.mark.parametrize("launches", [2, 3, 4, 5, 7])
def test_few_launches_end_with_an_answer(launches: int) -> None:
    completed_race, found = study(spec(launches), program(0.5))
    assert completed_race.done.reason in (EndReason.BUDGET, EndReason.DECIDED)
    assert len(completed_race.samples) == launches
    assert found.recommendation is not None
    assert found.recommendation.sentence


def test_large_gain_in_twelve_launches_is_recommended_without_proof() -> None:
    for seed in range(3):
        found = chosen_of(spec(12, seed), program(0.5, seed))
        assert found.status is RecommendationStatus.UNPROVEN
        assert found.settings.get("arg.p1") == 2
        assert found.claim is None
        assert found.expected is not None
        low, high = found.expected.ci
        assert low < math.exp(-0.5) < high
        assert low < found.expected.ratio < high < 1.0
        assert found.proof is not None
        assert found.proof.launches is not None
        assert 12 <= found.proof.launches <= 20
        assert "is expected to take" in found.sentence
        assert "not proven" in found.sentence


def test_higher_is_better_raises_the_ratio() -> None:
    rate = Metric(name="rate", unit="1/s", goal=Goal.HIGHER, pattern="x")
    found = chosen_of(spec(14, 1, rate), program(0.5, 1, metric=rate))
    assert found.status is RecommendationStatus.UNPROVEN
    assert found.expected is not None
    assert found.expected.ratio > 1.3


@pytest.mark.rotating
def test_default_is_kept_without_effect() -> None:
    for seed in range(4):
        found = chosen_of(spec(14, seed), program(0.0, seed))
        assert found.status is RecommendationStatus.DEFAULT
        assert not found.settings


def test_study_resumed_with_cost_of_proof_is_proven() -> None:
    asked = spec(12)
    completed_race, found = study(asked, program(0.5))
    assert found.recommendation is not None
    assert found.recommendation.proof is not None
    more = found.recommendation.proof.launches
    assert more is not None
    race = TuneRace(asked, SearchSpace(SPACE), GpSearcher())
    race.use_rest()
    whole = run_race(race, program(0.5), Budget(launches=12 + more), told=completed_race.samples)
    again = conclude(asked, whole.samples, SearchSpace(SPACE), GpSearcher(), whole.done)
    assert again.recommendation is not None
    assert again.recommendation.status is RecommendationStatus.PROVEN
    assert again.recommendation.settings.get("arg.p1") == 2
    assert again.recommendation.claim is not None


def test_current_recommendation_has_the_form_of_the_answer() -> None:
    asked = spec(12)
    completed_race, found = study(asked, program(0.5))
    assert found.recommendation is not None
    assert (
        interim_sentence(asked, completed_race.samples) == f"So far {found.recommendation.sentence}"
    )
    assert interim_sentence(asked, completed_race.samples[:1]) == ""
    race = TuneRace(asked, SearchSpace(SPACE), GpSearcher())
    assert interim_words(race) == ""
    for sample in completed_race.samples:
        race.tell(sample)
    words = interim_words(race)
    assert words.startswith("unproven so far -")
    assert str(found.recommendation.settings) in words


def test_conclusion_follows_from_the_samples_alone() -> None:
    asked = spec(12)
    completed_race, found = study(asked, program(0.5))
    samples = [decode(encode(sample), Sample) for sample in completed_race.samples]
    assert found == conclude(asked, samples, SearchSpace(SPACE), GpSearcher(), completed_race.done)


def test_earlier_documents_without_status_are_proven_or_default() -> None:
    kept = decode('{"settings":{},"script":"","sentence":"x"}', Recommendation)
    assert kept.status is RecommendationStatus.DEFAULT
    won = decode('{"settings":{"nice":5},"script":"","sentence":"x"}', Recommendation)
    assert won.status is RecommendationStatus.PROVEN
    unproven = Recommendation(
        settings=Configuration({"nice": 5}),
        script="",
        sentence="",
        status=RecommendationStatus.UNPROVEN,
    )
    assert decode(encode(unproven), Recommendation).unproven


def test_blocks_of_a_proof_grow_as_the_gain_shrinks() -> None:
    gains = (0.5, 0.1, 0.05, 0.02)
    planned = [blocks_at_planned_analysis(gain, 0.05, 6) for gain in gains]
    unplanned = [blocks_at_any_analysis(gain, 0.05, 6, 0.05) for gain in gains]
    assert planned == sorted(planned)
    assert planned[0] == 6
    assert all(a <= b for a, b in zip(planned, unplanned, strict=True))


def test_proof_is_preferred_if_little_gain_remains() -> None:
    assert prefers_proof(-0.3, left=0.01, made=40, launches=12)
    assert not prefers_proof(-0.3, left=0.5, made=12, launches=12)
    assert prefers_proof(-0.3, left=math.inf, made=12, launches=12)


def test_command_names_the_requested_kinds_of_budget() -> None:
    proof = Budget(time_s=60.0, launches=14)
    assert proof_command("x", Budget(launches=12), proof) == "assay study resume x --runs 14"
    assert proof_command("x", Budget(time_s=9.0), proof) == "assay study resume x --budget 60s"


def test_end_of_budget_is_reported() -> None:
    completed_race, found = study(spec(3), program(-0.5))
    assert completed_race.done.reason is EndReason.BUDGET
    assert "budget ended after 1 configuration" in completed_race.done.message
    assert completed_race.done.needed is not None and completed_race.done.needed.launches == 8
    assert found.recommendation is not None
    assert "of 1 other configuration" in found.recommendation.sentence
    assert found.recommendation.proof is not None


def test_few_launches_need_a_larger_gain_for_recommendation() -> None:
    estimate = Estimate(-0.1, 0.08)
    arm = arm_of(Configuration({"arg.p1": 2}))
    few, more = (Candidate(arm, estimate, null_probability=0.0, launches=n) for n in (5, 12))
    assert not few.is_likely(0.01) and more.is_likely(0.01)


@pytest.mark.rotating
def test_table_contains_named_arm() -> None:
    for seed in range(5):
        _, found = study(spec(12, seed), program(0.06, seed))
        chosen = found.recommendation
        assert chosen is not None
        if chosen.expected is not None:
            named = [arm.name for arm in found.arms if arm.name in chosen.sentence]
            assert set(named) - {"default"}


@pytest.mark.parametrize("more", [3, 10])
def test_table_has_values_if_default_ran_only_in_survey(more: int) -> None:
    asked, runs = spec(2), program(0.5)
    completed_race, _ = study(asked, runs)
    race, space = TuneRace(asked, SearchSpace(SPACE), GpSearcher()), SearchSpace(SPACE)
    race.use_rest()
    whole = run_race(race, runs, Budget(launches=2 + more), told=completed_race.samples)
    again = conclude(asked, whole.samples, space, GpSearcher(), whole.done)
    assert {len(arm.summary) > 0 for arm in again.arms} == {True}


def test_launch_that_violates_requirement_is_reported() -> None:
    bound = Requirement(metric="wall_s", bound=Bound.AT_MOST, limit=0.5)
    for limit, told in ((0.5, True), (2.0, False)):
        asked = msgspec.structs.replace(
            spec(1), requirements=(msgspec.structs.replace(bound, limit=limit),)
        )
        found = study(asked, program(0.5))[1].recommendation
        assert found is not None
        assert (" 1 of 1 launch violates wall_s<=500ms." in found.sentence) == told


def test_disturbed_blocks_of_search_are_reported() -> None:
    asked = msgspec.structs.replace(spec(12), disturbed_above=0.1)
    completed_race, found = study(asked, program(0.5, others=lambda launch: 0.6))
    assert any("of the search disturbed" in note for note in found.notes)
    burner = Evidence(kind="other_process", value=0.6, unit="CPUs", note="burn (process 812)")
    seen = [
        msgspec.structs.replace(s, evidence=(*s.evidence, burner)) for s in completed_race.samples
    ]
    named = conclude(asked, seen, SearchSpace(SPACE), GpSearcher(), completed_race.done)
    assert any("burn (process 812)" in note for note in named.notes)


class Doubting(SampleMeans):
    """Expects less of a part than of the whole, by less than it doubts."""

    def contrasts(
        self, space: SearchSpace, trials: Sequence[Trial], wanted: Sequence[Contrast]
    ) -> list[Estimate]:
        """See ``Searcher.contrasts``."""
        told = {CORE: -0.25, WHOLE: -0.30}
        return [Estimate(sum(w * told.get(c, 0.0) for c, w in one.items()), 0.12) for one in wanted]


@pytest.mark.parametrize(
    ("parts", "wholes", "chosen"), [(1, 1, WHOLE), (3, 1, CORE), (2, 2, CORE), (2, 3, WHOLE)]
)
def test_equally_launched_part_is_preferred_to_whole(
    parts: int, wholes: int, chosen: Configuration
) -> None:
    ran = [Configuration()] * 3 + [CORE] * parts + [WHOLE] * wholes
    trials = [Trial(configuration, k, 0.0) for k, configuration in enumerate(ran)]
    found = best_candidate(Doubting(), SearchSpace(SPACE), trials, 0.01)
    assert found.arm == arm_of(chosen)


@pytest.mark.rotating
def test_last_launches_of_a_large_budget_search_for_the_core() -> None:
    runs = SimulatedProgram(
        takes_s=lambda c: math.exp(-0.2 * (c.get("arg.p1") == 2)), noise=0.15, seed=5
    )
    completed_race, found = study(spec(80, seed=5), runs)
    last = [sample.launch for sample in completed_race.samples[-3:]]
    assert [launch.configuration for launch in last] == [CORE] * 3
    assert found.recommendation is not None
    assert found.recommendation.status is RecommendationStatus.UNPROVEN
    assert found.recommendation.settings == CORE
