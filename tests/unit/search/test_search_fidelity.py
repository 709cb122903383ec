from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.simulated_fidelity import (
    FULL_S,
    STEPS,
    Stepping,
    log_normal,
    one_of,
    tune,
)
from tests.unit.search.simulated_studies import Study, workload

from assay.records import (
    Budget,
    Configuration,
    Kind,
    Metric,
    Outcome,
    Progress,
    RecommendationStatus,
    Sample,
    Stage,
    StudySpec,
    Verdict,
)
from assay.search.claims.planned_analysis import planned_blocks
from assay.search.conclusion.conclude import conclude
from assay.search.history.counts.launch_counts import is_hung
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.search.model.gp import GpSearcher
from assay.search.races.scoreboard import Scoreboard
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.stats.progress.level_estimates import LevelValue, level_estimates
from assay.testing.search_contracts import run_race


def low(study: Study) -> list[Sample]:
    """Return the samples at low fidelity."""
    return [sample for sample in study.samples if sample.launch.fidelity is not None]


def best_of(kinds: int, takes_s) -> float:  # type: ignore[no-untyped-def]
    """Return the shortest time of a whole launch."""
    every = (Configuration({"arg.kind": f"v{at}"}) for at in range(1, kinds))
    return min(FULL_S, *(takes_s(one) for one in every))


# --- search ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_search_among_many_configurations_finds_a_good_one(seed: int) -> None:
    takes_s = log_normal(0.1, seed)
    study = tune(one_of(60), Stepping(takes_s=takes_s, noise=0.01, seed=seed), 60, seed)
    found = study.conclusion.recommendation
    assert found is not None and found.status is RecommendationStatus.PROVEN
    assert takes_s(found.settings) <= 1.03 * best_of(60, takes_s)
    assert len({sample.launch.arm for sample in low(study)}) >= 40


def test_search_with_launch_noise_keeps_the_best_configuration() -> None:
    takes_s = log_normal(0.1, 3)
    study = tune(one_of(24), Stepping(takes_s=takes_s, noise=0.03, seed=3), 60, 3)
    best = best_of(24, takes_s)
    whole = {
        sample.launch.configuration
        for sample in study.samples
        if sample.launch.stage is Stage.SEARCH
    }
    assert min(map(takes_s, whole)) <= 1.01 * best


def test_noise_repeats_configurations_at_low_fidelity() -> None:
    takes_s = log_normal(0.02, 4)
    study = tune(one_of(24), Stepping(takes_s=takes_s, noise=0.03, seed=4), 60, 4)
    blocks = {s.launch.block for s in low(study) if s.launch.fidelity == STEPS.levels[0]}
    assert len(blocks) > 2  # the gauge and one launch of each are not enough


def test_search_ends_at_full_fidelity_alone() -> None:
    study = tune(one_of(24), Stepping(takes_s=log_normal(0.1, 5), noise=0.01, seed=5), 60, 5)
    later = [s for s in study.samples if s.launch.stage in (Stage.REDUCE, Stage.CONFIRM)]
    assert later
    assert all(sample.launch.fidelity is None for sample in later)
    assert all(sample.launch.stage is Stage.SCREEN for sample in low(study))
    assert {arm.name for arm in study.conclusion.arms} <= {
        sample.launch.arm for sample in study.samples if sample.launch.fidelity is None
    }
    shortest = min(s.wall_s for s in study.samples if s.launch.fidelity is None and s.wall_s)
    assert all(arm.summary["wall_s"].min >= shortest for arm in study.conclusion.arms)


def test_each_block_has_one_fidelity_and_the_default() -> None:
    study = tune(one_of(24), Stepping(takes_s=log_normal(0.1, 6), noise=0.01, seed=6), 40, 6)
    blocks: dict[int, list[Sample]] = {}
    for sample in low(study):
        blocks.setdefault(sample.launch.block, []).append(sample)
    for samples in blocks.values():
        assert len({sample.launch.fidelity for sample in samples}) == 1
        assert DEFAULT_ARM.name in {sample.launch.arm for sample in samples}


@pytest.mark.slow
def test_identical_configurations_give_few_claims() -> None:
    claims = 0
    for seed in range(40):
        program = Stepping(takes_s=lambda configuration: FULL_S, noise=0.02, seed=seed)
        study = tune(one_of(20), program, 40, seed)
        claims += study.claim is not None and study.claim.verdict is Verdict.FASTER
    assert claims <= 5  # the accepted error rate is 5 %; more than 5 of 40 has probability 1.4 %


