"""Notes on reported values: findings, steady parts, running means, launches that assay ended."""

from __future__ import annotations

import math
import random
from typing import Any

import msgspec
import pytest

from assay.executors.progress.notices import FirstNotices, Notice
from assay.records import (
    DEFAULT,
    ArmResult,
    Budget,
    Derivation,
    DerivationKind,
    Evidence,
    Goal,
    Kind,
    Launch,
    Metric,
    Outcome,
    Progress,
    Sample,
    Series,
    Stage,
    SteadyPart,
    StudySpec,
    Until,
    Workload,
)
from assay.search.conclusion.constant_speed import contradicted_speeds
from assay.search.conclusion.progress_notes import progress_notes
from assay.search.history.first_launch import first_launch_notes
from assay.search.history.one_time_costs import FirstLaunches
from assay.stats.summary import summarise

SPEED = Metric(name="sps", unit="samples/s", goal=Goal.HIGHER, progress=Progress(pattern="(.*)"))
STEP = Metric(name="step_s", unit="s", derivation=Derivation(kind=DerivationKind.STEP))


def spec_of(*, until: Until | None = None, **workload: Any) -> StudySpec:
    metrics = workload.pop("metrics", (SPEED,))
    return StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=("x",), metrics=metrics, **workload),
        budget=Budget(launches=9),
        until=until,
    )


def part(**changes: Any) -> SteadyPart:
    known = SteadyPart(begin_step=10, begin_s=1.0, end_step=100, end_s=9.0, first_report_s=0.1)
    return msgspec.structs.replace(known, **changes)


def sample(
    arm: str = "default",
    outcome: Outcome = Outcome.ENOUGH,
    stage: Stage = Stage.CONFIRM,
    wall_s: float = 9.0,
    series: Series | None = None,
    evidence: tuple[Evidence, ...] = (),
    **steady: Any,
) -> Sample:
    launch = Launch(configuration=DEFAULT, arm=arm, stage=stage, block=0, position=0)
    return Sample(
        launch=launch,
        outcome=outcome,
        wall_s=wall_s,
        metrics={"sps": 10.0},
        series={} if series is None else {"sps": series},
        steady={"sps": part(**steady)},
        evidence=evidence,
    )


def series_of(*, settles: bool) -> Series:
    """Return values of 300 steps whose speed is constant, or doubles until the end."""
    draw = random.Random(5)
    now, times, values = 0.0, [], []
    for step in range(300):
        speed = 10.0 * (1.0 if settles else 1.0 + step / 300) * math.exp(draw.gauss(0.0, 0.01))
        now += 1.0 / speed
        times.append(now)
        values.append(speed)
    steps = tuple(float(step) for step in range(1, 301))
    return Series(times_s=tuple(times), steps=steps, values=tuple(values))


def arm(name: str, speed: float, step_s: float) -> ArmResult:
    summary = {"sps": summarise([speed] * 3), "step_s": summarise([step_s] * 3)}
    return ArmResult(name=name, configuration=DEFAULT, summary=summary)


def test_study_without_reported_values_has_no_notes() -> None:
    bare = spec_of(metrics=(Metric(name="wall_s", unit="s"),), until=Until())
    assert progress_notes(bare, [sample()], ()) == []


def test_each_finding_is_noted_once_with_the_number_of_launches() -> None:
    silent = Notice("progress_silent", "Rank 3 has reported no sps for 35 s.", "sps").evidence()
    later = Notice("progress_silent", "Rank 3 has reported no sps for 70 s.", "sps").evidence()
    found = progress_notes(
        spec_of(), [sample(evidence=(silent,)), sample(evidence=(later,)), sample()], ()
    )
    assert found == ["rank 3 has reported no sps for 35 s (2 of 3 launches)"]


def test_findings_on_two_metrics_are_two_notes() -> None:
    pieces = tuple(
        Notice("progress_never", f"The pattern of {name} matches nothing.", name).evidence()
        for name in ("sps", "loss")
    )
    assert len(progress_notes(spec_of(), [sample(evidence=pieces)], ())) == 2


@pytest.mark.parametrize("settles", [True, False])
def test_arm_that_never_settles_is_noted(settles: bool) -> None:
    samples = [sample(series=series_of(settles=settles)) for _ in range(3)]
    notes = progress_notes(spec_of(), samples, [arm("default", 10.0, 0.1)])
    assert ["never became steady" in note for note in notes] == ([] if settles else [True])


@pytest.mark.parametrize(("reports", "few"), [(3, True), (11, True), (40, False)])
def test_arm_with_too_few_reports_is_not_called_unsteady(reports: int, few: bool) -> None:
    whole = series_of(settles=False)
    short = Series(
        times_s=whole.times_s[:reports],
        steps=whole.steps[:reports],
        values=whole.values[:reports],
    )
    samples = [sample(series=short) for _ in range(3)]
    notes = progress_notes(spec_of(), samples, [arm("default", 10.0, 0.1)])
    told = [note for note in notes if "too few reports to tell" in note]
    assert bool(told) == few
    assert not few or f"at most {reports} in a launch, and 12 are needed" in told[0]
    assert not few or not any("never became steady" in note for note in notes)


def test_constant_level_is_steady_in_any_case() -> None:
    acc = msgspec.structs.replace(SPEED, level=True)
    for reports in (3, 12, 300):
        whole = series_of(settles=False)
        flat = Series(
            times_s=whole.times_s[:reports],
            steps=whole.steps[:reports],
            values=(0.2,) * reports,
        )
        samples = [sample(series=flat) for _ in range(3)]
        assert progress_notes(spec_of(metrics=(acc,)), samples, [arm("default", 0.2, 0.1)]) == []


