"""Hard-to-change settings: order and cost of launches, and basis of claims."""

from __future__ import annotations

import itertools
import math

import msgspec
import numpy as np
import pytest

from assay.records import (
    Arm,
    Bound,
    Budget,
    Choices,
    Configuration,
    Evidence,
    Kind,
    Launch,
    Outcome,
    Parameter,
    Requirement,
    RequirementVerdict,
    Sample,
    Space,
    Stage,
    StudySpec,
    Verdict,
    Workload,
)
from assay.search.conclusion.conclude import conclude
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.races.compare import CompareRace
from assay.search.races.race import EndReason
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.search.space.switching import (
    MAX_LAUNCHES_PER_APPLICATION,
    SWITCH_EVIDENCE,
    HardToChangeFactors,
    launches_per_application,
    switching_cost,
)
from assay.stats.block_order import BLOCKS_PER_GROUP, launch_order
from assay.stats.confidence_sequence import critical, level, min_values
from assay.testing.search_contracts import CompletedRace, RandomSearcher, SimulatedProgram, run_race
from cases import cases

COSTS = {"env.BOOT": 60.0, "env.KNOB": 2.0}
SPACE = Space(
    parameters=(
        Parameter(name="env.BOOT", domain=Choices(("a", "b"))),
        Parameter(name="env.KNOB", domain=Choices(("x", "y"))),
        Parameter(name="nice", domain=Choices((5, 10))),
    )
)


def arms(*texts: str) -> tuple[Arm, ...]:
    found = []
    for text in texts:
        pairs = (word.split("=") for word in text.split())
        found.append(arm_of(Configuration(dict(pairs))))  # type: ignore[arg-type]
    return tuple(found)


def compared(costs: dict[str, float], *texts: str, budget: Budget, null: bool = False) -> StudySpec:
    return StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=("x",)),
        budget=budget,
        arms=arms(*texts),
        switch_costs_s=costs,
        disturbed_above=None,
        null=null,
    )


def tuned(costs: dict[str, float], budget: Budget, seed: int = 0) -> StudySpec:
    return StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("x",)),
        budget=budget,
        space=SPACE,
        seed=seed,
        switch_costs_s=costs,
        disturbed_above=None,
    )


def raced(spec: StudySpec, program: SimulatedProgram) -> CompletedRace:
    race = (
        TuneRace(spec, SearchSpace(spec.space), RandomSearcher())
        if spec.kind is Kind.TUNE
        else CompareRace(spec)
    )
    return run_race(race, program, spec.budget)


def switches(launches: list[Launch], name: str) -> int:
    """Count changes between neighbours of one block."""
    pairs = itertools.pairwise(launches)
    return sum(
        a.block == b.block and a.configuration.get(name) != b.configuration.get(name)
        for a, b in pairs
    )


PROGRAM = SimulatedProgram(takes_s=lambda c: 0.8 if c.get("env.BOOT") == "b" else 1.0, noise=0.02)


# --- the order ----------------------------------------------------------------------------------


def test_costliest_setting_changes_least_often() -> None:
    spec = tuned({"env.KNOB": 2.0, "env.BOOT": 60.0}, Budget(launches=200))
    completed_race = raced(spec, PROGRAM)
    blocks = {la.block for la in completed_race.launches if la.stage is Stage.SEARCH}
    assert blocks
    for number in blocks:
        mine = [la for la in completed_race.launches if la.block == number]
        boots = {la.configuration.get("env.BOOT") for la in mine}
        both = {(la.configuration.get("env.BOOT"), la.configuration.get("env.KNOB")) for la in mine}
        assert switches(mine, "env.BOOT") == len(boots) - 1
        assert switches(mine, "env.KNOB") <= len(both) - 1


def test_order_is_unchanged_without_hard_to_change_settings() -> None:
    names = ["default", "a", "b", "c"]
    for block in range(20):
        assert launch_order(3, block, names) == launch_order(3, block, names, [()] * 4)
        assert launch_order(3, block, names) == launch_order(3, block, names, [("",)] * 4)
    budget = Budget(launches=120)
    assert raced(tuned({}, budget), PROGRAM).samples == raced(tuned({}, budget), PROGRAM).samples


