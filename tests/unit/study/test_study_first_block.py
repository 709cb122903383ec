"""First launches of comparisons and measurements: long ones count."""

from __future__ import annotations

import msgspec
import pytest

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Goal,
    Kind,
    Launch,
    Metric,
    Outcome,
    Progress,
    Sample,
    Stage,
    StudySpec,
    Until,
    Workload,
)
from assay.records.workload import WALL
from assay.search.races.compare import CompareRace
from assay.search.races.measure import MeasureRace
from assay.search.races.race import Ending
from assay.study.first_block import counted_first_launch

SPS = Metric(name="sps", goal=Goal.HIGHER, progress=Progress(pattern="sps (.*)"))
ARMS = (Arm(name="a", configuration=DEFAULT), Arm(name="b", configuration=DEFAULT))


def study(kind: Kind = Kind.COMPARE, metric: Metric = WALL, **more: object) -> StudySpec:
    found = StudySpec(
        kind=kind,
        workload=Workload(argv=("app",), metrics=(metric,)),
        budget=Budget(time_s=600.0),
        arms=ARMS if kind is Kind.COMPARE else ARMS[:1],
    )
    return msgspec.structs.replace(found, **more)


def sample_of(launch: Launch, wall_s: float = 30.0, outcome: Outcome = Outcome.OK) -> Sample:
    return Sample(launch=launch, outcome=outcome, wall_s=wall_s, metrics={"wall_s": wall_s})


def first(**more: object) -> Sample:
    launch = Launch(
        configuration=DEFAULT,
        arm="a",
        stage=Stage.SURVEY,
        block=0,
        position=0,
        block_arms=ARMS,
    )
    return sample_of(msgspec.structs.replace(launch, **more))


@pytest.mark.parametrize("kind", [Kind.COMPARE, Kind.MEASURE])
def test_long_whole_first_launch_counts(kind: Kind) -> None:
    assert counted_first_launch(first(), study(kind)).launch.stage is Stage.CONFIRM


@pytest.mark.parametrize(
    ("sample", "spec"),
    [
        (sample_of(first().launch, wall_s=9.0), study()),
        (sample_of(first().launch, outcome=Outcome.ENOUGH), study(metric=SPS)),
        (first(), study(metric=SPS, until=Until())),
        (first(), study(warmup=1)),
        (first(), study(switch_costs_s={"thp": 1.0})),
        (first(), study(Kind.SWEEP)),
        (first(block=1), study()),
        (first(), study(budget=Budget(time_s=3600.0))),
    ],
    ids=["short", "ended", "until", "warm-up", "switch", "sweep", "later", "small share"],
)
def test_other_first_launches_warm_up(sample: Sample, spec: StudySpec) -> None:
    assert counted_first_launch(sample, spec) == sample


def test_rest_of_a_counted_block_counts_as_well() -> None:
    spec = study(budget=Budget(launches=40))
    race = CompareRace(spec)
    stages = []
    for made in range(4):
        answer = race.ask(1, Budget(launches=40 - made))
        assert not isinstance(answer, Ending)
        found = sample_of(answer[0])
        found = counted_first_launch(found, spec) if not made else found
        stages.append((found.launch.stage, found.launch.block))
        race.tell(found)
    assert stages == [(Stage.CONFIRM, block) for block in (0, 0, 1, 1)]
    assert race.history.complete(Stage.CONFIRM) == [0, 1]


def test_only_launch_of_a_measurement_counts() -> None:
    spec = study(Kind.MEASURE, budget=Budget(launches=1))
    race = MeasureRace(spec)
    answer = race.ask(1, spec.budget)
    assert not isinstance(answer, Ending)
    assert answer[0].stage is Stage.CONFIRM
    race.tell(sample_of(answer[0], 0.5))
    assert isinstance(race.ask(1, Budget(launches=0)), Ending)
    assert race.history.values(Stage.CONFIRM, "a") == [0.5]


def test_long_first_launch_of_a_measurement_is_a_value_of_a_small_budget() -> None:
    spec = study(Kind.MEASURE, budget=Budget(time_s=40.0))
    race = MeasureRace(spec)
    answer = race.ask(1, spec.budget)
    assert not isinstance(answer, Ending)
    race.tell(counted_first_launch(sample_of(answer[0], 35.0), spec))
    ended = race.ask(1, Budget(time_s=5.0))
    assert isinstance(ended, Ending)
    assert race.history.values(Stage.CONFIRM, "a") == [35.0]
