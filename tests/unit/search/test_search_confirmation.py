"""The winner of a search and its core, confirmed in the same blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest
from simulated_studies import workload

from assay.records import (
    Bound,
    Budget,
    Choices,
    Conclusion,
    Configuration,
    Kind,
    Launch,
    Parameter,
    RecommendationStatus,
    Requirement,
    Sample,
    Space,
    Stage,
    StudySpec,
    Verdict,
)
from assay.search.conclusion.conclude import conclude
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.model.sample_means import SampleMeans
from assay.search.model.searcher import Contrast, Estimate, Trial
from assay.search.races.confirmation import (
    ConfirmedArms,
    claim_alpha,
    confirmed_arms,
    min_blocks,
    with_core,
)
from assay.search.races.search_race import NULL_ARM
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import CompletedRace, SimulatedProgram, run_race

SPACE = Space(
    parameters=tuple(
        Parameter(name=f"arg.p{k}", domain=Choices((0, 1, 2)), default=0) for k in range(8)
    )
)
WHOLE = Configuration({"arg.p1": 2, "arg.p2": 1, "arg.p3": 1, "arg.p4": 2})
CORE = Configuration({"arg.p1": 2})
BOTH = ConfirmedArms(arm_of(WHOLE), arm_of(CORE))


DOUBT = 0.05
"""Share of an expected gain: too large to remove a setting without a test."""


class Told(SampleMeans):
    """Searcher that proposes ``WHOLE`` with given expectations.

    Args:
        of_setting: log ratio of each setting of ``WHOLE``; 0 where absent.
    """

    name = "told"

    def __init__(self, of_setting: dict[str, float]) -> None:
        self._of_setting = of_setting

    def propose(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        return [WHOLE, *(Configuration({"arg.p7": 1 + k}) for k in range(2))][:count]

    def contrasts(
        self, space: SearchSpace, trials: Sequence[Trial], wanted: Sequence[Contrast]
    ) -> list[Estimate]:
        return [
            Estimate(math.fsum(weight * self._expected(c) for c, weight in one.items()), DOUBT)
            for one in wanted
        ]

    def _expected(self, configuration: Configuration) -> float:
        return math.fsum(self._of_setting.get(name, 0.0) for name in configuration)


ONE_MATTERS = Told({"arg.p1": -0.4})
TWO_MATTER = Told({"arg.p1": -0.3, "arg.p3": -0.1})
ALL_MATTER = Told(dict.fromkeys(WHOLE, -0.1))


def program(*matters: str, gain: float = 0.4) -> SimulatedProgram:
    """Return a program whose gain is shared by the settings of ``WHOLE`` in equal parts."""

    def takes_s(configuration: Configuration) -> float:
        kept = sum(configuration.get(name) == WHOLE[name] for name in matters)
        return math.exp(-gain * kept / len(matters))

    return SimulatedProgram(takes_s=takes_s, noise=0.02)


def spec(launches: int = 36, requirements: tuple[Requirement, ...] = ()) -> StudySpec:
    return StudySpec(
        kind=Kind.TUNE,
        workload=workload(),
        budget=Budget(launches=launches),
        space=SPACE,
        requirements=requirements,
        disturbed_above=None,
    )


def study(
    asked: StudySpec, runs: SimulatedProgram, searcher: Told
) -> tuple[CompletedRace, Conclusion]:
    space = SearchSpace(asked.space)
    completed_race = run_race(TuneRace(asked, space, searcher), runs, asked.budget)
    return completed_race, conclude(
        asked, completed_race.samples, space, searcher, completed_race.done
    )


def confirmed_names(samples: Sequence[Sample]) -> set[str]:
    return {s.launch.arm for s in samples if s.launch.stage is Stage.CONFIRM}


def concluded(runs: SimulatedProgram, blocks: int, searcher: Told = ONE_MATTERS) -> Conclusion:
    """Return the conclusion of a study whose winner and core were confirmed."""
    arms = (DEFAULT_ARM, *BOTH.arms)
    launches = [(Stage.SURVEY, 0, (DEFAULT_ARM,)), (Stage.GAUGE, 1, (DEFAULT_ARM,))]
    launches += [(Stage.SEARCH, 2, (DEFAULT_ARM, BOTH.whole))]
    launches += [(Stage.CONFIRM, 3 + k, arms) for k in range(blocks)]
    samples = [
        runs.run(
            Launch(
                configuration=arm.configuration,
                arm=arm.name,
                stage=stage,
                block=block,
                position=at,
                block_arms=roster,
            )
        )
        for stage, block, roster in launches
        for at, arm in enumerate(roster)
    ]
    return conclude(spec(), samples, SearchSpace(SPACE), searcher, None)


def test_sufficient_core_is_recommended_with_both_claims() -> None:
    found = concluded(program("arg.p1"), 12)
    assert found.recommendation is not None
    assert found.recommendation.status is RecommendationStatus.PROVEN
    assert found.recommendation.settings == CORE
    assert [claim.b for claim in found.claims] == [str(CORE), str(WHOLE)]
    assert {claim.verdict for claim in found.claims} == {Verdict.FASTER}
    assert [claim.alpha for claim in found.claims] == pytest.approx([0.025, 0.025])
    assert any("the other settings are left out" in note for note in found.notes)
    assert [arm.name for arm in found.arms] == ["default", str(CORE), str(WHOLE)]


def test_worse_core_does_not_replace_winner() -> None:
    found = concluded(program(*WHOLE), 12)
    assert found.recommendation is not None
    assert found.recommendation.status is RecommendationStatus.PROVEN
    assert found.recommendation.settings == WHOLE
    assert [claim.b for claim in found.claims] == [str(WHOLE), str(CORE)]
    assert any(
        f"{CORE} was observed to take" in note and "more time" in note for note in found.notes
    )


def test_without_a_gain_neither_is_recommended() -> None:
    found = concluded(program("arg.p1", gain=0.0), 20, Told({}))
    assert found.recommendation is not None
    assert found.recommendation.status is RecommendationStatus.DEFAULT
    assert not found.recommendation.settings


def test_faster_core_replaces_failing_winner() -> None:
    runs = program("arg.p1")
    failing = replace(runs, fails=lambda c: float(c == WHOLE))
    found = concluded(failing, 12)
    assert found.recommendation is not None
    assert found.recommendation.settings == CORE
    assert found.recommendation.status is RecommendationStatus.PROVEN


def test_failing_core_does_not_replace_winner() -> None:
    failing = replace(program("arg.p1"), fails=lambda c: float(c == CORE))
    found = concluded(failing, 12)
    assert found.recommendation is not None
    assert found.recommendation.settings == WHOLE
    assert found.recommendation.status is RecommendationStatus.PROVEN


def test_unproven_recommendation_states_its_claim() -> None:
    found = concluded(program("arg.p1", gain=0.4), 3)
    assert found.recommendation is not None
    assert found.recommendation.status is RecommendationStatus.UNPROVEN
    assert found.recommendation.claim is not None
    assert found.recommendation.claim.b == str(found.recommendation.settings)
    assert found.claims[0] == found.recommendation.claim


def test_core_of_an_incomplete_block_is_not_the_winner() -> None:
    runs, arms = program("arg.p1"), (DEFAULT_ARM, BOTH.core, BOTH.whole)
    samples = []
    for at, arm in enumerate(arms[:2]):
        assert arm is not None
        launch = Launch(
            configuration=arm.configuration,
            arm=arm.name,
            stage=Stage.CONFIRM,
            block=0,
            position=at,
            block_arms=tuple(a for a in arms if a is not None),
        )
        samples.append(runs.run(launch))
    history = History.of(spec(), samples)
    assert confirmed_arms(history) == BOTH


def test_winner_and_core_run_in_the_same_blocks() -> None:
    completed_race, found = study(spec(), program("arg.p1"), ONE_MATTERS)
    blocks: dict[int, set[str]] = {}
    for sample in completed_race.samples:
        if sample.launch.stage is Stage.CONFIRM:
            blocks.setdefault(sample.launch.block, set()).add(sample.launch.arm)
    assert len(blocks) >= 6
    assert all(arms == {"default", str(CORE), str(WHOLE)} for arms in blocks.values())
    assert found.recommendation is not None
    assert found.recommendation.settings == CORE
    assert found.recommendation.status is RecommendationStatus.PROVEN


@pytest.mark.parametrize(
    ("searcher", "core"),
    [
        (ONE_MATTERS, CORE),
        (TWO_MATTER, Configuration({"arg.p1": 2, "arg.p3": 1})),
        (ALL_MATTER, None),
    ],
    ids=["one matters", "two matter", "all matter"],
)
def test_core_is_the_smallest_part_with_the_expected_gain(
    searcher: Told, core: Configuration | None
) -> None:
    found = with_core(searcher, SearchSpace(SPACE), [], arm_of(WHOLE), 0.01)
    assert found == ConfirmedArms(arm_of(WHOLE), None if core is None else arm_of(core))


def test_single_setting_has_no_core() -> None:
    found = with_core(ONE_MATTERS, SearchSpace(SPACE), [], arm_of(CORE), 0.01)
    assert found.core is None


def test_invalid_part_is_not_a_core() -> None:
    space = msgspec.structs.replace(SPACE, constraints=("arg.p1 != 2 or arg.p2 == 1",))
    found = with_core(ONE_MATTERS, SearchSpace(space), [], arm_of(WHOLE), 0.01)
    assert found.core == arm_of(Configuration({"arg.p1": 2, "arg.p2": 1}))


def test_winner_is_the_larger_confirmed_configuration_in_any_order() -> None:
    for arms in (BOTH.arms, BOTH.arms[::-1]):
        assert ConfirmedArms.among((arms[0], DEFAULT_ARM, arms[1])) == BOTH
    assert ConfirmedArms.among((DEFAULT_ARM, NULL_ARM)) is None


def test_error_rate_is_shared_by_winner_and_core() -> None:
    assert claim_alpha(spec(), 2) == pytest.approx(claim_alpha(spec()) / 2)
    assert min_blocks(spec(), 2) > min_blocks(spec())


def test_with_a_requirement_the_winner_is_confirmed_alone() -> None:
    required = Requirement(metric="wall_s", bound=Bound.AT_MOST, limit=2.0)
    completed_race, _ = study(spec(requirements=(required,)), program("arg.p1"), ONE_MATTERS)
    assert str(CORE) not in confirmed_names(completed_race.samples)