def test_two_arms_alternate_within_and_among_groups() -> None:
    names = ["a1", "b1", "a2", "b2", "c1"]
    plots = [(name[0],) for name in names]
    for seed in range(30):
        found = [
            [names[i] for i in launch_order(seed, k, names, plots)] for k in range(BLOCKS_PER_GROUP)
        ]
        for one, other in itertools.combinations(names, 2):
            assert sum(o.index(one) < o.index(other) for o in found) == BLOCKS_PER_GROUP // 2
        for one_order in found:
            groups = [key for key, _ in itertools.groupby(one_order, key=lambda n: n[0])]
            assert len(groups) == 3
    firsts = [names[launch_order(seed, 0, names, plots)[0]] for seed in range(600)]
    for group in "abc":
        assert sum(name[0] == group for name in firsts) / 600 == pytest.approx(1 / 3, abs=0.08)
    inner = [
        launch_order(seed, 0, names, plots).index(0) < launch_order(seed, 0, names, plots).index(2)
        for seed in range(600)
    ]
    assert sum(inner) / 600 == pytest.approx(0.5, abs=0.08)


# --- costs --------------------------------------------------------------------------------------


def test_block_cost_includes_switching() -> None:
    hard_to_change = HardToChangeFactors(COSTS)
    assert hard_to_change.names == ("env.BOOT", "env.KNOB")
    assert hard_to_change.block_s(arms("")) == 0.0
    assert hard_to_change.block_s(arms("", "nice=5")) == 0.0
    assert hard_to_change.block_s(arms("", "env.KNOB=x")) == 2 * 2.0
    assert hard_to_change.block_s(arms("", "env.BOOT=a")) == 2 * (60.0 + 2.0)
    four = arms("", "env.BOOT=a", "env.BOOT=a env.KNOB=x", "env.KNOB=y nice=5")
    assert hard_to_change.block_s(four) == 2 * 60.0 + 4 * 2.0
    assert hard_to_change.space_s(SearchSpace(SPACE), 100) == 3 * 60.0 + 9 * 2.0
    assert hard_to_change.space_s(SearchSpace(SPACE), 4) == 3 * 60.0 + 4 * 2.0
    assert not HardToChangeFactors({"nice": 0.0})


def test_history_counts_switching() -> None:
    history = History.of(tuned(COSTS, Budget(time_s=600.0)))
    sample = PROGRAM.run(
        Launch(configuration=Configuration(), arm="default", stage=Stage.GAUGE, block=0, position=0)
    )
    history.add(sample)
    wall_s = sample.wall_s or 0.0
    pair = [DEFAULT_ARM, *arms("env.KNOB=x")]
    search, claim = history.cost(pair, Stage.SEARCH), history.cost(pair)
    assert search.time_s == pytest.approx(2 * wall_s + 4.0, rel=0.02)
    assert search.launches == 2
    # Launching should take about as long as switching.
    assert claim.launches == 2 * round(4.0 / (2 * wall_s))
    assert history.cost([DEFAULT_ARM, DEFAULT_ARM]).launches == 2


def test_launches_within_an_application() -> None:
    assert launches_per_application(0.0, 1.0) == 1
    assert launches_per_application(0.1, 1.0) == 1
    assert launches_per_application(3.0, 1.0) == 3
    assert launches_per_application(100.0, 1.0) == MAX_LAUNCHES_PER_APPLICATION


def test_budget_below_switching_cost_starts_no_confirmation() -> None:
    budget = Budget(time_s=120.0)
    assert any(s.launch.stage is Stage.CONFIRM for s in raced(tuned({}, budget), PROGRAM).samples)
    small = raced(tuned({"env.BOOT": 20.0}, budget), PROGRAM)
    assert small.done.reason in (EndReason.BUDGET, EndReason.DECIDED)
    assert all(s.launch.stage is not Stage.CONFIRM for s in small.samples)


# --- basis of claims ----------------------------------------------------------------------------


def applications(launches: list[Launch], name: str) -> list[list[Launch]]:
    """Group the launches of a confirmation by application of a value."""
    found: list[list[Launch]] = []
    for launch in launches:
        if launch.stage is not Stage.CONFIRM:
            continue
        held = found[-1][-1].configuration.get(name) if found else object()
        if launch.repeat_application or launch.configuration.get(name) != held:
            found.append([])
        found[-1].append(launch)
    return found


@pytest.mark.parametrize("kind", [Kind.TUNE, Kind.COMPARE])
def test_claim_requires_six_applications_of_each_level(kind: Kind) -> None:
    costs, budget = {"env.BOOT": 3.0}, Budget(launches=2000)
    spec = (
        tuned(costs, budget)
        if kind is Kind.TUNE
        else compared(costs, "", "env.BOOT=b", budget=budget)
    )
    completed_race = raced(spec, PROGRAM)
    searcher = RandomSearcher()
    found = conclude(
        spec, completed_race.samples, SearchSpace(spec.space), searcher, completed_race.done
    )
    (claim,) = found.claims
    assert claim.verdict is Verdict.FASTER
    assert claim.applications
    assert claim.blocks >= 6
    applied = applications(completed_race.launches, "env.BOOT")
    for value in (None, "b"):
        mine = [a for a in applied if a[0].configuration.get("env.BOOT") == value]
        assert len(mine) >= 6
        assert len({len(a) for a in mine}) == 1, "as many launches within each"
        assert all(len({la.block for la in a}) == 1 for a in mine), "none is in two blocks"
    firsts = [a[0].configuration.get("env.BOOT") for a in applied[::2]]
    assert len(set(firsts)) == 2, "in random order"


