"""Rules that end the launches of a study: first look, blocks, incumbent, resumed studies."""

from __future__ import annotations

import math
import random

import msgspec
import pytest

from assay.records import (
    DEFAULT,
    Bound,
    Budget,
    EndRule,
    Goal,
    Kind,
    Launch,
    Metric,
    Outcome,
    Progress,
    Requirement,
    Sample,
    Series,
    Stage,
    SteadyPart,
    StudySpec,
    Until,
    Workload,
)
from assay.search.history.history import History
from assay.search.progress.end_rules import EndRules, first_look
from assay.search.progress.steady_launches import SteadyLaunches

SPS = Metric(name="sps", goal=Goal.HIGHER, progress=Progress(pattern="sps (.*)"))
STEPS, STEP_S = 120, 0.1
AUTO = Until()
LEFT = Budget(time_s=500.0)


def spec(until: Until | None = AUTO, metric: Metric = SPS) -> StudySpec:
    return StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("app",), metrics=(metric,)),
        budget=Budget(time_s=600.0),
        until=until,
    )


def launch(stage: Stage, block: int, arm: str = "default", end: EndRule | None = None) -> Launch:
    return Launch(configuration=DEFAULT, arm=arm, stage=stage, block=block, position=0, end=end)


def sample(of: Launch, value: float = 100.0, outcome: Outcome = Outcome.ENOUGH) -> Sample:
    """Return a launch of 120 equal steps, the first five of which are slower."""
    times = [STEP_S * step + 0.1 * min(step, 5) for step in range(1, STEPS + 1)]
    part = SteadyPart(
        begin_step=5.0,
        begin_s=times[4],
        end_step=float(STEPS),
        end_s=times[-1],
        first_report_s=times[0],
        periods=11,
        batch_sd=0.01,
        batch_steps=10.0,
    )
    series = Series(
        times_s=tuple(times),
        steps=tuple(float(step) for step in range(1, STEPS + 1)),
        values=(value,) * STEPS,
    )
    return Sample(
        launch=of,
        outcome=outcome,
        wall_s=times[-1],
        metrics={"sps": value},
        series={"sps": series},
        steady={"sps": part},
    )


def rules(of: StudySpec, *samples: Sample) -> EndRules:
    history = History.of(of)
    found = EndRules(of, history)
    for one in samples:
        history.add(one)
        found.add(one)
    return found


SURVEYED = sample(launch(Stage.SURVEY, 0))
SEARCHED = [sample(launch(Stage.SEARCH, block), value) for block, value in ((1, 99.0), (2, 101.0))]


def test_program_without_reported_objective_ends_by_itself() -> None:
    of = spec(metric=Metric(name="wall_s", unit="s"))
    assert rules(of).rule(launch(Stage.SEARCH, 1), ["default"], LEFT) is None


def test_first_look_takes_a_tenth_of_the_budget() -> None:
    found = rules(spec()).rule(launch(Stage.SURVEY, 0), ["default"], LEFT)
    assert found == EndRule(first_look=True, max_s=60.0)
    assert first_look(Budget(launches=5)) == EndRule(first_look=True)


@pytest.mark.parametrize("steps", [None, 40.0])
def test_launches_without_a_known_warm_up_are_first_looks(steps: float | None) -> None:
    found = rules(spec(Until(steady_steps=steps))).rule(
        launch(Stage.SEARCH, 1), ["default", "b"], LEFT
    )
    assert found is not None
    assert found.first_look


def test_requested_number_of_steps_holds_in_every_block() -> None:
    of = rules(spec(Until(steady_steps=40.0)), SURVEYED)
    for stage in (Stage.SEARCH, Stage.CONFIRM):
        found = of.rule(launch(stage, 1), ["default", "b"], LEFT)
        assert found is not None
        assert found.steady_steps == 40.0
        assert found.warmup_steps is not None


def test_programs_end_by_themselves_without_a_request() -> None:
    found = rules(spec(None), SURVEYED).rule(launch(Stage.SEARCH, 1, "b"), ["default", "b"], LEFT)
    assert found is not None
    assert found.steady_steps is None
    assert found.incumbent is None
    assert not found.first_look


