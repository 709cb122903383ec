"""Studies with several objectives: the race, its claims and its answer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from msgspec import structs
from simulated_fronts import MEMORY, TIME, TwoSided, confirmation, front_spec, front_study

from assay.errors import InvalidInputError
from assay.records import (
    Bound,
    Budget,
    Choices,
    Configuration,
    EarlierStudy,
    Evidence,
    FrontExclusion,
    Goal,
    Kind,
    Launch,
    Metric,
    Parameter,
    Requirement,
    Sample,
    Space,
    Stage,
    StudySpec,
    Verdict,
    Workload,
    decode,
    encode,
)
from assay.search.claims.front_claims import front_alpha
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.front import MAX_POINTS, FrontRace
from assay.search.races.front_search import ModelFrontSearch, RacingFrontSearch
from assay.search.races.race import Ending, EndReason, Race
from assay.search.races.strategy import BATCH_ARMS
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.search_contracts import RaceContract, SimulatedProgram, run_race

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
BLOCK = Parameter(name="arg.block", domain=Choices(SIZES), default=16)
FEW = Space(parameters=(BLOCK,))
MANY = Space(
    parameters=(
        BLOCK,
        *(Parameter(name=f"arg.p{i}", domain=Choices((0, 1, 2)), default=0) for i in range(4)),
    )
)


def trade(configuration: Configuration) -> tuple[float, float]:
    """Return less time and more memory for large blocks."""
    steps = math.log2(int(configuration.get("arg.block", 16))) - 4
    return (-0.1 * steps, 0.15 * steps)


class FrontContract(RaceContract):
    space: Space
    strategy: type
    program = SimulatedProgram(
        takes_s=lambda c: 1.0 - 0.02 * len(c), metric=Metric(name="score", pattern="x")
    )

    def spec(self, budget: Budget, seed: int = 0, timeout_s: float | None = None) -> StudySpec:
        return StudySpec(
            kind=Kind.TUNE,
            workload=Workload(
                argv=("./program",), metrics=(TIME, self.program.metric), timeout_s=timeout_s
            ),
            budget=budget,
            space=self.space,
            seed=seed,
            objectives=("wall_s", "score"),
        )

    def race(self, spec: StudySpec) -> Race:
        return FrontRace(spec, SearchSpace(spec.space), TpeSearcher())

    # A time-out says nothing about a figure that the program had no time to print.
    test_time_outs_count_as_their_caps = None  # type: ignore[assignment]

    def test_strategy(self) -> None:
        race = self.race(self.spec(self.AMPLE))
        run_race(race, self.program, self.AMPLE)
        assert isinstance(race._search, self.strategy)  # type: ignore[attr-defined]


class TestRacingContract(FrontContract):
    space = FEW
    strategy = RacingFrontSearch


@pytest.mark.rotating
@pytest.mark.rotating
class TestModelContract(FrontContract):
    AMPLE = Budget(launches=90)
    space = MANY
    strategy = ModelFrontSearch


class TestNullContract(TestRacingContract):
    def spec(self, budget: Budget, seed: int = 0, timeout_s: float | None = None) -> StudySpec:
        metrics = (TIME, self.program.metric)
        return front_spec(FEW, budget, seed=seed, null=True, metrics=metrics)


@pytest.mark.rotating
@pytest.mark.parametrize(("space", "launches"), [(FEW, 250), (MANY, 200)])
def test_trade_off_is_found_and_confirmed(space: Space, launches: int) -> None:
    study = front_study(space, TwoSided(trade), Budget(launches=launches))
    front = study.conclusion.pareto_front
    assert len(front) >= 3
    ratios = [[claim.ratio for claim in point.claims] for point in front]
    assert [r[0] for r in ratios] == sorted(r[0] for r in ratios)
    assert [r[1] for r in ratios] == sorted((r[1] for r in ratios), reverse=True)
    for point in front:
        truth = [math.exp(effect) for effect in trade(point.settings)]
        for claim, true in zip(point.claims, truth, strict=True):
            assert (claim.ci[0] or 0.0) <= true <= (claim.ci[1] or math.inf)
            assert claim.alpha == pytest.approx(front_alpha(study.spec, len(front)), rel=0.6)
    first = study.conclusion.recommendation
    assert first is not None
    assert first.settings == front[0].settings
    assert first.claim == front[0].claims[0]
    assert "form the Pareto front" in first.sentence
    assert "less time" in first.sentence
    assert "less memory" in first.sentence


def test_error_rate_is_shared_by_all_intervals() -> None:
    spec = front_spec(FEW, Budget(launches=100))
    assert front_alpha(spec, 1) == pytest.approx(0.05 / 2)
    assert front_alpha(spec, 4) == pytest.approx(0.05 / 20)  # 4 points and 6 pairs, twice
    null = front_spec(FEW, Budget(launches=100), null=True)
    assert front_alpha(null, 1) == pytest.approx(0.05 / 4)


def test_default_is_kept_without_gain() -> None:
    study = front_study(
        FEW, TwoSided(lambda c: (0.3 * bool(c), 0.2 * bool(c))), Budget(launches=120)
    )
    assert study.conclusion.pareto_front == study.conclusion.excluded_points == ()
    assert study.done.reason is EndReason.DECIDED
    assert study.conclusion.recommendation is not None
    sentence = study.conclusion.recommendation.sentence
    assert (
        sentence
        == "Keep the default: no configuration that was tried was better in time or memory."
    )


def test_best_arm_in_all_objectives_is_the_only_point() -> None:
    study = front_study(
        FEW,
        TwoSided(lambda c: (-0.5, -0.4) if c.get("arg.block") == 4 else (0.0, 0.0)),
        Budget(launches=150),
    )
    assert study.front == [{"arg.block": 4}]
    assert study.conclusion.recommendation is not None
    sentence = study.conclusion.recommendation.sentence
    assert sentence.startswith("arg.block=4 takes ")
    assert " % less time than the default; memory: -3" in sentence
    assert study.done.reason is EndReason.DECIDED


def test_first_choice_is_not_worse_in_the_first_objective() -> None:
    """Without a point better in time, none is chosen by default."""
    study = front_study(
        FEW,
        TwoSided(lambda c: (0.3, -0.4) if c.get("arg.block") == 4 else (0.1 * bool(c), 0.0)),
        Budget(launches=150),
    )
    assert study.front == [{"arg.block": 4}]
    assert study.conclusion.recommendation is not None
    assert not study.conclusion.recommendation.settings
    assert study.conclusion.recommendation.claim is None
    assert "less memory" in study.conclusion.recommendation.sentence
    assert "time: +3" in study.conclusion.recommendation.sentence


def test_dominated_point_names_its_dominator() -> None:
    def effects(c: Configuration) -> tuple[float, float]:
        return {4: (-0.3, 0.1), 8: (-0.2, 0.1), 1: (0.2, -0.4)}.get(
            int(c.get("arg.block", 0)), (0, 0)
        )

    arms = [{"arg.block": size} for size in (4, 8, 1)]
    best, worse, small = confirmation(TwoSided(effects, noise=(0.01, 0.001)), arms, 20)
    assert best.exclusion is None
    assert small.exclusion is None
    assert worse.exclusion is FrontExclusion.DOMINATED
    assert worse.dominated_by == "arg.block=4"


def test_before_enough_blocks_nothing_is_dominated() -> None:
    effects = TwoSided(lambda c: (-0.1 * len(c), -0.1), noise=(1e-4, 1e-4))
    found = confirmation(effects, [{"arg.block": 4}, {"arg.block": 4, "arg.p1": 1}], 5)
    assert all(point.exclusion is FrontExclusion.UNCLEAR for point in found)


def test_arm_that_fails_more_often_is_not_on_the_front() -> None:
    """Its values in other launches do not matter."""

    def fails(c: Configuration) -> float:
        return 0.5 if c.get("arg.block") == 128 else 0.0

    study = front_study(FEW, TwoSided(trade, fails=fails), Budget(launches=250))
    assert {"arg.block": 128} not in study.front


def test_higher_may_be_better() -> None:
    rate = Metric(name="rate", unit="1/s", goal=Goal.HIGHER, pattern="x")

    def effects(c: Configuration) -> tuple[float, float]:
        time, memory = trade(c)
        return -time, memory

    program = TwoSided(effects, metrics=(rate, MEMORY))
    study = front_study(FEW, program, Budget(launches=250))
    best = study.conclusion.pareto_front[0]
    claim = best.claim_on("rate")
    assert claim is not None
    assert claim.ratio > 1.2
    assert claim.verdict is Verdict.FASTER
    assert study.front[0]["arg.block"] in (64, 128)


def test_three_objectives() -> None:
    third = Metric(name="energy_j", unit="J")

    class Three(TwoSided):
        def run(self, launch):  # type: ignore[no-untyped-def]
            from msgspec.structs import replace as changed

            sample = super().run(launch)
            steps = abs(math.log2(int(launch.configuration.get("arg.block", 16))) - 5)
            metrics = {**sample.metrics, "energy_j": math.exp(0.1 * steps)}
            return changed(sample, metrics=metrics)

    metrics = (TIME, MEMORY, third)
    spec = replace_objectives(front_spec(FEW, Budget(launches=300), metrics=metrics), metrics)
    space = SearchSpace(FEW)
    completed_race = run_race(FrontRace(spec, space, GpSearcher()), Three(trade), spec.budget)
    found = conclude(spec, completed_race.samples, space, GpSearcher(), completed_race.done)
    assert found.pareto_front
    assert all(len(point.claims) == 3 for point in found.pareto_front)
    assert {"arg.block": 32} in [dict(point.settings) for point in found.pareto_front]


def replace_objectives(spec: StudySpec, metrics: tuple[Metric, ...]) -> StudySpec:
    from msgspec.structs import replace as changed

    return changed(spec, objectives=tuple(metric.name for metric in metrics))


@pytest.mark.parametrize("launches", [40, 60, 100, 150, 300])
def test_number_of_points_is_limited_by_confirmation_budget(launches: int) -> None:
    study = front_study(FEW, TwoSided(trade), Budget(launches=launches))
    assert len(study.samples) <= launches
    points = [*study.conclusion.pareto_front, *study.conclusion.excluded_points]
    assert 1 <= len(points) <= MAX_POINTS
    least = min(claim.blocks for point in study.conclusion.pareto_front for claim in point.claims)
    assert least >= 7
    assert len(points) >= (launches >= 150) * 3


def test_noise_floor_stands_beside_the_claims() -> None:
    spec_study = front_study(FEW, TwoSided(trade), Budget(launches=250), null=True)
    floor = spec_study.conclusion.noise_floor
    assert floor is not None
    assert floor.b == "default (again)"
    assert all("again" not in point.name for point in spec_study.conclusion.pareto_front)


def test_study_without_confirmation_budget_makes_no_claim() -> None:
    """The points take five times as long as planned."""
    slow = TwoSided(lambda c: (1.9 * bool(c), -0.4 * bool(c)), noise=(0.01, 0.01))
    spec = front_spec(FEW, Budget(time_s=60.0))
    space = SearchSpace(FEW)
    completed_race = run_race(FrontRace(spec, space, GpSearcher()), slow, spec.budget)
    found = conclude(spec, completed_race.samples, space, GpSearcher(), completed_race.done)
    assert found.recommendation is not None
    assert completed_race.done.reason is EndReason.BUDGET
    assert found.pareto_front == ()
    assert "Keep the default until then" in found.recommendation.sentence


@pytest.mark.rotating
def test_resumed_study_has_the_same_conclusion() -> None:
    """Any part of the stored samples is replayed, in search and confirmation."""
    budget = Budget(launches=110)
    program = TwoSided(trade)
    spec = front_spec(MANY, budget)
    space = SearchSpace(MANY)
    whole = run_race(FrontRace(spec, space, GpSearcher()), program, budget)
    again = conclude(spec, whole.samples, space, GpSearcher(), whole.done)
    for cut in (1, 2, 30, 73, 100, len(whole.samples)):
        race = FrontRace(spec, SearchSpace(MANY), GpSearcher())
        completed_race = run_race(race, program, budget, told=whole.samples[:cut])
        assert completed_race.samples == whole.samples
        assert completed_race.done == whole.done
        assert (
            conclude(spec, completed_race.samples, space, GpSearcher(), completed_race.done)
            == again
        )


def test_only_hanging_launches_are_stopped() -> None:
    """A slow arm may need least memory, and a stopped launch has no value of it."""
    slow = TwoSided(lambda c: (math.log(20) * bool(c), -0.5 * bool(c)), noise=(0.01, 0.01))
    study = front_study(FEW, slow, Budget(launches=120))
    for sample in study.samples:
        usual_s = 20.0 if sample.launch.configuration else 1.0
        assert sample.launch.timeout_s is None or sample.launch.timeout_s > 2.5 * usual_s
    assert study.conclusion.pareto_front
    verdicts = [claim.verdict for claim in study.conclusion.pareto_front[0].claims]
    assert verdicts == [Verdict.SLOWER, Verdict.FASTER]


def test_earlier_documents_have_one_objective() -> None:
    spec = front_spec(FEW, Budget(launches=9))
    assert decode(encode(spec), StudySpec) == spec
    assert [metric.name for metric in spec.targets] == ["wall_s", "peak_anon_bytes"]
    older = encode(spec).replace(b',"objectives":["wall_s","peak_anon_bytes"]', b"")
    read = decode(older, StudySpec)
    assert read.objectives == ()
    assert read.targets == (TIME,)


def test_simulated_program_has_its_effects() -> None:
    quiet = replace(TwoSided(trade), noise=(0.0, 0.0))
    study = front_study(FEW, quiet, Budget(launches=60))
    assert {s.metrics["peak_anon_bytes"] for s in study.samples if s.launch.arm == "default"} == {
        1.0
    }


NEITHER = {2: (-0.02, 0.015), 4: (0.0, 0.0)}
"""Effects of two points, one of which is a little better in each objective."""


def wrongly_dominated(study: int) -> bool:
    """Return whether one of two equal points is dominated at any interim analysis of a
    confirmation."""
    program = TwoSided(
        lambda c: NEITHER.get(int(c.get("arg.block", 0)), (0.0, 0.0)),
        noise=(0.01, 0.01),
        seed=study,
    )
    arms = [{"arg.block": 2}, {"arg.block": 4}]
    analyses = (10, 14, 20, 28, 40)
    return any(
        point.exclusion is FrontExclusion.DOMINATED
        for blocks in analyses
        for point in confirmation(program, arms, blocks)
    )


@pytest.mark.slow
def test_false_dominance_is_rare() -> None:
    """At most alpha and two standard errors, however many interim analyses there are."""
    studies = 300
    wrong = sum(wrongly_dominated(study) for study in range(studies))
    assert wrong / studies <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / studies)


@pytest.mark.slow
def test_intervals_of_a_front_cover_simultaneously() -> None:
    """Studies choose their points themselves: at least 95 % less two standard errors."""
    studies, held, points = 150, 0, 0
    for seed in range(studies):
        study = front_study(FEW, TwoSided(trade, seed=seed), Budget(launches=150), seed=seed)
        seen = [*study.conclusion.pareto_front, *study.conclusion.excluded_points]
        pairs = [
            (claim, math.exp(effect))
            for point in seen
            for claim, effect in zip(point.claims, trade(point.settings), strict=True)
        ]
        points += len(seen)
        held += all((c.ci[0] or 0.0) <= true <= (c.ci[1] or math.inf) for c, true in pairs)
    assert points > 2 * studies
    assert held / studies >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / studies)


@pytest.mark.slow
def test_no_gain_is_claimed_without_effects() -> None:
    """Identical configurations gain in at most alpha of the studies."""
    studies = 150
    still = TwoSided(lambda c: (0.0, 0.0), noise=(0.03, 0.03))
    wrong = 0
    for seed in range(studies):
        program = replace(still, seed=seed)
        wrong += bool(
            front_study(FEW, program, Budget(launches=150), seed=seed).conclusion.pareto_front
        )
    assert wrong / studies <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / studies)


def test_front_with_varying_instances_has_note() -> None:
    counts = Space(parameters=(Parameter(name="instances", domain=Choices((1, 2))),))
    for space, told in ((counts, True), (FEW, False)):
        found = conclude(
            front_spec(space, Budget(launches=300)), (), SearchSpace(space), GpSearcher(), None
        )
        assert any("number of instances varies" in note for note in found.notes) is told


class Compiled(TwoSided):
    """A program that takes ten seconds to be built, the first time it runs in a configuration."""

    def run(self, launch: Launch) -> Sample:
        sample = super().run(launch)
        if launch.stage not in (Stage.GAUGE, Stage.SEARCH) or launch.attempt:
            return sample
        told = Evidence(kind="build", value=10.0, unit="s")
        return structs.replace(sample, evidence=(*sample.evidence, told))


def test_sufficient_budget_has_room_for_builds() -> None:
    """An arm that takes five times as long as planned leaves no confirmation."""

    def needed_s(kind: type[TwoSided]) -> float:
        slow = kind(lambda c: (1.9 * bool(c), -0.4 * bool(c)), noise=(0.01, 0.01))
        spec = front_spec(FEW, Budget(time_s=600.0))
        race = FrontRace(spec, SearchSpace(FEW), GpSearcher())
        told = run_race(race, slow, spec.budget).samples
        again = FrontRace(spec, SearchSpace(FEW), GpSearcher())
        for sample in told:
            if sample.launch.stage is not Stage.CONFIRM:
                again.tell(sample)
        done = again.ask(1, Budget(time_s=5.0))
        assert isinstance(done, Ending)
        assert "The remaining budget is smaller" in done.message
        assert done.needed is not None
        return done.needed.time_s or 0.0

    assert needed_s(Compiled) == needed_s(TwoSided) + len(BATCH_ARMS) * 10.0


@pytest.mark.parametrize(("left_s", "launches"), [(5.0, 0), (60.0, 2)])
def test_identical_arms_run_only_if_all_their_blocks_fit(left_s: float, launches: int) -> None:
    """Without a better arm, the noise floor takes seven blocks of two launches."""
    worse = TwoSided(lambda c: (0.3 * bool(c), 0.2 * bool(c)))
    spec = front_spec(FEW, Budget(time_s=600.0), null=True)
    told = run_race(FrontRace(spec, SearchSpace(FEW), GpSearcher()), worse, spec.budget).samples
    race = FrontRace(spec, SearchSpace(FEW), GpSearcher())
    for sample in told:
        if sample.launch.stage is not Stage.CONFIRM:
            race.tell(sample)
    answer = race.ask(2, Budget(time_s=left_s))
    assert (0 if isinstance(answer, Ending) else len(answer)) == launches
    if isinstance(answer, Ending):
        assert answer.reason is EndReason.BUDGET
        assert answer.needed is not None


@pytest.mark.parametrize(
    ("option", "asked"),
    [
        (
            "--require",
            {"requirements": (Requirement(metric="wall_s", bound=Bound.AT_MOST, limit=2.0),)},
        ),
        ("--parallel", {"parallel": 2}),
        ("--warm-start", {"earlier_studies": (EarlierStudy(study="abc", command="./p"),)}),
    ],
)
def test_option_for_one_objective_is_refused(option: str, asked: dict[str, object]) -> None:
    """A specification need not come from the command line."""
    spec = structs.replace(front_spec(FEW, Budget(launches=200)), **asked)
    with pytest.raises(
        InvalidInputError, match=f"{option} is for one objective; there are several"
    ):
        FrontRace(spec, SearchSpace(FEW), GpSearcher())
