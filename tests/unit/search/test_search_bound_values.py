"""Bounds of launches that ended during their warm-up: they are no values of an arm."""

from __future__ import annotations

import msgspec

from assay.records import (
    Arm,
    Budget,
    Configuration,
    Goal,
    Kind,
    Launch,
    Metric,
    Outcome,
    Progress,
    Sample,
    Stage,
    SteadyPart,
    StudySpec,
    Until,
    Workload,
)
from assay.records.workload import WALL
from assay.search.history.arm_result import result_of
from assay.search.history.history import History

SPS = Metric(name="sps", goal=Goal.HIGHER, progress=Progress(pattern="sps (.*)"))
SPEC = StudySpec(
    kind=Kind.TUNE,
    workload=Workload(argv=("app",), metrics=(SPS, WALL)),
    budget=Budget(time_s=600.0),
    until=Until(),
)
ARM = Arm(name="b", configuration=Configuration({"threads": 2}))
PART = SteadyPart(begin_step=5.0, begin_s=1.0, end_step=50.0, end_s=9.0, first_report_s=0.5)


def sample(block: int, value: float, *, bound: bool = False) -> Sample:
    launch = Launch(
        configuration=ARM.configuration, arm=ARM.name, stage=Stage.SEARCH, block=block, position=0
    )
    return Sample(
        launch=launch,
        outcome=Outcome.ENOUGH,
        wall_s=10.0,
        metrics={"sps": value, "wall_s": 10.0},
        steady={"sps": msgspec.structs.replace(PART, ended_early=bound, bound=bound)},
    )


def test_summary_of_an_arm_contains_no_bounds() -> None:
    history = History.of(SPEC, [sample(1, 90.0), sample(2, 150.0, bound=True), sample(3, 92.0)])
    summary = result_of(SPEC, history, Stage.SEARCH, ARM).summary
    assert (summary["sps"].n, summary["sps"].max) == (2, 92.0)
    assert summary["wall_s"].n == 3
    assert [one.censored for one in history.known(Stage.SEARCH, "b")] == [False, True, False]


def test_arm_with_bounds_alone_has_no_value() -> None:
    history = History.of(SPEC, [sample(1, 90.0, bound=True)])
    summary = result_of(SPEC, history, Stage.SEARCH, ARM).summary
    assert "sps" not in summary
    assert "wall_s" in summary
