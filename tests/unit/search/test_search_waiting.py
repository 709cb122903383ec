"""Programs that use little CPU time."""

from __future__ import annotations

import pytest

from assay.records import DEFAULT, Evidence, Launch, Outcome, Sample, Stage
from assay.search.history.waiting import waiting_notes


def launched(cpu_s: float, *evidence: Evidence, wall_s: float = 2.0) -> Sample:
    launch = Launch(configuration=DEFAULT, arm="a", stage=Stage.CONFIRM, block=0, position=0)
    return Sample(
        launch=launch,
        outcome=Outcome.OK,
        wall_s=wall_s,
        user_s=cpu_s,
        sys_s=0.0,
        evidence=evidence,
    )


def test_program_that_waits_is_reported() -> None:
    (note,) = waiting_notes([launched(0.02), launched(0.03)])
    assert note.startswith("the program used a CPU in 1 % of its time")


@pytest.mark.parametrize(
    "sample",
    [
        launched(0.5),
        launched(0.02, Evidence(kind="pressure.io_some_s", value=1.0, unit="s")),
        launched(0.0, wall_s=0.02),
    ],
)
def test_other_programs_are_not_reported(sample: Sample) -> None:
    assert not waiting_notes([sample] * 3)


def test_samples_without_cpu_time_have_no_note() -> None:
    launch = launched(0.0).launch
    assert not waiting_notes([Sample(launch=launch, outcome=Outcome.OK, wall_s=2.0)])
