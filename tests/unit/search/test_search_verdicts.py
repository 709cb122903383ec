"""Conclusions of studies against the true effects of simulated programs."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import msgspec
import pytest
from simulated_studies import Study, carry_out, compare, factors, space_of, tune, workload

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Conclusion,
    Configuration,
    Goal,
    Kind,
    Metric,
    Outcome,
    RecommendationStatus,
    Sample,
    Stage,
    StudySpec,
    Verdict,
    Workload,
    decode,
    encode,
)
from assay.search.conclusion.conclude import conclude
from assay.search.history.losses import fails_more
from assay.search.races.measure import MeasureRace
from assay.search.races.race import Ending, EndReason
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.search_contracts import SimulatedProgram, run_race

FLAT = SimulatedProgram(takes_s=lambda configuration: 1.0)
SMALL = space_of(nice=(0, 5, 10), malloc=("jemalloc", "tcmalloc"))
GAIN = SimulatedProgram(takes_s=factors(malloc={"jemalloc": 0.9, "tcmalloc": 0.8}, nice={10: 1.2}))


def most_allowed(studies: int) -> float:
    """Return 5 % and two standard errors."""
    return studies * (0.05 + 2 * math.sqrt(0.05 * 0.95 / studies))


@pytest.mark.rotating
@pytest.mark.parametrize(
    "program",
    [
        FLAT,
        replace(FLAT, noise=0.1, drift=0.01),
        replace(FLAT, fails=lambda c: 0.1, noise=0.02),
    ],
    ids=["plain", "drift", "failures"],
)
def test_no_gain_is_found_without_effects(program: SimulatedProgram) -> None:
    wins = 0
    for seed in range(100):
        study = tune(SMALL, replace(program, seed=seed), Budget(launches=80), seed=seed)
        wins += bool(study.settings)
    assert wins <= most_allowed(100)


@pytest.mark.rotating
def test_identical_arms_have_no_difference() -> None:
    wrong = 0
    for seed in range(100):
        program = replace(FLAT, seed=seed)
        study = compare(program, Budget(launches=63), {}, {"nice": 1}, {"nice": 2}, seed=seed)
        verdicts = {claim.verdict for claim in study.conclusion.claims}
        wrong += bool(verdicts & {Verdict.FASTER, Verdict.SLOWER})
    assert wrong <= most_allowed(100)


@pytest.mark.rotating
def test_true_gain_is_found_with_its_size() -> None:
    found = [tune(SMALL, replace(GAIN, seed=s), Budget(launches=150), seed=s) for s in range(25)]
    winners = [study for study in found if study.settings.get("malloc") == "tcmalloc"]
    assert len(winners) >= 23
    held = [
        study.claim.ci[0] < 0.8 < study.claim.ci[1]  # type: ignore[operator]
        for study in winners
        if study.claim is not None
    ]
    assert sum(held) >= len(held) - 3
    # A selected arm has no optimistic bias.
    ratios = [study.claim.ratio for study in winners if study.claim is not None]
    assert statistics.fmean(ratios) == pytest.approx(0.8, abs=0.01)


@pytest.mark.rotating
def test_settings_without_effect_are_dropped() -> None:
    kept = [tune(SMALL, replace(GAIN, seed=s), Budget(launches=300), seed=s) for s in range(20)]
    assert sum(study.settings == {"malloc": "tcmalloc"} for study in kept) >= 17


def test_one_of_two_redundant_settings_is_kept() -> None:
    space = space_of(thp=("never", "always"), malloc=("jemalloc",))

    def takes_s(configuration: Configuration) -> float:
        either = configuration.get("thp") == "always" or "malloc" in configuration
        return 0.8 if either else 1.0

    program = SimulatedProgram(takes_s=takes_s, noise=0.02)
    found = [tune(space, replace(program, seed=s), Budget(launches=200), seed=s) for s in range(12)]
    assert all(len(study.settings) <= 1 for study in found)
    assert sum(len(study.settings) == 1 for study in found) >= 11


@pytest.mark.rotating
def test_model_finds_best_arm_of_large_space() -> None:
    values = tuple(range(8))
    space = space_of(**{f"arg.p{i}": values for i in range(4)})
    takes_s = factors(**{f"arg.p{i}": {v: 1 + 0.04 * abs(v - 3) for v in values} for i in range(4)})
    program = SimulatedProgram(
        takes_s=lambda c: takes_s(c) * (0.75 if c.get("arg.p0") == 5 else 1.0)
    )
    good = 0
    for seed in range(4):
        study = tune(space, replace(program, seed=seed), Budget(launches=200), seed=seed)
        good += study.settings.get("arg.p0") == 5
    assert good >= 3


def test_claims_rest_on_confirmation_blocks_alone() -> None:
    """Other values in the confirmation change the claim; those of the search do not."""
    study = tune(SMALL, GAIN, Budget(launches=150))
    assert study.claim is not None
    blocks = {s.launch.block for s in study.samples if s.launch.stage is Stage.CONFIRM}
    assert study.claim.blocks == len(blocks)
    assert _again(study, slower(study.samples, {Stage.CONFIRM})).claims != study.conclusion.claims
    others = set(Stage) - {Stage.CONFIRM}
    changed = _again(study, slower(study.samples, others))
    assert changed.claims == study.conclusion.claims
    assert changed.arms == study.conclusion.arms


def slower(samples: list[Sample], stages: set[Stage]) -> list[Sample]:
    """The same with the default 30 % slower in some stages."""
    return [
        msgspec.structs.replace(s, metrics={k: 1.3 * v for k, v in s.metrics.items()})
        if s.launch.stage in stages and s.launch.arm == "default"
        else s
        for s in samples
    ]


def _again(study: Study, samples: list[Sample]) -> Conclusion:
    space = SearchSpace(study.spec.space)
    return conclude(study.spec, samples, space, TpeSearcher(), study.done)


@pytest.mark.parametrize("kind", ["tune", "compare"])
def test_conclusion_follows_from_the_samples(kind: str) -> None:
    """Repeated or decoded samples give the same bytes."""
    study = (
        tune(SMALL, GAIN, Budget(launches=150), null=True)
        if kind == "tune"
        else compare(GAIN, Budget(launches=60), {}, {"nice": 10}, null=True)
    )
    document = encode(study.conclusion)
    assert encode(_again(study, study.samples)) == document
    stored = [decode(encode(sample), Sample) for sample in study.samples]
    assert encode(_again(study, stored)) == document
    assert decode(document, Conclusion) == study.conclusion


def test_conclusion_is_independent_of_machine() -> None:
    """The conclusion is the same on a machine without any of the settings."""
    study = tune(SMALL, GAIN, Budget(launches=150))
    elsewhere = SearchSpace(study.spec.space, admissible=lambda configuration: False)
    found = conclude(study.spec, study.samples, elsewhere, TpeSearcher(), study.done)
    assert found.claims == study.conclusion.claims
    assert found.recommendation == study.conclusion.recommendation


def test_incomplete_confirmation_block_is_no_pair() -> None:
    study = tune(SMALL, GAIN, Budget(launches=150), null=True)
    newest = max(s.launch.block for s in study.samples)
    cut = [s for s in study.samples if s.launch.block < newest or s.launch.arm != "default (again)"]
    found = _again(study, cut)
    assert study.claim is not None
    assert found.claims[0].blocks == study.claim.blocks - 1


@pytest.mark.parametrize("goal", [Goal.HIGHER, Goal.LOWER])
def test_metrics_from_the_output(goal: Goal) -> None:
    metric = Metric(name="rate", goal=goal, pattern="x")
    study = tune(SMALL, replace(GAIN, metric=metric), Budget(launches=150), seed=2)
    assert study.settings == {"malloc": "tcmalloc"}
    assert study.claim is not None
    expected = 1 / 0.8 if goal is Goal.HIGHER else 0.8
    assert study.claim.ratio == pytest.approx(expected, rel=0.05)
    assert study.claim.verdict is Verdict.FASTER
    assert ("raises rate" in _sentence(study)) is (goal is Goal.HIGHER)


def test_worse_metric_is_no_gain() -> None:
    """The default remains."""
    metric = Metric(name="rate", goal=Goal.HIGHER, pattern="x")
    slow = SimulatedProgram(takes_s=lambda c: 1.0 + 0.2 * len(c), metric=metric)
    assert tune(SMALL, slow, Budget(launches=150)).settings == {}


@pytest.mark.parametrize("gains", [True, False])
def test_null_gives_a_noise_floor(gains: bool) -> None:
    """Beside a claim, and where the default is kept as well."""
    slow = SimulatedProgram(takes_s=lambda c: 1.0 + 0.3 * len(c))
    study = tune(SMALL, GAIN if gains else slow, Budget(launches=200), null=True)
    floor = study.conclusion.noise_floor
    assert floor is not None
    assert (floor.a, floor.b) == ("default", "default (again)")
    assert floor.blocks >= 6
    assert floor.ratio == pytest.approx(1.0, abs=0.05)
    assert bool(study.settings) is gains
    assert len(study.conclusion.claims) == gains
    without = tune(SMALL, GAIN if gains else slow, Budget(launches=200))
    assert without.conclusion.noise_floor is None


def test_noise_floor_does_not_keep_a_comparison_going() -> None:
    """It serves the claims, and usually stays unclear itself."""
    program = SimulatedProgram(takes_s=factors(nice={5: 2.0}), noise=0.05)
    study = compare(program, Budget(launches=1000), {}, {"nice": 5}, null=True)
    assert study.done.reason is EndReason.DECIDED
    assert len(study.samples) < 100
    assert study.conclusion.noise_floor is not None
    assert [claim.b for claim in study.conclusion.claims] == ["nice=5"]


def test_comparison_with_one_working_arm_has_no_claim() -> None:
    program = replace(FLAT, fails=lambda c: float("nice" in c))
    study = compare(program, Budget(launches=100), {}, {"nice": 5}, null=True)
    assert study.done.reason is EndReason.WORKLOAD_FAILED
    assert len(study.samples) < 20


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("unit", ["launches", "time"])
def test_expected_cost_of_proof_suffices(null: bool, unit: str) -> None:
    """A study with that budget proves the claim."""
    program = SimulatedProgram(takes_s=factors(malloc={"tcmalloc": 0.7}, nice={5: 1.5, 10: 9.0}))
    small = Budget(launches=13) if unit == "launches" else Budget(time_s=14.0)
    for seed in range(5):
        first = tune(SMALL, replace(program, seed=seed), small, null=null, seed=seed)
        chosen = first.conclusion.recommendation
        assert chosen is not None
        if not chosen.unproven:
            continue
        assert chosen.proof is not None
        spent = len(first.samples)
        enough = (
            Budget(launches=spent + (chosen.proof.launches or 0))
            if unit == "launches"
            else Budget(time_s=14.0 + (chosen.proof.time_s or 0.0))
        )
        race = TuneRace(first.spec, SearchSpace(SMALL), TpeSearcher())
        race.use_rest()
        completed_race = run_race(race, replace(program, seed=seed), enough, told=first.samples)
        again = conclude(
            first.spec,
            completed_race.samples,
            SearchSpace(SMALL),
            TpeSearcher(),
            completed_race.done,
        )
        assert again.claims, completed_race.done
        assert again.claims[0].blocks >= 6


def test_suggested_budget_decides_every_arm_of_comparison() -> None:
    """With several arms each has a smaller share of the error rate, and takes more blocks."""
    arms: tuple[dict[str, int | str], ...] = ({}, {"nice": 5}, {"nice": 10}, {"nice": 15})
    program = SimulatedProgram(takes_s=factors(nice={5: 0.5, 10: 0.4, 15: 2.0}))
    first = compare(program, Budget(launches=10), *arms)
    assert first.done.reason is EndReason.TOO_SMALL
    assert first.done.needed is not None
    enough = Budget(launches=first.done.needed.launches)
    for seed in range(5):
        study = compare(replace(program, seed=seed), enough, *arms, seed=seed)
        verdicts = [claim.verdict for claim in study.conclusion.claims]
        assert verdicts == [Verdict.FASTER, Verdict.FASTER, Verdict.SLOWER]


def test_time_outs_count_as_at_least_their_cap() -> None:
    """An arm that hangs every other time does not count as fast."""

    class Hanging(SimulatedProgram):
        def run(self, launch):  # type: ignore[no-untyped-def]
            if launch.configuration and launch.block % 2:
                slow = replace(self, takes_s=lambda c: 1000.0)
                return SimulatedProgram.run(slow, launch)
            return super().run(launch)

    program = Hanging(takes_s=lambda c: 0.9 if c else 1.0, noise=0.01)
    study = compare(program, Budget(launches=82), {}, {"nice": 5}, timeout_s=10.0)
    (claim,) = study.conclusion.claims
    assert claim.censored_share == pytest.approx(0.5, abs=0.05)
    assert claim.verdict is not Verdict.FASTER
    assert any("count as at least that long" in note for note in study.conclusion.notes)
    assert any(arm.timeouts for arm in study.conclusion.arms)


def test_time_outs_have_no_value_of_another_metric() -> None:
    metric = Metric(name="fps", goal=Goal.HIGHER, pattern="x")
    program = SimulatedProgram(takes_s=lambda c: 99.0 if c else 1.0, metric=metric)
    study = compare(program, Budget(launches=40), {}, {"nice": 5}, timeout_s=10.0)
    assert any("they have no value of fps" in note for note in study.conclusion.notes)


def test_baseline_that_never_ends_gives_a_bound() -> None:
    program = SimulatedProgram(takes_s=lambda c: 0.1 if c else 99.0)
    study = compare(program, Budget(launches=200), {}, {"nice": 5}, timeout_s=10.0)
    (claim,) = study.conclusion.claims
    assert claim.verdict is Verdict.FASTER
    assert claim.bound_only
    assert study.done.reason is EndReason.DECIDED
    assert len(study.samples) < 40


def test_slow_configuration_does_not_win_by_being_stopped() -> None:
    program = SimulatedProgram(takes_s=lambda c: 40.0 if c.get("nice") == 5 else 1.0)
    study = tune(SMALL, program, Budget(launches=150))
    assert any(s.outcome is Outcome.TIMED_OUT for s in study.samples)
    assert "nice" not in study.settings


def test_occasionally_failing_default_is_reported() -> None:
    program = replace(GAIN, fails=lambda c: 0.0 if c else 0.25)
    found = [tune(SMALL, replace(program, seed=s), Budget(launches=300)) for s in range(6)]
    assert sum(study.settings.get("malloc") == "tcmalloc" for study in found) >= 5
    for study in found:
        assert any("launches failed" in note for note in study.conclusion.notes)
    assert any(study.conclusion.arms[0].failures > 0 for study in found)


def test_failed_first_launch_gives_no_time() -> None:
    """Budget and kind of search follow from launches that ended well."""

    class Stumbling(SimulatedProgram):
        def run(self, launch):  # type: ignore[no-untyped-def]
            if launch.block == 0 and launch.attempt == 0:
                return Sample(launch=launch, outcome=Outcome.FAILED, wall_s=0.001)
            return super().run(launch)

    study = tune(SMALL, Stumbling(takes_s=lambda c: 10.0), Budget(time_s=100.0))
    assert all(s.launch.timeout_s is None or s.launch.timeout_s > 10.0 for s in study.samples)
    assert len(study.samples) <= 11


def test_occasional_failures_of_winner_are_reported() -> None:
    program = replace(GAIN, fails=lambda c: 0.9 if c.get("malloc") == "tcmalloc" else 0.0)
    assert tune(SMALL, program, Budget(launches=200)).settings.get("malloc") != "tcmalloc"


def test_drift_affects_all_arms_equally() -> None:
    """The machine gets 2 % slower with every block: paired, that cancels out."""
    found = [
        tune(SMALL, replace(GAIN, drift=0.02, seed=s), Budget(launches=150), seed=s)
        for s in range(5)
    ]
    for study in found:
        assert study.claim is not None
        assert study.claim.ratio == pytest.approx(0.8, abs=0.05)


def test_unfinished_study_has_no_verdict() -> None:
    study = tune(SMALL, GAIN, Budget(launches=150))
    for count in range(len(study.samples)):
        found = conclude(study.spec, study.samples[:count], SearchSpace(SMALL), TpeSearcher(), None)
        assert "Interrupted" in found.stop_reason
        if not any(s.launch.stage is Stage.CONFIRM for s in study.samples[:count]):
            assert found.claims == ()
            assert found.recommendation is not None
            assert found.recommendation.status is not RecommendationStatus.PROVEN


def test_measurement_reaches_requested_precision() -> None:
    for precision in (0.05, 0.01):
        study = _measure(FLAT, Budget(launches=2000), precision)
        summary = study.conclusion.arms[0].summary["wall_s"]
        assert summary.ci is not None
        lo, hi = summary.ci
        assert lo is not None
        assert hi is not None
        assert (hi - lo) / 2 <= precision * summary.mean
        assert lo < math.exp(0.03**2 / 2) < hi
        warm = sum(s.launch.stage is Stage.SURVEY for s in study.samples)
    assert summary.n == len(study.samples) - warm, "the warm-up is not in it"


def _measure(program: SimulatedProgram, budget: Budget, precision: float | None = None) -> Study:
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload(program.metric),
        budget=budget,
        arms=(Arm(name="default", configuration=DEFAULT),),
        precision=precision,
    )
    return carry_out(spec, program)


@pytest.mark.parametrize("fails", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("launches", "precision"), [(25, None), (2000, 0.02)])
def test_launches_of_a_measurement_are_counted_once(
    fails: float, seed: int, launches: int, precision: float | None
) -> None:
    """The ending adds up to all launches, and agrees with the table."""
    program = replace(FLAT, fails=lambda c: fails, seed=seed)
    study = _measure(program, Budget(launches=launches), precision)
    (arm,) = study.conclusion.arms
    warm = sum(s.launch.stage is Stage.SURVEY for s in study.samples)
    parts = [f"{arm.summary['wall_s'].n} measured launches"]
    parts += [f"{arm.failures} without a value"] if arm.failures else []
    tally = f"{', '.join(parts)} and {warm} warm-up" + ("s" if warm > 1 else "")
    assert tally in study.conclusion.stop_reason
    assert arm.summary["wall_s"].n + arm.failures + warm == study.conclusion.launches
    lost = sum(s.launch.stage is Stage.SURVEY and not s.metrics for s in study.samples)
    for note in study.conclusion.notes:
        assert (f"({lost} during warm-up)" in note) == (lost > 0)


def _sentence(study: Study) -> str:
    assert study.conclusion.recommendation is not None
    return study.conclusion.recommendation.sentence


def test_every_launch_timed_out_is_a_failure() -> None:
    study = tune(SMALL, FLAT, Budget(launches=150), timeout_s=0.5)
    assert study.done.reason is EndReason.WORKLOAD_FAILED
    assert "timed out" in study.done.message


@pytest.mark.parametrize(("factor", "verdict"), [(0.5, Verdict.FASTER), (1.0, None)])
def test_constant_metric_ends_a_comparison(factor: float, verdict: Verdict | None) -> None:
    """Whole numbers as printed: far apart, or too coarse to differ."""
    metric = Metric(name="count", goal=Goal.LOWER, pattern="x")
    program = SimulatedProgram(
        takes_s=lambda c: 4.0 * (factor if c else 1.0), noise=0.0, metric=metric
    )
    study = compare(program, Budget(launches=10_000), {}, {"nice": 5})
    assert study.done.reason is EndReason.DECIDED
    assert len(study.samples) <= 44
    (claim,) = study.conclusion.claims
    assert claim.verdict is (verdict or Verdict.UNCLEAR)


@pytest.mark.parametrize(("fails", "wins"), [(0.0, True), (0.4, False)])
def test_winner_that_fails_more_often_than_the_default_is_no_gain(fails: float, wins: bool) -> None:
    program = SimulatedProgram(takes_s=factors(nice={5: 0.7}), fails=lambda c: fails if c else 0.0)
    studies = [
        tune(space_of(nice=(5,)), replace(program, seed=seed), Budget(launches=150), seed=seed)
        for seed in range(16)
    ]
    won = sum(bool(study.settings) for study in studies)
    assert won == len(studies) if wins else won <= len(studies) // 4
    if not wins:
        assert any("launches of nice=5 failed" in _sentence(study) for study in studies)


@pytest.mark.parametrize(
    ("arm", "default", "more"),
    [
        ((0, 9), (0, 9), False),
        ((1, 9), (0, 40), False),
        ((2, 15), (0, 40), True),
        ((3, 15), (8, 40), False),
        ((9, 15), (8, 40), True),
    ],
)
def test_arm_with_more_failures_is_not_better(
    arm: tuple[int, int], default: tuple[int, int], more: bool
) -> None:
    assert fails_more(arm, default) is more


def test_each_reason_to_keep_default_has_its_sentence() -> None:
    failing = replace(FLAT, fails=lambda c: float(bool(c)))
    assert "every other configuration that was tried failed" in _sentence(
        tune(SMALL, failing, Budget(launches=150))
    )
    assert "no other configuration" in _sentence(tune(space_of(), FLAT, Budget(launches=150)))
    slow = SimulatedProgram(takes_s=lambda c: 1.0 + 0.3 * len(c))
    assert "no configuration that was tried was better" in _sentence(
        tune(SMALL, slow, Budget(launches=150))
    )


def test_default_that_fails_as_well_is_reported() -> None:
    seeds = range(12)
    flaky = replace(FLAT, fails=lambda c: 1.0 if c else 0.34)
    studies = [
        tune(SMALL, replace(flaky, seed=seed), Budget(launches=150), seed=seed) for seed in seeds
    ]
    told = 0
    for study in studies:
        if "every other configuration" not in _sentence(study):
            continue
        default = [s for s in study.samples if s.launch.arm == "default"]
        counted = [s for s in default if s.launch.stage is not Stage.SURVEY]
        lost = sum(s.outcome is Outcome.FAILED for s in counted)
        too = f"The default failed too, in {lost} of {len(counted)} launches."
        assert (too in _sentence(study)) == (lost > 0)
        told += lost > 0
    assert told


def test_claim_and_a_noise_floor_share_the_error_rate() -> None:
    study = tune(SMALL, GAIN, Budget(launches=400), null=True)
    assert study.claim is not None
    assert study.conclusion.noise_floor is not None
    assert study.claim.alpha == study.conclusion.noise_floor.alpha == 0.025
    assert study.claim.blocks >= 7


def test_values_that_differ_in_the_seventh_digit_are_two_arms() -> None:
    good, bad = 1000000.25, 1000000.5
    program = SimulatedProgram(takes_s=factors(**{"arg.x": {good: 0.8, bad: 1.5}}), noise=0.01)
    study = tune(space_of(**{"arg.x": (good, bad)}), program, Budget(launches=150))
    assert study.settings == {"arg.x": good}


@pytest.mark.rotating
def test_undecided_reduction_leaves_answer_to_confirmation() -> None:
    """Under noise each single setting seems idle, which proves nothing about all of them."""
    program = SimulatedProgram(takes_s=factors(**{"arg.j": {4: 0.82}}), noise=0.3)
    space = space_of(**{"arg.j": (1, 2, 4)}, nice=(5, 10), malloc=("a", "b"))
    found = [
        tune(space, replace(program, seed=seed), Budget(launches=300), seed=seed)
        for seed in range(16)
    ]
    assert sum(study.claim is None for study in found) <= 2


def test_launches_exceed_the_budget_by_little() -> None:
    program = SimulatedProgram(takes_s=lambda c: 1000.0)
    study = tune(SMALL, program, Budget(time_s=5.0))
    assert len(study.samples) == 1
    assert study.samples[0].launch.timeout_s == pytest.approx(5.0)


def test_missing_metric_is_not_reported_as_failure() -> None:
    """The program ends well; the ending names the metric."""
    metric = Metric(name="rate", goal=Goal.LOWER, pattern="x")
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=Workload(argv=("x",), metrics=(metric,)),
        arms=(Arm(name="default", configuration=DEFAULT),),
        budget=Budget(launches=40),
        disturbed_above=None,
    )
    race = MeasureRace(spec)
    samples: list[Sample] = []
    while not isinstance(answer := race.ask(1, Budget(launches=40 - len(samples))), Ending):
        (launch,) = answer
        told = {"rate": 1.0} if len(samples) < 3 else {}
        samples.append(
            Sample(
                launch=launch,
                outcome=Outcome.OK,
                wall_s=0.1,
                metrics=told,
                unavailable={} if told else {"rate": "no match of 'x' in the output"},
            )
        )
        race.tell(samples[-1])
    assert answer.reason is EndReason.WORKLOAD_FAILED
    assert "rate" in answer.message
    assert "no match" in answer.message


def test_sufficient_budget_includes_time_of_hooks() -> None:
    """Two seconds before each launch of a tenth of a second."""
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=Workload(argv=("x",)),
        arms=(Arm(name="default", configuration=DEFAULT),),
        budget=Budget(time_s=3.0),
        disturbed_above=None,
    )
    race, left_s = MeasureRace(spec), 3.0
    while not isinstance(answer := race.ask(1, Budget(time_s=left_s)), Ending):
        (launch,) = answer
        left_s -= 2.1
        race.tell(Sample(launch=launch, outcome=Outcome.OK, wall_s=0.1, metrics={"wall_s": 0.1}))
    assert answer.reason is EndReason.TOO_SMALL
    assert answer.needed is not None
    assert answer.needed.time_s is not None
    assert answer.needed.time_s > 6 * 2.1