@pytest.mark.parametrize("seed", [0, 1])
def test_identical_configurations_are_not_recommended_as_proven(seed: int) -> None:
    program = Stepping(takes_s=lambda configuration: FULL_S, noise=0.02, seed=seed)
    study = tune(one_of(12), program, 40, seed)
    assert study.claim is None or study.claim.verdict is not Verdict.FASTER


# --- misleading fidelity --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def misled() -> Study:
    program = Stepping(takes_s=log_normal(0.1, 1), noise=0.01, seed=1, misleads=-1.0)
    return tune(one_of(24), program, 80, 1)


def test_reversed_order_is_reported(misled: Study) -> None:
    found = misled.conclusion.fidelity
    assert found is not None and found.tau is not None and found.ci is not None
    assert found.tau < 0.0
    assert found.ci[1] < 0.3
    assert found.configurations >= 8
    assert any("it misleads" in note for note in misled.conclusion.notes)


def test_reversed_order_gives_no_wrong_claim(misled: Study) -> None:
    takes_s = log_normal(0.1, 1)
    found = misled.conclusion.recommendation
    assert found is not None
    assert takes_s(found.settings) <= FULL_S
    if misled.claim is not None and misled.claim.verdict is Verdict.FASTER:
        assert takes_s(Configuration(dict(found.settings))) < FULL_S


def test_reversed_order_continues_at_full_fidelity(misled: Study) -> None:
    takes_s = log_normal(0.1, 1)
    whole = {s.launch.configuration for s in misled.samples if s.launch.stage is Stage.SEARCH}
    assert min(map(takes_s, whole)) <= 1.05 * best_of(24, takes_s)


# --- fidelities of no use -------------------------------------------------------------------------


class Failing(Stepping):
    """A program that fails below a number of steps."""

    def run(self, launch):  # type: ignore[no-untyped-def]
        if launch.fidelity is not None and launch.fidelity < 200:
            return Sample(launch=launch, outcome=Outcome.FAILED, wall_s=0.1, exit_status=1)
        return super().run(launch)


def test_default_failing_at_lowest_fidelity_moves_to_the_next() -> None:
    study = tune(one_of(24), Failing(takes_s=log_normal(0.1, 7), noise=0.01), 60)
    names = {s.launch.arm for s in low(study) if s.launch.fidelity == 50}
    assert names == {DEFAULT_ARM.name}
    assert any(s.launch.fidelity == 200 and s.launch.arm != "default" for s in low(study))


class Costly(Stepping):
    """A program whose start takes most of its time."""

    def run(self, launch):  # type: ignore[no-untyped-def]
        whole = super().run(msgspec.structs.replace(launch, fidelity=None))
        return msgspec.structs.replace(whole, launch=launch)


def test_fidelity_without_saving_is_not_used() -> None:
    study = tune(one_of(6), Costly(takes_s=log_normal(0.1, 8), noise=0.01), 60)
    assert len(low(study)) == 2
    assert any(note.startswith("the search did not use") for note in study.conclusion.notes)
    assert study.conclusion.recommendation is not None


# --- state ----------------------------------------------------------------------------------------


def specification(budget: Budget, seed: int = 0) -> StudySpec:
    return StudySpec(
        kind=Kind.TUNE,
        workload=workload(),
        budget=budget,
        space=one_of(20),
        seed=seed,
        fidelity=STEPS,
    )


@pytest.mark.parametrize("interrupted", [3, 15, 30])
def test_resumed_study_continues_the_screening(interrupted: int) -> None:
    spec = specification(Budget(time_s=40 * FULL_S))
    program = Stepping(takes_s=log_normal(0.1, 9), noise=0.01)
    space = SearchSpace(spec.space)
    whole = run_race(TuneRace(spec, space, GpSearcher()), program, spec.budget)
    first = run_race(TuneRace(spec, space, GpSearcher()), program, spec.budget, until=interrupted)
    second = run_race(TuneRace(spec, space, GpSearcher()), program, spec.budget, told=first.samples)
    assert [s.launch for s in second.samples] == [s.launch for s in whole.samples]


def test_conclusion_of_interrupted_screening_names_no_low_value() -> None:
    spec = specification(Budget(time_s=40 * FULL_S))
    program, space = Stepping(takes_s=log_normal(0.1, 9), noise=0.01), SearchSpace(spec.space)
    ran = run_race(TuneRace(spec, space, GpSearcher()), program, spec.budget, until=20)
    found = conclude(spec, ran.samples, space, GpSearcher(), None)
    assert found.launches == 20
    assert {arm.name for arm in found.arms} == {DEFAULT_ARM.name}
    assert found.fidelity is not None and found.fidelity.tau is None


