"""First launch of a long program: it counts as the first one of the default."""

from __future__ import annotations

import pytest

from assay.records import (
    DEFAULT,
    Budget,
    EndRule,
    Goal,
    Kind,
    Launch,
    Metric,
    Outcome,
    Progress,
    Sample,
    Stage,
    StudySpec,
    Workload,
)
from assay.records.workload import WALL
from assay.study.survey import counted_survey

SPS = Metric(name="sps", goal=Goal.HIGHER, progress=Progress(pattern="sps (.*)"))


def surveyed(wall_s: float, outcome: Outcome = Outcome.OK, end: EndRule | None = None) -> Sample:
    launch = Launch(
        configuration=DEFAULT, arm="default", stage=Stage.SURVEY, block=0, position=0, end=end
    )
    return Sample(launch=launch, outcome=outcome, wall_s=wall_s, metrics={"wall_s": wall_s})


def study(time_s: float | None = 180.0, metric: Metric = WALL) -> StudySpec:
    budget = Budget(time_s=time_s, launches=None if time_s else 20)
    return StudySpec(
        kind=Kind.TUNE, workload=Workload(argv=("app",), metrics=(metric,)), budget=budget
    )


def test_long_launch_counts_as_the_first_of_the_default() -> None:
    assert counted_survey(surveyed(170.0), study()).launch.stage is Stage.GAUGE


@pytest.mark.parametrize(
    ("sample", "spec"),
    [
        (surveyed(9.0), study()),
        (surveyed(11.0), study(time_s=3600.0)),
        (surveyed(170.0, Outcome.TIMED_OUT), study()),
        (surveyed(170.0, Outcome.FAILED), study()),
        (surveyed(170.0), study(time_s=None)),
        (surveyed(170.0), study(metric=SPS)),
        (surveyed(17.0, Outcome.ENOUGH, EndRule(first_look=True)), study(metric=SPS)),
    ],
    ids=["short", "small share", "timed out", "failed", "no time", "reports", "first look"],
)
def test_other_first_launches_only_warm_up(sample: Sample, spec: StudySpec) -> None:
    assert counted_survey(sample, spec) == sample
