"""Blocks that other processes disturbed, and loads that correlate with arms."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest
from simulated_studies import carry_out, compare, factors, space_of, tune, workload

from assay.partition.names import PARTITION_KIND
from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    DisturbanceSource,
    Evidence,
    Kind,
    Launch,
    Outcome,
    Sample,
    Stage,
    StudySpec,
    Verdict,
)
from assay.records.workload import WALL
from assay.search.history.arm_result import result_of
from assay.search.history.correlated_load import correlated_load_of
from assay.search.history.disturbance import ForeignLoad, OutsideLoad, is_mostly_disturbed
from assay.search.history.history import History
from assay.testing.search_contracts import SimulatedProgram
from assay.wording.disturbance import disturbance_sentence
from assay.wording.sentence import comparison

GAIN = SimulatedProgram(takes_s=factors(nice={1: 0.8}), noise=0.02)
BUDGET = Budget(launches=60)


def now_and_then(share: float, busy: float = 1.0) -> SimulatedProgram:
    """Return a load of one CPU in a share of the blocks."""
    return replace(
        GAIN, others=lambda launch: busy * (random.Random(launch.block).random() < share)
    )


def always(launch: Launch) -> float:
    return 1.0


def sample(wall_s: float, **evidence: float) -> Sample:
    launch = Launch(configuration=DEFAULT, arm="a", stage=Stage.CONFIRM, block=0, position=0)
    return Sample(
        launch=launch,
        outcome=Outcome.OK,
        wall_s=wall_s,
        evidence=tuple(Evidence(kind=k, value=v, external=True) for k, v in evidence.items()),
    )


def test_claim_uses_undisturbed_blocks_if_more_informative() -> None:
    study = compare(now_and_then(0.2, busy=1.5), BUDGET, {}, {"nice": 1})
    conclusion = study.conclusion
    disturbed = {
        s.launch.block
        for s in study.samples
        if s.launch.stage is Stage.CONFIRM
        and any(e.kind == "foreign_load" and (e.value or 0.0) > 0.0 for e in s.evidence)
    }
    assert disturbed
    assert conclusion.disturbed_blocks == len(disturbed)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.FASTER
    assert study.claim.alpha == pytest.approx(0.025)
    assert all(arm.disturbed_launches == 0 for arm in conclusion.arms)
    quiet = conclusion.blocks - len(disturbed)
    assert all(arm.summary["wall_s"].n == quiet for arm in conclusion.arms)
    assert any("the table leaves them out" in note for note in conclusion.notes)


def uneven(launch: Launch) -> float:
    """Return a load of 1.5 CPUs during one launch of some blocks."""
    return 1.5 * (launch.block % 3 > 0 and launch.position == launch.block % 2)


def test_claim_uses_all_blocks_if_most_were_disturbed() -> None:
    study = compare(replace(GAIN, others=always), BUDGET, {}, {"nice": 1})
    conclusion = study.conclusion
    assert study.claim is not None
    assert study.claim.verdict is Verdict.FASTER
    assert not study.claim.verdict_withheld
    assert study.claim.disturbed_blocks == study.claim.blocks == conclusion.blocks
    for arm in conclusion.arms:
        assert arm.disturbed_launches == arm.summary["wall_s"].n == conclusion.blocks
    assert any("the table includes them" in note for note in conclusion.notes)
    assert any("the order within each is random" in note for note in conclusion.notes)


def test_uneven_load_leaves_the_claim_to_the_undisturbed_blocks() -> None:
    study = compare(replace(GAIN, others=uneven), BUDGET, {}, {"nice": 1})
    assert study.claim is not None
    assert study.claim.verdict is Verdict.FASTER
    assert study.claim.disturbed_blocks == 0
    assert study.claim.blocks == study.conclusion.blocks - study.conclusion.disturbed_blocks


def test_tuning_on_a_disturbed_machine_has_an_answer() -> None:
    study = tune(space_of(nice=(1,)), replace(GAIN, others=always), BUDGET)
    assert study.settings == {"nice": 1}
    assert study.conclusion.recommendation is not None
    found = study.conclusion.recommendation.claim
    assert found is not None
    assert found.disturbed_blocks == found.blocks


def test_undecided_study_names_the_load_and_the_next_command() -> None:
    alike = replace(GAIN, takes_s=lambda c: 1.0, noise=0.3, others=always)
    study = compare(alike, Budget(launches=24), {}, {"nice": 1})
    said = disturbance_sentence(study.conclusion, study.spec)
    assert "Other processes disturbed 11 of 11 blocks" in said
    assert "--reserve" in said
    assert "--disturbed-above" in said
    admitted = compare(alike, Budget(launches=24), {}, {"nice": 1}, disturbed_above=None)
    assert disturbance_sentence(admitted.conclusion, admitted.spec) == ""


# --- loads correlated with the arms -----------------------------------------------------------


def during(arm: str, busy: float = 1.0) -> Callable[[Launch], float]:
    """Return a load while one arm runs."""
    return lambda launch: busy * (launch.arm == arm)


def test_correlated_load_withholds_verdict_and_is_named() -> None:
    program = replace(GAIN, takes_s=lambda c: 1.0, others=during("nice=1"))
    study = compare(program, BUDGET, {}, {"nice": 1})
    assert study.claim is not None
    assert study.claim.verdict_withheld
    assert study.claim.verdict is Verdict.UNCLEAR
    assert study.claim.correlated_load is not None
    assert study.claim.correlated_load.a == pytest.approx(0.0)
    assert study.claim.correlated_load.b == pytest.approx(0.5)
    said = comparison(study.claim, WALL, (DisturbanceSource(name="burn (process 7)", cpus=0.9),))
    assert (
        "Other processes (most: burn (process 7), 0.90 CPUs) used 50 % of the CPUs while nice=1 "
        "ran and 0 % while default ran" in said
    )
    assert "--disturbed-above never" in said
    asked = compare(program, BUDGET, {}, {"nice": 1}, disturbed_above=None)
    assert asked.claim is not None
    assert asked.claim.verdict is Verdict.SLOWER


def test_weak_load_is_not_tested_for_correlation() -> None:
    study = compare(replace(GAIN, others=during("nice=1", 0.15)), BUDGET, {}, {"nice": 1})
    assert study.claim is not None
    assert not study.claim.verdict_withheld


def test_displaced_load_is_not_correlated_with_arm() -> None:
    """An arm with more threads leaves less to a load that uses all free CPUs."""

    def busy(sample: Sample) -> Sample:
        own = 1.9 if sample.launch.arm == "nice=1" else 1.0
        wall_s = sample.wall_s or 0.0
        foreign = Evidence(kind="foreign_load", value=(2.0 - own) * wall_s, unit="s", external=True)
        kept = tuple(e for e in sample.evidence if e.kind != "foreign_load")
        return msgspec.structs.replace(
            sample, user_s=own * wall_s, sys_s=0.0, evidence=(*kept, foreign)
        )

    study = compare(replace(GAIN, others=always), BUDGET, {}, {"nice": 1})
    history = History.of(study.spec, [busy(s) for s in study.samples])
    shares = [history.foreign_load(Stage.CONFIRM, n).share for n in ("default", "nice=1")]
    assert shares == pytest.approx([0.5, 0.05])
    assert correlated_load_of(history, ["default"], ["nice=1"], 0.05, 0.1) is None
    greedy = History.of(study.spec, [s for s in study.samples if s.launch.arm == "default"])
    assert correlated_load_of(greedy, ["default"], ["nice=1"], 0.05, 0.1) is None


def test_few_blocks_are_not_read_for_a_correlated_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large sweep has few blocks and many arms, whose launches lie in many packed chunks."""
    read: list[str] = []
    original = History.samples_of

    def counted(history: History, stage: Stage, arm: str) -> list[Sample]:
        read.append(arm)
        return original(history, stage, arm)

    monkeypatch.setattr(History, "samples_of", counted)
    busy = replace(GAIN, others=lambda launch: float(launch.arm == "default"))
    for launches, reads in ((8, False), (60, True)):
        study = compare(busy, Budget(launches=launches), {}, {"nice": 1})
        history = History.of(study.spec, study.samples)
        read.clear()
        found = correlated_load_of(history, ["default"], ["nice=1"], 0.05, 0.1)
        assert bool(read) is reads
        assert (found is not None) is reads