def test_only_candidates_of_a_search_have_an_incumbent() -> None:
    of = rules(spec(), SURVEYED, *SEARCHED)
    arms = ["default", "b"]
    candidate = of.rule(launch(Stage.SEARCH, 3, "b"), arms, LEFT)
    default = of.rule(launch(Stage.SEARCH, 3), arms, LEFT)
    confirmed = of.rule(launch(Stage.CONFIRM, 4, "b"), arms, LEFT)
    assert candidate is not None
    assert candidate.incumbent is not None
    assert candidate.incumbent.value == pytest.approx(100.0, rel=0.001)
    assert candidate.incumbent.launches == 3
    assert candidate.incumbent.curve_steps == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert candidate.incumbent.curve_s == pytest.approx((0.0, 0.2, 0.4, 0.6, 0.8))
    assert default is not None
    assert default.incumbent is None
    assert confirmed is not None
    assert confirmed.incumbent is None
    assert msgspec.structs.replace(candidate, incumbent=None) == default


def test_no_launch_is_compared_before_the_third_block() -> None:
    found = rules(spec(), SURVEYED, SEARCHED[0]).rule(launch(Stage.SEARCH, 2, "b"), ["b"], LEFT)
    assert found is not None
    assert found.incumbent is None


def test_best_arm_is_not_compared_with_itself() -> None:
    better = sample(launch(Stage.SEARCH, 1, "b"), value=120.0)
    of = rules(spec(), SURVEYED, *SEARCHED, better)
    found = of.rule(launch(Stage.SEARCH, 3, "b"), ["b"], LEFT)
    assert found is not None
    assert found.incumbent is None
    other = of.rule(launch(Stage.SEARCH, 3, "c"), ["c"], LEFT)
    assert other is not None
    assert other.incumbent is not None
    assert other.incumbent.value == pytest.approx(120.0, rel=0.02)


def test_arm_that_violates_a_requirement_is_no_incumbent() -> None:
    require = Requirement(metric="loss", bound=Bound.AT_MOST, limit=0.3)
    fast = sample(launch(Stage.SEARCH, 1, "b"), value=120.0)
    losses = [(SURVEYED, 0.2), *((one, 0.2) for one in SEARCHED), (fast, 0.5)]
    told = [
        msgspec.structs.replace(one, metrics={**one.metrics, "loss": loss}) for one, loss in losses
    ]
    of = rules(msgspec.structs.replace(spec(), requirements=(require,)), *told)
    found = of.rule(launch(Stage.SEARCH, 3, "c"), ["c"], LEFT)
    assert found is not None
    assert found.incumbent is not None
    assert found.incumbent.value < 110.0


def test_best_of_many_equal_arms_is_no_better_than_their_mean() -> None:
    rng = random.Random(1)
    found = [
        sample(launch(Stage.SEARCH, 3, f"arm {at}"), value=100.0 * math.exp(rng.gauss(0, 0.01)))
        for at in range(40)
    ]
    rule = rules(spec(), SURVEYED, *SEARCHED, *found).rule(
        launch(Stage.SEARCH, 4, "b"), ["b"], LEFT
    )
    assert rule is not None
    assert rule.incumbent is not None
    assert rule.incumbent.value == pytest.approx(100.0, rel=0.005)


def test_rule_of_a_block_does_not_depend_on_its_own_launches() -> None:
    of = rules(spec(), SURVEYED)
    arms = ["default", "b"]
    first = of.rule(launch(Stage.CONFIRM, 1), arms, LEFT)
    of.add(sample(launch(Stage.CONFIRM, 1, end=first), value=300.0))
    second = of.rule(launch(Stage.CONFIRM, 1, "b"), arms, Budget(time_s=1.0))
    assert first == second


def test_resumed_block_keeps_the_rule_of_its_stored_launches() -> None:
    rule = EndRule(warmup_steps=7.0, steady_steps=33.0)
    stored = sample(launch(Stage.CONFIRM, 4, end=rule))
    of = rules(spec(), SURVEYED, stored)
    assert of.rule(launch(Stage.CONFIRM, 4, "b"), ["default", "b"], LEFT) == rule
    other = of.rule(launch(Stage.CONFIRM, 5, "b"), ["default", "b"], LEFT)
    assert other is not None
    assert other.warmup_steps != 7.0