def test_steps_that_no_launch_reaches_are_noted() -> None:
    until = Until(steady_steps=100_000.0)
    samples = [sample(outcome=Outcome.OK, series=series_of(settles=True)) for _ in range(2)]
    (note,) = progress_notes(spec_of(until=until), samples, ())
    assert note == (
        "2 of 2 launches ended by themselves before the end of --until steady:100000, at step 300 "
        "at most, and count as whole launches"
    )
    enough = [sample(series=series_of(settles=True))]
    assert "ended by" not in " ".join(progress_notes(spec_of(until=until), enough, ()))


def test_partial_period_is_noted_without_launches_ended_early() -> None:
    samples = [
        sample(whole_periods=False, period_steps=50.0),
        sample(whole_periods=False, period_steps=50.0, ended_early=True),
        sample(period_steps=50.0),
    ]
    (note,) = progress_notes(spec_of(), samples, ())
    assert "every 50 steps, and 1 of 3 launches has less than one whole period" in note


def test_running_mean_is_noted() -> None:
    (note,) = progress_notes(spec_of(), [sample(cumulative=True)], ())
    assert "running mean" in note and "differences of steps and times" in note


def test_speed_that_disagrees_with_times_is_noted() -> None:
    (note,) = progress_notes(spec_of(), [sample(times_disagree=True), sample()], ())
    assert note.startswith("in 1 of 2 launches, ")
    assert "disagrees with the times of its reports: the value is the mean of the printed" in note


@pytest.mark.parametrize(
    ("speeds", "slow_end_s", "is_noted"),
    [
        ((1600.0, 1600.0), 17.0, True),
        ((1600.0, 1600.0), 9.1, False),
        ((1600.0, 800.0), 17.0, False),
    ],
)
def test_constant_speed_that_contradicts_step_times_is_noted(
    speeds: tuple[float, float], slow_end_s: float, is_noted: bool
) -> None:
    steps = tuple(float(step) for step in range(1, 101))
    samples = [
        sample(
            name,
            series=Series(
                times_s=tuple(step * end_s / 100 for step in steps),
                steps=steps,
                values=(speed,) * 100,
            ),
            end_s=end_s,
        )
        for name, speed, end_s in zip("ab", speeds, (9.0, slow_end_s), strict=True)
    ]
    notes = contradicted_speeds(SPEED, samples)
    assert bool(notes) is is_noted
    if notes:
        assert "a step of b takes 2 times as long as one of a" in notes[0]


def test_measured_speed_contradicts_nothing() -> None:
    samples = [sample("a", series=series_of(settles=True)), sample("b", end_s=90.0)]
    assert contradicted_speeds(SPEED, samples) == []


def test_notes_on_times_are_left_out_if_the_output_is_buffered() -> None:
    late = Notice("progress_buffered", "All 9 lines arrived at the end.").evidence()
    (note,) = progress_notes(spec_of(), [sample(evidence=(late,), cumulative=True)], ())
    assert note.startswith("all 9 lines")


def test_launches_ended_early_are_counted_in_the_search_only() -> None:
    samples = [
        sample(stage=Stage.SEARCH, ended_early=True),
        sample(stage=Stage.SEARCH),
        sample(),
    ]
    (note,) = progress_notes(spec_of(), samples, ())
    assert note.startswith("assay ended 1 of 2 launches of the search early")


def test_until_is_noted_with_check_and_partial_metrics() -> None:
    wall = Metric(name="wall_s", unit="s")
    spec = spec_of(
        until=Until(),
        metrics=(SPEED, wall),
        check="done",
        requested_metrics=("sps", "wall_s"),
    )
    (note,) = progress_notes(spec, [sample(), sample(outcome=Outcome.OK)], ())
    assert note.startswith("--until ended 1 of 2 launches")
    assert "--check did not apply to them" in note and "wall_s covers only the part" in note


def test_dilution_is_noted_if_dips_hide_half_of_the_effect() -> None:
    spec = spec_of(metrics=(SPEED, STEP))
    arms = [arm("default", 10.0, 0.1), arm("fast", 11.0, 0.08), arm("same", 10.0, 0.1)]
    (note,) = progress_notes(spec, [sample(period_steps=50.0)], arms)
    assert note.startswith("fast changes the time of a step between dips by -20.0 %, and sps")
    assert progress_notes(spec, [sample()], arms) == []


def test_first_launch_before_shortened_ones_is_not_called_slow() -> None:
    whole = sample(outcome=Outcome.OK, wall_s=100.0)
    short = [sample(wall_s=9.0) for _ in range(5)]
    assert first_launch_notes([whole, *short]) == []
    assert first_launch_notes([whole, *[sample(outcome=Outcome.OK) for _ in range(5)]]) != []


def test_shortened_launches_show_no_one_time_cost() -> None:
    launches = FirstLaunches()
    for one in (sample(outcome=Outcome.OK, wall_s=100.0), sample(wall_s=9.0)):
        launches.add(one)
    assert launches._walls[DEFAULT].pays is None


def test_urgent_notice_is_passed_on_once() -> None:
    texts: list[str] = []
    receive = FirstNotices(texts.append)
    for seconds in (35, 70):
        receive(Notice("progress_silent", f"Silent for {seconds} s.", "sps"))
    receive(Notice("progress_not_finite", "2 values of sps were NaN.", "sps"))
    assert texts == ["Silent for 35 s."]
