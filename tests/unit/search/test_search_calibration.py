"""Calibrations: known series of values, and whole studies."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from simulated_studies import carry_out, workload

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Kind,
    Outcome,
    Stage,
    StudySpec,
    Verdict,
    decode,
    encode,
)
from assay.search.claims.calibration import (
    GAINS,
    MAX_SIMULATED_BLOCKS,
    MAX_STUDY_BLOCKS,
    MIN_BLOCKS,
    SIMULATED_STUDIES,
    autocorrelation,
    calibration_of,
)
from assay.search.history.history import History
from assay.search.races.calibrate import CalibrateRace, calibrated_arms, recording
from assay.search.races.race import EndReason, Race
from assay.stats.confidence_sequence import MIN_CLAIM_VALUES
from assay.stats.drift import drift_ratio
from assay.testing.search_contracts import RaceContract, SimulatedProgram, run_race
from assay.wording.disturbance import disturbance_sentence

Recording = list[tuple[float, float]]
LIMIT = 0.05 + 2.0 * math.sqrt(0.05 * 0.95 / SIMULATED_STUDIES)


def independent(blocks: int, sd: float = 0.02, seed: int = 1) -> Recording:
    draw = random.Random(seed)

    def value() -> float:
        return 0.05 * math.exp(draw.gauss(0.0, sd))

    return [(value(), value()) for _ in range(blocks)]


def drifting(blocks: int, sd: float = 0.002) -> Recording:
    """Return values that become a fifth slower."""
    return [
        (a * (1.0 + 0.2 * k / blocks), b * (1.0 + 0.2 * (k + 0.5) / blocks))
        for k, (a, b) in enumerate(independent(blocks, sd))
    ]


def wandering(blocks: int) -> Recording:
    """Return values close to the previous one."""
    draw, at, logs = random.Random(2), 0.0, []
    for _ in range(2 * blocks):
        at = 0.9 * at + draw.gauss(0.0, 0.02)
        logs.append(at)
    values = [0.05 * math.exp(log) for log in logs]
    return list(zip(values[::2], values[1::2], strict=True))


# --- figures ------------------------------------------------------------------------------------


def test_independent_launches() -> None:
    found = calibration_of(independent(300), budgets_s=(60.0, 600.0))
    assert found is not None
    assert found.median == pytest.approx(0.05, rel=0.01)
    assert found.sd_log == pytest.approx(0.02, rel=0.1)
    assert found.ratio_sd_log == pytest.approx(0.02 * math.sqrt(2.0), rel=0.1)
    assert found.drift == pytest.approx(1.0, abs=0.01)
    assert found.autocorrelation == pytest.approx(0.0, abs=0.12)
    assert found.false_verdicts is not None
    assert found.false_verdicts.share <= LIMIT
    assert found.false_verdicts.blocks == MAX_STUDY_BLOCKS
    soon, late = (gain.gain for gain in found.gains)
    assert soon is not None and late is not None
    assert late < soon


def test_smallest_gain_is_about_the_width_of_the_interval() -> None:
    """For Gaussian noise: critical t times the standard error, plus the power."""
    (found,) = _gains(independent(400), 60.0)
    blocks = 60.0 / (2 * 0.055) - 1
    error = 0.02 * math.sqrt(2.0) / math.sqrt(blocks)
    assert found.blocks == math.floor(blocks)
    assert found.gain is not None
    assert 3.0 * error < found.gain < 7.0 * error


def test_noise_makes_the_smallest_gain_larger() -> None:
    (quiet,), (loud,) = (_gains(independent(100, sd), 60.0) for sd in (0.005, 0.05))
    assert quiet.gain is not None and loud.gain is not None
    assert 5.0 * quiet.gain < loud.gain


def _gains(recorded: Recording, *budgets_s: float):
    found = calibration_of(recorded, budgets_s=budgets_s)
    assert found is not None
    return found.gains


def test_drifting_machine() -> None:
    found = calibration_of(drifting(200), budgets_s=())
    assert found is not None
    assert found.drift == pytest.approx((1 + 0.2 * 5 / 6) / (1 + 0.2 / 6), rel=0.01)
    assert found.autocorrelation is not None and found.autocorrelation > 0.9
    assert found.ratio_sd_log < 0.1 * found.sd_log, "the drift is not between launches of a block"
    assert found.false_verdicts is not None
    assert found.false_verdicts.share <= LIMIT


def test_wandering_machine() -> None:
    found = calibration_of(wandering(200), budgets_s=())
    assert found is not None and found.false_verdicts is not None
    assert found.autocorrelation == pytest.approx(0.9, abs=0.05)
    assert found.false_verdicts.share <= LIMIT


@pytest.mark.rotating
def test_position_in_the_block_makes_no_false_verdicts() -> None:
    slower = [(a, 1.02 * b) for a, b in independent(150, 0.004)]
    found = calibration_of(slower, budgets_s=())
    assert found is not None and found.false_verdicts is not None
    assert found.position == pytest.approx(1.02, abs=0.002)
    assert found.false_verdicts.share <= LIMIT


def test_budgets_of_too_few_and_too_many_blocks() -> None:
    none, few, much = _gains(independent(30), 0.1, 1.0, 3600.0)
    assert (none.blocks, none.gain) == (0, None)
    assert few.blocks >= MIN_CLAIM_VALUES
    assert much.blocks > MAX_SIMULATED_BLOCKS == much.simulated_blocks


def test_budget_without_provable_gain_has_none() -> None:
    draw = random.Random(1)
    wild = [(draw.lognormvariate(0, 3), draw.lognormvariate(0, 3)) for _ in range(60)]
    (found,) = _gains(wild, 60.0)
    assert found.gain is None


def test_few_recorded_blocks_give_no_verdicts_and_no_gains() -> None:
    few = calibration_of(independent(MIN_BLOCKS - 1))
    assert few is not None
    assert few.false_verdicts is None
    assert few.gains == ()
    assert calibration_of(independent(1)) is None
    assert calibration_of(independent(MIN_BLOCKS)).false_verdicts is not None  # type: ignore[union-attr]


def test_figures_follow_from_recording_and_seed() -> None:
    recorded = independent(60)
    first, again = (calibration_of(recorded, seed=3, budgets_s=(30.0,)) for _ in range(2))
    assert encode(first) == encode(again)
    other = calibration_of(recorded, seed=4, budgets_s=(30.0,))
    assert other is not None and first is not None
    assert other.sd_log == first.sd_log


def test_drift_and_autocorrelation_of_few_or_equal_values() -> None:
    assert drift_ratio([1.0] * 8) is None
    assert drift_ratio([1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 2.0, 2.0, 2.0]) == 2.0
    assert autocorrelation([1.0, 2.0]) is None
    assert autocorrelation([3.0] * 10) is None
    assert autocorrelation([1.0, -1.0] * 50) == pytest.approx(-0.99)


def test_simulated_gains_range_up_to_one_half() -> None:
    assert GAINS[0] == 0.001
    assert 0.45 < GAINS[-1] < 0.55


# --- studies ------------------------------------------------------------------------------------

SAME = SimulatedProgram(takes_s=lambda configuration: 0.05, noise=0.02)


def spec_of(budget: Budget, seed: int = 0, disturbed_above: float | None = 0.1) -> StudySpec:
    return StudySpec(
        kind=Kind.CALIBRATE,
        workload=workload(),
        budget=budget,
        arms=(Arm(name="default", configuration=DEFAULT),),
        seed=seed,
        disturbed_above=disturbed_above,
    )


class TestCalibrateRace(RaceContract):
    def spec(self, budget: Budget, seed: int = 0, timeout_s: float | None = None) -> StudySpec:
        return StudySpec(
            kind=Kind.CALIBRATE,
            workload=workload(timeout_s=timeout_s),
            budget=budget,
            arms=(Arm(name="default", configuration=DEFAULT),),
            seed=seed,
        )

    def race(self, spec: StudySpec) -> Race:
        return CalibrateRace(spec)


def test_whole_calibration() -> None:
    study = carry_out(spec_of(Budget(launches=121)), SAME)
    found = study.conclusion
    assert study.done.reason is EndReason.BUDGET
    assert found.blocks == 60
    assert [arm.name for arm in found.arms] == ["default", "default (again)"]
    assert found.claims == ()
    assert found.noise_floor is not None
    assert found.noise_floor.verdict in (Verdict.SAME, Verdict.UNCLEAR)
    assert found.calibration is not None and found.calibration.false_verdicts is not None
    assert found.notes == ()
    assert decode(encode(found), type(found)) == found


def test_warm_up_launch_is_not_recorded() -> None:
    study = carry_out(spec_of(Budget(launches=41)), SAME)
    history = History.of(study.spec, study.samples)
    assert [s.launch.stage for s in study.samples[:2]] == [Stage.SURVEY, Stage.CONFIRM]
    recorded = recording(study.spec, history)
    values = [s.wall_s for s in study.samples[1:]]
    assert [value for block in recorded for value in block] == values


def test_disturbed_blocks_are_counted_and_left_out() -> None:
    busy = replace(SAME, others=lambda launch: 1.0 if launch.block % 5 == 4 else 0.0)
    study = carry_out(spec_of(Budget(launches=151)), busy)
    found = study.conclusion
    assert 0.15 < found.disturbed_blocks / found.blocks < 0.25
    assert found.calibration is not None
    assert found.calibration.sd_log < 0.03, "the disturbed launches take twice as long"
    assert any("the table leaves them out" in note for note in found.notes)
    recorded = recording(study.spec, History.of(study.spec, study.samples))
    assert len(recorded) == found.blocks - found.disturbed_blocks


def test_calibration_with_disturbed_blocks_only() -> None:
    busy = replace(SAME, others=lambda launch: 1.0)
    study = carry_out(spec_of(Budget(launches=61)), busy)
    found = study.conclusion
    assert found.disturbed_blocks == found.blocks == 30
    assert found.noise_floor is not None
    assert found.noise_floor.disturbed_blocks == 30
    assert all(arm.disturbed_launches == arm.summary["wall_s"].n == 30 for arm in found.arms)
    assert "the figures of a disturbed machine" in disturbance_sentence(found, study.spec)


def test_uneven_load_leaves_the_floor_to_undisturbed_blocks() -> None:
    busy = replace(SAME, others=lambda launch: float(launch.block % 4 == launch.position))
    found = carry_out(spec_of(Budget(launches=121)), busy).conclusion
    assert found.noise_floor is not None
    assert not found.noise_floor.verdict_withheld
    assert found.noise_floor.disturbed_blocks == 0
    assert 0 < found.disturbed_blocks == found.blocks - found.noise_floor.blocks


def test_slower_second_launch_makes_no_difference() -> None:
    slow = replace(SAME, others=lambda launch: 0.1 * launch.position)
    study = carry_out(spec_of(Budget(launches=101), disturbed_above=None), slow)
    assert study.conclusion.noise_floor is not None
    assert study.conclusion.noise_floor.verdict is not Verdict.FASTER


def test_too_few_blocks_name_missing_number() -> None:
    found = carry_out(spec_of(Budget(launches=15)), SAME).conclusion
    assert found.calibration is not None
    assert found.calibration.false_verdicts is None
    assert any(str(MIN_BLOCKS) in note for note in found.notes)


def test_too_small_budget_names_sufficient_one() -> None:
    done = run_race(CalibrateRace(spec_of(Budget(launches=8))), SAME, Budget(launches=8)).done
    assert done.reason is EndReason.TOO_SMALL
    assert done.needed is not None and done.needed.launches == 1 + 2 * MIN_CLAIM_VALUES
    enough = carry_out(spec_of(Budget(launches=done.needed.launches)), SAME)
    assert enough.done.reason is EndReason.BUDGET
    assert enough.conclusion.noise_floor is not None


def test_program_that_fails() -> None:
    broken = replace(SAME, fails=lambda configuration: 1.0)
    completed_race = run_race(
        CalibrateRace(spec_of(Budget(launches=40))), broken, Budget(launches=40)
    )
    assert completed_race.done.reason is EndReason.WORKLOAD_FAILED
    assert {s.outcome for s in completed_race.samples} == {Outcome.FAILED}
    assert len(completed_race.samples) <= 6


def test_arms_share_a_configuration() -> None:
    first, second = calibrated_arms(spec_of(Budget()))
    assert first.configuration == second.configuration
    assert first.name != second.name
