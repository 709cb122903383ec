"""A quota of CPU time: suggestions of tune, and notes of a study."""

from __future__ import annotations

import pytest

from assay.executors.evidence.quota import quota_evidence
from assay.machine.quota import Periods
from assay.records import DEFAULT, Launch, Outcome, Sample, Stage
from assay.records.domain import Choices
from assay.settings.base import Suggestion
from assay.settings.threads import ALL
from assay.study.stratum import stratum_of
from assay.wording.conditions import condition_notes

from .hosts import machine, program


@pytest.mark.parametrize(
    ("quota", "peak", "counts"),
    [
        (None, None, (1, 2, 4, 8)),
        (None, 8, (1, 2, 4)),
        (1.5, None, (1, 2)),
        # All CPUs is the program's default, and more than the quota allows.
        (3.0, 8, (1, 2, 3)),
    ],
)
def test_proposed_counts_follow_the_quota(
    quota: float | None, peak: int | None, counts: tuple[int, ...]
) -> None:
    found = ALL.suggest(program("gomp", threads_peak=peak), machine(cores=8, cpu_limit=quota))
    assert isinstance(found, Suggestion)
    assert found.domain == Choices(counts, ordered=True)
    assert ("quota" in found.reason) == (quota is not None)


def test_quota_of_one_cpu_has_no_suggestion() -> None:
    found = ALL.suggest(program("gomp"), machine(cores=2, cpu_limit=0.5))
    assert found == "a control group limits CPU time to one CPU: quota 0.5 CPU"


def test_study_reports_throttling() -> None:
    launch = Launch(configuration=DEFAULT, arm="a", stage=Stage.CONFIRM, block=0, position=0)
    samples = [
        Sample(
            launch=launch,
            outcome=Outcome.OK,
            evidence=quota_evidence(Periods(10, 5), Periods(10 + ran, 5 + out)),
        )
        for ran, out in ((20, 18), (24, 20))
    ]
    stratum = stratum_of(0, machine(cpu_limit=0.5), None, {})
    (note,) = condition_notes(stratum, samples)
    assert note.startswith("quota 0.5 CPU, throttled in 38 of 44 periods")
    assert not list(condition_notes(stratum_of(0, machine(), None, {}), samples))