def test_history_separates_fidelities() -> None:
    study = tune(one_of(12), Stepping(takes_s=log_normal(0.1, 2), noise=0.01), 40)
    history = History.of(study.spec, study.samples)
    assert all(sample.launch.fidelity is None for sample in history.samples)
    assert not history.blocks(Stage.SCREEN)
    counts = [len(history.at(value).samples) for value in STEPS.low]
    assert sum(counts) == len(low(study))
    assert history.wall_s(DEFAULT_ARM.name) == pytest.approx(FULL_S, rel=0.1)


def test_planned_analysis_allows_for_launches_at_low_fidelity() -> None:
    study = tune(one_of(12), Stepping(takes_s=log_normal(0.1, 2), noise=0.01), 40)
    before = [s for s in study.samples if s.launch.stage is not Stage.CONFIRM]
    spec = msgspec.structs.replace(study.spec, budget=Budget(launches=len(before) + 20))
    assert low(study)
    assert planned_blocks(spec, History.of(spec, before), 0.05) == 10


def test_planned_analysis_allows_for_the_time_of_low_fidelity() -> None:
    study = tune(one_of(12), Stepping(takes_s=log_normal(0.1, 2), noise=0.01), 40)
    before = [s for s in study.samples if s.launch.stage is not Stage.CONFIRM]
    whole = [s for s in before if s.launch.fidelity is None]
    spent_s = sum(s.total_wall_s + LAUNCH_OVERHEAD_S for s in low(study))
    total_s = sum(s.total_wall_s for s in before) + 20 * FULL_S
    with_low = msgspec.structs.replace(study.spec, budget=Budget(time_s=total_s))
    without = msgspec.structs.replace(study.spec, budget=Budget(time_s=total_s - spent_s))
    assert planned_blocks(with_low, History.of(with_low, before), 0.05) == planned_blocks(
        without, History.of(without, whole), 0.05
    )


def test_launch_that_is_slow_at_low_fidelity_did_not_hang() -> None:
    study = tune(one_of(12), Stepping(takes_s=log_normal(0.1, 2), noise=0.01), 40)
    launch = next(s.launch for s in low(study) if s.launch.configuration)
    assert not is_hung(Sample(launch=launch, outcome=Outcome.TIMED_OUT, wall_s=9.0))


def test_parallel_launches_divide_the_cost_of_each_fidelity() -> None:
    study = tune(one_of(12), Stepping(takes_s=log_normal(0.1, 2), noise=0.01), 40)
    history = History.of(study.spec, study.samples)
    histories = [history.at(STEPS.low[0]), history]
    alone = [one.cost([DEFAULT_ARM], Stage.SEARCH).time_s for one in histories]
    history.parallel_launches = 4
    histories = [history.at(STEPS.low[0]), history]
    beside = [one.cost([DEFAULT_ARM], Stage.SEARCH).time_s for one in histories]
    assert beside == pytest.approx([time_s / 4 for time_s in alone])


def test_scoreboard_ignores_low_fidelity() -> None:
    study = tune(one_of(12), Stepping(takes_s=log_normal(0.1, 2), noise=0.01), 40)
    board = Scoreboard(study.spec)
    for sample in low(study):
        board.add(sample)
    assert board.leader(10**6) is None


def test_rules_of_launches_are_separate_for_each_fidelity() -> None:
    metric = Metric(name="sps", progress=Progress(pattern="sps ([0-9]+)"))
    spec = msgspec.structs.replace(
        specification(Budget(time_s=40 * FULL_S)),
        workload=msgspec.structs.replace(workload(), metrics=(metric,)),
    )
    race = TuneRace(spec, SearchSpace(spec.space), GpSearcher())
    first = race._end_rules.at(50)
    assert first is not None
    assert first is not race._end_rules.at(None)


# --- estimates ------------------------------------------------------------------------------------


@given(
    st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=8),
    st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=4),
)
def test_estimates_without_noise_are_exact(effects: list[float], blocks: list[float]) -> None:
    values = [
        LevelValue(str(name), block, effect + shift)
        for block, shift in enumerate(blocks)
        for name, effect in enumerate(effects)
    ]
    found = level_estimates(values)
    for name, effect in enumerate(effects):
        difference = found[str(name)].mean - found["0"].mean
        assert difference == pytest.approx(effect - effects[0], abs=1e-6)


def test_repeats_within_a_block_show_the_noise() -> None:
    rough = [LevelValue("a", 0, value) for value in (-0.3, 0.3, -0.2, 0.2)]
    smooth = [LevelValue("a", 0, value) for value in (0.0, 0.0, 0.0, 0.0)]
    assert level_estimates(rough)["a"].sd > 3 * level_estimates(smooth)["a"].sd


def test_estimates_of_no_value_are_empty() -> None:
    assert level_estimates([]) == {}