def test_launches_within_an_application_are_averaged() -> None:
    spec = compared({"env.BOOT": 5.0}, "", "env.BOOT=b", budget=Budget(launches=400))
    completed_race = raced(spec, PROGRAM)
    history = History.of(spec, completed_race.samples)
    block = history.blocks(Stage.CONFIRM)[0]
    mine = [
        s.wall_s or 0.0
        for s in completed_race.samples
        if s.launch.block == block and s.launch.arm == "default"
    ]
    assert len(mine) > 1
    (found,) = history.observations(Stage.CONFIRM, "default", [block])
    assert found is not None
    assert found.value == pytest.approx(math.exp(np.mean(np.log(mine))))


def test_requirement_counts_applications_instead_of_launches() -> None:
    spec = compared({"env.BOOT": 5.0}, "", "env.BOOT=b", budget=Budget(launches=400))
    spec = msgspec.structs.replace(
        spec, requirements=(Requirement(metric="wall_s", bound=Bound.AT_MOST, limit=100.0),)
    )
    completed_race = raced(spec, PROGRAM)
    found = conclude(
        spec, completed_race.samples, SearchSpace(spec.space), RandomSearcher(), completed_race.done
    )
    history = History.of(spec, completed_race.samples)
    for one in found.requirements:
        assert one.verdict is RequirementVerdict.HOLDS
        made = history.summarised_samples(Stage.CONFIRM, one.arm)
        assert one.launches == len({s.launch.block for s in made}) < len(made)


def test_application_with_repeated_failure_has_no_value() -> None:
    spec = compared({"env.BOOT": 5.0}, "", "env.BOOT=b", budget=Budget(launches=400))
    flaky = SimulatedProgram(
        takes_s=PROGRAM.takes_s, fails=lambda c: 0.2 if c.get("env.BOOT") == "b" else 0.0, seed=3
    )
    completed_race = raced(spec, flaky)
    history = History.of(spec, completed_race.samples)
    lost = [o for o in history.observations(Stage.CONFIRM, "env.BOOT=b") if o is None]
    assert lost
    retried = [la for la in completed_race.launches if la.attempt]
    assert retried
    assert not any(la.repeat_application for la in retried)


def test_arms_with_equal_hard_to_change_settings_are_compared_by_launches() -> None:
    spec = compared({"env.BOOT": 5.0}, "", "nice=5", "env.BOOT=b", budget=Budget(launches=2000))
    completed_race = raced(spec, PROGRAM)
    found = conclude(
        spec, completed_race.samples, SearchSpace(spec.space), RandomSearcher(), completed_race.done
    )
    assert {claim.b: claim.applications for claim in found.claims} == {
        "nice=5": False,
        "env.BOOT=b": True,
    }


def test_switching_cost_is_reported() -> None:
    spec = compared({"env.BOOT": 5.0}, "", "env.BOOT=b", budget=Budget(launches=40))
    launch = Launch(
        configuration=Configuration(), arm="default", stage=Stage.CONFIRM, block=0, position=0
    )
    applied = Evidence(kind=SWITCH_EVIDENCE, value=4.5, unit="s")
    samples = [
        Sample(launch=launch, outcome=Outcome.OK, evidence=(applied,)),
        Sample(launch=launch, outcome=Outcome.OK),
        Sample(launch=launch, outcome=Outcome.OK, evidence=(applied,)),
    ]
    found = switching_cost(spec, samples)
    assert found is not None
    assert (found.settings, found.changes, found.time_s) == (("env.BOOT",), 2, 9.0)
    assert switching_cost(compared({}, "", "nice=5", budget=Budget(launches=9)), samples) is None


# --- error rates --------------------------------------------------------------------------------

STUDIES, BLOCKS, WITHIN = 1000, 40, 3
NAMES = ["a1", "a2", "b1", "b2", "c1"]
"""Five identical arms at three levels of a hard-to-change setting."""
LIMIT = 0.05 + 2 * math.sqrt(0.05 * 0.95 / STUDIES)


