"""Values of 0 in some or all launches of an arm: unclear, never failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import pytest
from simulated_studies import carry_out, compare, space_of, tune, workload

from assay.records import (
    Arm,
    Budget,
    Configuration,
    Kind,
    Launch,
    Metric,
    RecommendationStatus,
    Sample,
    Stage,
    StudySpec,
    Verdict,
)
from assay.search.conclusion.cells import best_claim
from assay.search.conclusion.conclude import conclude
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.losses import count_losses
from assay.search.races.race import EndReason
from assay.search.races.sweep import SweepRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import RandomSearcher, SimulatedProgram, run_race
from assay.wording.sentence import comparison
from assay.wording.sweep import sweep_sentences

MISSES = Metric(name="misses", pattern="([0-9]+)", goal_assumed=True)


@dataclass(frozen=True)
class Counting(SimulatedProgram):
    """Program whose value is 0 in the launches that ``zero`` selects."""

    zero: Callable[[Launch], bool] = lambda launch: False

    def run(self, launch: Launch) -> Sample:
        sample = super().run(launch)
        if not self.zero(launch):
            return sample
        return msgspec.structs.replace(sample, metrics={**sample.metrics, "misses": 0.0})


def counting(zero: Callable[[Launch], bool]) -> Counting:
    """Return a program whose setting has no effect but zeros."""
    return Counting(takes_s=lambda c: 1.0, noise=0.05, metric=MISSES, zero=zero)


def is_default(launch: Launch) -> bool:
    return not launch.configuration


def test_zero_in_first_launch_only_permits_a_verdict() -> None:
    first = counting(lambda launch: launch.stage is Stage.SURVEY)
    study = compare(first, Budget(launches=200), {}, {"nice": 5})
    assert study.claim is not None and not study.claim.verdict_withheld
    assert study.claim.blocks > 50
    assert any("misses is 0 or less in 2 of" in note for note in study.conclusion.notes)


@pytest.mark.parametrize("of_default", [True, False])
def test_arm_of_zeros_alone_is_unclear_with_name_and_count(of_default: bool) -> None:
    program = counting(lambda launch: is_default(launch) == of_default)
    study = compare(program, Budget(launches=40), {}, {"nice": 5})
    found = study.claim
    assert study.done.reason is EndReason.DECIDED and found is not None
    assert (found.verdict, found.verdict_withheld, found.blocks) == (Verdict.UNCLEAR, True, 0)
    told = comparison(found, MISSES)
    arm = "default" if of_default else "nice=5"
    assert told.startswith("No verdict on nice=5 against default: misses is 0 or less in 6 of 6")
    assert f"of {arm}, and comparisons use ratios of positive values" in told


def test_zeros_in_a_third_of_the_launches_are_unclear() -> None:
    study = compare(
        counting(lambda launch: is_default(launch) and launch.block % 3 == 0),
        Budget(launches=60),
        {},
        {"nice": 5},
    )
    assert study.claim is not None and study.claim.verdict is Verdict.UNCLEAR
    assert "misses is 0 or less in" in str(study.claim.data_problem)


@pytest.mark.parametrize("of_default", [True, False])
def test_tune_names_the_arm_with_zeros(of_default: bool) -> None:
    program = counting(lambda launch: is_default(launch) == of_default)
    found = tune(space_of(nice=(1, 2)), program, Budget(launches=40)).conclusion.recommendation
    assert found is not None and found.status is RecommendationStatus.DEFAULT
    arm = "default" if of_default else "nice="
    assert "is better, since misses is 0 or less in" in found.sentence
    assert f" of {arm}" in found.sentence
    assert "fail" not in found.sentence


def test_tune_continues_after_zero_in_first_launch() -> None:
    zero = counting(lambda launch: launch.block == 1 and is_default(launch))
    program = Counting(
        takes_s=lambda c: 0.5 if c.get("nice") == 2 else 1.0, metric=MISSES, zero=zero.zero
    )
    found = tune(space_of(nice=(1, 2)), program, Budget(launches=120))
    assert found.settings == {"nice": 2}


def swept(zero: Callable[[Launch], bool]) -> tuple[EndReason, list[str], set[Verdict]]:
    arms = (
        DEFAULT_ARM,
        *(Arm(name=f"n={n}", configuration=Configuration({"nice": n})) for n in (1, 2)),
    )
    spec = StudySpec(
        kind=Kind.SWEEP,
        workload=workload(MISSES),
        budget=Budget(launches=60),
        arms=arms,
        disturbed_above=None,
    )
    completed_race = run_race(SweepRace(spec), counting(zero), spec.budget)
    found = conclude(
        spec, completed_race.samples, SearchSpace(spec.space), RandomSearcher(), completed_race.done
    )
    verdicts = {claim.verdict for claim in found.claims}
    return completed_race.done.reason, sweep_sentences(found, MISSES, best_claim(found)), verdicts


def test_sweep_with_a_baseline_of_zeros_is_not_decided() -> None:
    reason, told, verdicts = swept(is_default)
    assert reason is EndReason.DECIDED
    assert told[0].startswith("Not decided: ") and "misses is 0 or less in " in told[0]
    assert "launches of default" in told[0]
    assert verdicts == {Verdict.UNCLEAR}


def test_sweep_with_a_cell_of_zeros_has_it_unclear() -> None:
    _, _, verdicts = swept(lambda launch: launch.arm == "n=2")
    assert Verdict.UNCLEAR in verdicts


def test_mean_of_a_measurement_counts_zeros() -> None:
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload(MISSES),
        budget=Budget(launches=21),
        arms=(DEFAULT_ARM,),
        warmup=1,
        disturbed_above=None,
    )
    study = carry_out(spec, counting(lambda launch: launch.block % 2 == 0))
    summary = study.conclusion.arms[0].summary["misses"]
    assert (summary.n, summary.min) == (20, 0.0)
    assert summary.mean == pytest.approx(summary.max / 2, rel=0.2)
    assert study.done.reason is EndReason.BUDGET, "the mean of the others is known, theirs is not"


def test_zero_values_are_not_losses() -> None:
    third = counting(lambda launch: is_default(launch) and launch.block % 3 == 0)
    study = compare(third, Budget(launches=40), {}, {"nice": 5})
    history = History.of(study.spec, study.samples)
    assert count_losses(history, DEFAULT_ARM)[0] == 0
    assert not history.has_failed_block(Stage.CONFIRM, "default")