def test_foreign_load_is_the_sum_of_processes() -> None:
    one = ForeignLoad().with_launch(sample(2.0, foreign_load=1.0, host_cpus=2.0))
    assert not ForeignLoad().known
    assert (one.share, one.share_of_remainder) == (0.25, 0.25)
    assert one.plus(one).share == 0.25
    assert ForeignLoad().with_launch(sample(2.0, host_cpus=2.0)) == ForeignLoad()
    full = msgspec.structs.replace(
        sample(2.0, foreign_load=0.0, host_cpus=2.0), user_s=3.99, sys_s=0.0
    )
    assert ForeignLoad().with_launch(full).share_of_remainder == 1.0


def test_termination_counts_as_time_of_other_processes() -> None:
    """The readings of the CPUs include the time of a requested termination."""
    ended = sample(1.0, termination=3.0, foreign_load=2.0, host_cpus=2.0)
    assert ForeignLoad().with_launch(ended).share == 0.25
    assert OutsideLoad().with_launch(ended).capacity_s == 8.0


def test_limit_of_disturbance_can_be_raised() -> None:
    study = compare(replace(GAIN, others=always), BUDGET, {}, {"nice": 1}, disturbed_above=None)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.FASTER
    assert study.conclusion.disturbed_blocks == 0


def test_excluded_blocks_are_independent_of_arms_and_values() -> None:
    program = now_and_then(0.3)
    slow = replace(program, takes_s=lambda c: 5.0 if "nice" in c else 1.0)
    budget = Budget(launches=24)
    studies = [compare(which, budget, {}, {"nice": 1}) for which in (program, slow)]
    histories = [History.of(study.spec, study.samples) for study in studies]
    shared = set.intersection(*(set(h.complete(Stage.CONFIRM)) for h in histories))
    undisturbed_blocks = [shared & set(h.undisturbed_blocks(Stage.CONFIRM)) for h in histories]
    assert undisturbed_blocks[0] == undisturbed_blocks[1]
    assert len(shared) > len(undisturbed_blocks[0]) > 0