def test_counted_first_launch_does_not_shorten_the_rest_of_its_block() -> None:
    look = first_look(Budget(time_s=600.0))
    counted = sample(launch(Stage.CONFIRM, 0, end=look), outcome=Outcome.OK)
    found = rules(spec(None), counted).rule(launch(Stage.CONFIRM, 0, "b"), ["default", "b"], LEFT)
    assert found is not None
    assert not found.first_look
    assert found.max_s is None


def test_warm_up_launches_in_between_keep_the_length_of_launches() -> None:
    grown = EndRule(warmup_steps=5.0, steady_steps=200.0, lengthened=True)
    blocks = [sample(launch(Stage.SEARCH, block, end=grown)) for block in (1, 2, 3)]
    between = sample(launch(Stage.SURVEY, 4, "b", end=first_look(Budget(time_s=600.0))))
    of = rules(spec(), SURVEYED, *blocks, between)
    found = of.rule(launch(Stage.SEARCH, 5, "b"), ["default", "b"], Budget(time_s=1e6))
    assert found is not None
    assert found.steady_steps == 200.0


def test_lengths_at_low_fidelity_are_looked_at_again_after_pilot_blocks_alone() -> None:
    def low(block: int, end: EndRule | None = None) -> Launch:
        return msgspec.structs.replace(launch(Stage.SCREEN, block, end=end), fidelity=50)

    grown = EndRule(warmup_steps=5.0, steady_steps=200.0, lengthened=True)
    for blocks, steps in ((3, 200.0), (4, None)):
        of = rules(spec(), *(sample(low(block, grown)) for block in range(1, blocks + 1)))
        found = of.rule(low(blocks + 1), ["default"], Budget(time_s=1e6))
        assert found is not None
        assert (found.steady_steps == steps) is (steps is not None)


@pytest.mark.parametrize("time_s", [0.0, -5.0, 1e9])
@pytest.mark.parametrize("stage", [Stage.SEARCH, Stage.CONFIRM])
def test_chosen_length_is_a_positive_number_of_steps(time_s: float, stage: Stage) -> None:
    found = rules(spec(), SURVEYED).rule(
        launch(stage, 1, "b"), ["default", "b"], Budget(time_s=time_s)
    )
    assert found is not None
    assert found.steady_steps is not None
    assert 0.0 < found.steady_steps < 1e7


def test_shortest_launch_is_shorter_than_a_first_look() -> None:
    found = rules(spec(), SURVEYED).shortest_launch_s()
    assert found is not None
    assert 0.5 < found < STEPS * STEP_S / 4
    assert rules(spec()).shortest_launch_s() is None
    for until in (None, Until(steady_steps=40.0)):
        assert rules(spec(until), SURVEYED).shortest_launch_s() is None


def test_budget_in_launches_gives_a_length() -> None:
    of = msgspec.structs.replace(spec(), budget=Budget(launches=30))
    found = rules(of, SURVEYED).rule(
        launch(Stage.SEARCH, 1, "b"), ["default", "b"], Budget(launches=20)
    )
    assert found is not None
    assert found.steady_steps is not None


@pytest.mark.parametrize("value", [0.0, -3.0, 1e308])
def test_values_without_a_usable_logarithm_give_a_rule(value: float) -> None:
    strange = sample(launch(Stage.SURVEY, 0), value=value)
    found = rules(spec(), strange).rule(launch(Stage.SEARCH, 1, "b"), ["default", "b"], LEFT)
    assert found is not None
    assert found.steady_steps is not None


def test_failed_launches_are_no_steady_launches() -> None:
    failed = sample(launch(Stage.SEARCH, 1), outcome=Outcome.FAILED)
    assert SteadyLaunches(SPS, [failed]).arms == []
    assert SteadyLaunches(SPS, [failed]).warm_up(["default"]) is None
    assert SteadyLaunches(SPS, [SURVEYED]).arms == ["default"]