def logs(drift: str, application: float, each: int, seed: int) -> np.ndarray:
    """Studies x blocks x arms x launches within an application, of identical arms.

    Switching takes three times as long as a launch, and the machine drifts throughout.
    """
    rng = np.random.default_rng(seed)
    names = NAMES * each
    plots = [(name[0],) for name in names]
    found = np.empty((STUDIES, BLOCKS, len(NAMES), each))
    for study in range(STUDIES):
        t = 0.0
        slope, step_at = rng.choice([-1.0, 1.0]), rng.uniform(0, BLOCKS * len(names))
        for block in range(BLOCKS):
            held, effect, seen = "", 0.0, dict.fromkeys(NAMES, 0)
            for place in launch_order(study, block, names, plots):
                name = names[place]
                if name[0] != held:
                    held, effect = name[0], application * rng.standard_normal()
                    t += 3.0
                t += 1.0
                moved = {
                    "none": 0.0,
                    "ramp": slope * 0.002 * t,
                    "wave": 0.1 * math.sin(t / 40.0),
                    "step": 0.1 * (t > step_at),
                }[drift]
                value = moved + effect + 0.01 * rng.standard_normal()
                found[study, block, NAMES.index(name), seen[name]] = value
                seen[name] += 1
    return found


def false_share(gaps: np.ndarray) -> float:
    """Share of the studies in which the interval of the mean ever excludes 0."""
    n = np.arange(1, gaps.shape[1] + 1.0)
    mean = np.cumsum(gaps, axis=1) / n
    square = np.cumsum(gaps**2, axis=1) - n * mean**2
    t = np.abs(mean) / np.sqrt(np.maximum(square, 1e-22) / np.maximum(n - 1, 1) / n)
    analyses = range(max(6, min_values(0.05)), gaps.shape[1] + 1)
    bounds = [critical(k, level(0.05)) for k in analyses]
    return float((t[:, analyses[0] - 1 :] > bounds).any(axis=1).mean())


@pytest.mark.rotating
@pytest.mark.parametrize("drift", cases(["none", "wave"], slow=["ramp", "step"]))
def test_identical_arms_in_grouped_orders(drift: str) -> None:
    """Within a level and across levels, with an independent error of each application."""
    means = logs(drift, 0.02, 1, seed=1).mean(axis=3)
    assert false_share(means[:, :, 1] - means[:, :, 0]) <= LIMIT
    assert false_share(means[:, :, 2] - means[:, :, 0]) <= LIMIT
    assert false_share(means[:, :, 4] - means[:, :, 0]) <= LIMIT


@pytest.mark.rotating
def test_independent_unit_is_the_application() -> None:
    """Means of applications keep 5 %; single launches would far exceed it."""
    values = logs("ramp", 0.03, WITHIN, seed=2)
    means = values.mean(axis=3)
    assert false_share(means[:, :, 2] - means[:, :, 0]) <= LIMIT
    each = (values[:, :, 2, :] - values[:, :, 0, :]).reshape(STUDIES, -1)
    assert false_share(each) > 2 * LIMIT


def test_boots_are_excluded_from_budget_and_bound_launches() -> None:
    hard_to_change = HardToChangeFactors(
        {"boot.nosmt": 120.0, "vm.thp": 2.0}, {"boot.nosmt": "absent"}
    )
    four = arms(
        "boot.nosmt=absent vm.thp=x",
        "boot.nosmt=present vm.thp=x",
        "vm.thp=y",
        "boot.nosmt=present",
    )
    assert (
        hard_to_change.plot(four[2].configuration)[0]
        == hard_to_change.plot(four[0].configuration)[0]
    )
    assert hard_to_change.initial_boot_arms(four) == (four[0], four[2])
    # Two boots of two values each: four applications of the written setting.
    assert hard_to_change.block_s(four) == 4 * 2.0
    assert hard_to_change.block_with_boots_s(four) == 4 * 2.0 + 2 * 120.0
    assert hard_to_change.pair_s == 2 * 2.0
    assert hard_to_change.pair_with_boots_s == 2 * 2.0 + 2 * 120.0
    assert hard_to_change.without_boot_settings.names == ("vm.thp",)
    assert HardToChangeFactors(COSTS).initial_boot_arms(four) == four


@pytest.mark.parametrize(
    ("launches", "each"), [(None, MAX_LAUNCHES_PER_APPLICATION), (240, 10), (48, 2), (12, 1)]
)
def test_launches_per_boot_are_limited_by_budget(launches: int | None, each: int) -> None:
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=("./app",)),
        budget=Budget(launches=launches),
        switch_costs_s={"boot.nosmt": 120.0},
        reboot_settings={"boot.nosmt": "absent"},
    )
    both = arms("boot.nosmt=absent", "boot.nosmt=present")
    launch = Launch(
        configuration=both[0].configuration,
        arm=both[0].name,
        stage=Stage.SURVEY,
        block=0,
        position=0,
    )
    known = Sample(launch=launch, outcome=Outcome.OK, wall_s=1.0, metrics={"wall_s": 1.0})
    assert History.of(spec, [known]).launches_by_arm(Stage.CONFIRM, both) == each