@pytest.mark.parametrize(
    ("share", "disturbed"), [(0.0, False), (0.05, False), (0.2, True), (1.0, True)]
)
def test_share_of_other_processes_decides_disturbance(share: float, disturbed: bool) -> None:
    conditions = OutsideLoad()
    for _ in range(2):
        conditions = conditions.with_launch(sample(2.0, foreign_load=share * 4.0, host_cpus=2.0))
    assert conditions.disturbed(0.1) is disturbed
    assert not conditions.disturbed(None)


def test_steal_time_counts_as_load() -> None:
    assert OutsideLoad().with_launch(sample(2.0, steal=2.0, host_cpus=2.0)).disturbed(0.1)


def test_resolution_of_the_counter_is_no_disturbance() -> None:
    """A launch of 5 ms in which one tick of 10 ms fell to another process."""
    conditions = OutsideLoad()
    for tick_s in (0.01, 0.0):
        conditions = conditions.with_launch(sample(0.005, foreign_load=tick_s, host_cpus=2.0))
    assert conditions.share == 0.0


def test_samples_without_evidence_are_undisturbed() -> None:
    assert OutsideLoad().with_launch(sample(1.0)).share == 0.0
    assert OutsideLoad().with_launch(sample(1.0, throttled=5.0, host_cpus=2.0)).share == 0.0


def test_up_to_a_third_of_blocks_may_be_excluded() -> None:
    assert not is_mostly_disturbed(2, 6)
    assert is_mostly_disturbed(3, 6)
    assert not is_mostly_disturbed(0, 0)


def test_ending_counts_blocks_of_the_claim() -> None:
    study = compare(now_and_then(0.2), BUDGET, {}, {"nice": 1})
    assert study.claim is not None
    lost = study.conclusion.disturbed_blocks
    assert lost
    counted = f"after {study.conclusion.blocks} blocks ({lost} of them disturbed)"
    assert counted in study.conclusion.stop_reason


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_end_of_measurement_counts_launches_of_the_mean(share: float) -> None:
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload(),
        budget=Budget(launches=30),
        arms=(Arm(name="default", configuration=DEFAULT),),
    )
    found = carry_out(spec, now_and_then(share)).conclusion
    counted = found.arms[0].summary["wall_s"].n
    assert f"after {counted} measured launches" in found.stop_reason
    assert ("left out" in found.stop_reason) == (share < 1.0)


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_end_of_tuning_counts_blocks_of_the_mean(share: float) -> None:
    study = tune(space_of(nice=(1,)), now_and_then(share), Budget(launches=200))
    recommended = study.conclusion.recommendation
    assert recommended is not None
    assert recommended.claim is not None
    lost = study.conclusion.disturbed_blocks
    assert bool(lost) is bool(share)
    left_out = f" ({lost} disturbed ones left out)" if lost else ""
    if recommended.claim.disturbed_blocks:
        left_out = f" ({lost} of them disturbed)"
    blocks = f"after {recommended.claim.blocks} confirmation blocks{left_out}"
    assert blocks in study.conclusion.stop_reason


def test_block_in_which_a_partition_did_not_hold_is_disturbed() -> None:
    held = OutsideLoad().with_launch(sample(1.0, host_cpus=2.0, foreign_load=0.0))
    assert not held.disturbed(0.1)
    note = Evidence(kind=PARTITION_KIND, external=True, note="isolated became isolated invalid")
    lost = msgspec.structs.replace(sample(1.0), evidence=(note,))
    for conditions in (
        held.with_launch(lost),
        OutsideLoad().with_launch(lost).with_launch(sample(1.0)),
    ):
        assert conditions.disturbed(0.1)
        assert not conditions.disturbed(None)


def test_disturbed_launches_are_counted_among_those_with_a_value() -> None:
    program = SimulatedProgram(takes_s=lambda c: 0.1, noise=0.02, others=lambda launch: 0.8)
    study = compare(program, Budget(launches=40), {}, {"nice": 5}, disturbed_above=0.1)
    mute = [
        msgspec.structs.replace(sample, metrics={}) if sample.launch.block % 5 == 4 else sample
        for sample in study.samples
    ]
    history = History.of(study.spec, mute)
    found = result_of(study.spec, history, Stage.CONFIRM, study.spec.arms[0])
    assert (
        0
        < found.disturbed_launches
        == found.summary["wall_s"].n
        < len(history.blocks(Stage.CONFIRM))
    )
