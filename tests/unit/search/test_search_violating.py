"""Best configuration of a search that violates a requirement."""

from __future__ import annotations

import pytest

from assay.records import (
    Bound,
    Budget,
    Configuration,
    Kind,
    Launch,
    Outcome,
    Requirement,
    Sample,
    Stage,
    StudySpec,
    Workload,
)
from assay.records.workload import WALL
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.races.violating import best_violating_arm

FAST = arm_of(Configuration({"arg.cache": 8}))
WITHIN_100 = Requirement(metric="peak_anon_bytes", bound=Bound.AT_MOST, limit=100.0)
SPEC = StudySpec(
    kind=Kind.TUNE,
    workload=Workload(argv=("program",), metrics=(WALL,)),
    budget=Budget(time_s=60.0),
    requirements=(WITHIN_100,),
)


def test_arm_without_the_default_in_its_block_is_compared_with_other_blocks() -> None:
    history = History.of(SPEC)
    ran = ((DEFAULT_ARM, 0, 4.0, 50.0), (FAST, 1, 2.0, 178.0))
    for arm, block, wall_s, peak_bytes in ran:
        launch = Launch(
            configuration=arm.configuration,
            arm=arm.name,
            stage=Stage.SEARCH,
            block=block,
            position=0,
        )
        metrics = {"wall_s": wall_s, "peak_anon_bytes": peak_bytes}
        history.add(Sample(launch=launch, outcome=Outcome.OK, wall_s=wall_s, metrics=metrics))
    found = best_violating_arm(SPEC, history)
    assert found is not None
    assert (found.arm, found.ratio, found.value) == (FAST, pytest.approx(0.5), 178.0)
