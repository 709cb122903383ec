"""Values of confirmation blocks after later launches showed another warm-up."""

from __future__ import annotations

import math

import msgspec
import pytest

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Configuration,
    EndRule,
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
    StoredSpread,
    StudySpec,
    Until,
    Workload,
)
from assay.search.conclusion.progress_notes import progress_notes
from assay.search.history.history import History

SPS = Metric(name="sps", goal=Goal.HIGHER, progress=Progress(pattern="sps (.*)"))
ARMS = (
    Arm(name="a", configuration=DEFAULT),
    Arm(name="b", configuration=Configuration({"arg.x": 1})),
)
AUTO = Until()
SHORT, LONG = (EndRule(warmup_steps=cut, steady_steps=40.0) for cut in (10.0, 20.0))


def spec(until: Until | None = AUTO) -> StudySpec:
    return StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=("app",), metrics=(SPS,)),
        budget=Budget(launches=40),
        arms=ARMS,
        until=until,
    )


def sample(block: int, arm: Arm, rule: EndRule, step_s: float) -> Sample:
    """Return a launch whose first 20 steps take half as long again as the others."""
    assert rule.warmup_steps is not None and rule.steady_steps is not None
    count = round(rule.warmup_steps + rule.steady_steps)
    seconds = [step_s * (1.5 if step <= 20 else 1.0) for step in range(1, count + 1)]
    times = [math.fsum(seconds[: at + 1]) for at in range(count)]
    begin = round(rule.warmup_steps)
    value = (count - begin) / (times[-1] - times[begin - 1])
    return Sample(
        launch=Launch(
            configuration=arm.configuration,
            arm=arm.name,
            stage=Stage.CONFIRM,
            block=block,
            position=ARMS.index(arm),
            block_arms=ARMS,
            end=rule,
        ),
        outcome=Outcome.ENOUGH,
        wall_s=times[-1],
        metrics={"sps": value},
        series={
            "sps": Series(
                times_s=tuple(times),
                steps=tuple(float(step) for step in range(1, count + 1)),
                values=tuple(1.0 / each for each in seconds),
            )
        },
        steady={
            "sps": SteadyPart(
                begin_step=rule.warmup_steps,
                begin_s=times[begin - 1],
                end_step=float(count),
                end_s=times[-1],
                first_report_s=times[0],
            )
        },
    )


def block(number: int, rule: EndRule) -> list[Sample]:
    return [sample(number, arm, rule, step_s) for arm, step_s in zip(ARMS, (0.1, 0.2), strict=True)]


def test_earlier_blocks_count_from_the_end_of_the_newest_warm_up() -> None:
    samples = [*block(0, SHORT), *block(1, LONG)]
    found = History.of(spec(), samples)
    assert found.values(Stage.CONFIRM, "a") == pytest.approx([10.0, 10.0])
    assert found.values(Stage.CONFIRM, "b") == pytest.approx([5.0, 5.0])
    assert samples[0].metrics["sps"] < 9.0


def test_values_return_with_the_warm_up_of_their_launches() -> None:
    samples = [*block(0, SHORT), *block(1, LONG), *block(2, SHORT)]
    found = History.of(spec(), samples)
    own = [samples[at].metrics["sps"] for at in (0, 2, 4)]
    values = found.values(Stage.CONFIRM, "a")
    assert values[0] == own[0]
    assert values[2] == own[2]


def test_resumed_study_has_the_same_values() -> None:
    samples = [*block(0, SHORT), *block(1, LONG)]
    found = History.of(spec())
    for one in samples:
        found.add(one)
    for arm in ARMS:
        again = History.of(spec(), samples).values(Stage.CONFIRM, arm.name)
        assert found.values(Stage.CONFIRM, arm.name) == again


def test_whole_launches_keep_their_values() -> None:
    samples = [*block(0, SHORT), *block(1, LONG)]
    found = History.of(spec(until=None), samples)
    assert found.values(Stage.CONFIRM, "a")[0] == samples[0].metrics["sps"]


def test_thinned_series_with_dips_keeps_its_value() -> None:
    periodic = msgspec.structs.replace(LONG, period_steps=10.0)
    samples = [*block(0, SHORT), *block(1, periodic)]
    thin = samples[0].series["sps"]
    counts = msgspec.structs.replace(thin, counts=(2,) * len(thin.steps))
    samples[0] = msgspec.structs.replace(samples[0], series={"sps": counts})
    found = History.of(spec(), samples)
    assert found.values(Stage.CONFIRM, "a")[0] == samples[0].metrics["sps"]


def test_notes_name_revised_blocks_longer_launches_and_the_calibration() -> None:
    grown = msgspec.structs.replace(LONG, steady_steps=80.0, lengthened=True)
    samples = [*block(0, SHORT), *block(1, grown)]
    of = msgspec.structs.replace(
        spec(), launch_spread=StoredSpread(sd=0.004, study="cal-1", started_at=0.0)
    )
    text = " ".join(progress_notes(of, samples, ()))
    assert "in 1 block the values of sps" in text
    assert "begin at step 20: later launches showed" in text
    assert "still changed at the end of launches with 40 steady steps" in text
    assert "up to 80 steady steps" in text
    assert "0.4 % between launches, by calibration cal-1 of 1970-01-01" in text
    assert "calibration" not in " ".join(progress_notes(spec(), block(0, LONG), ()))
