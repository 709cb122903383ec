"""Numbers of threads that do not depend on the setting."""

from __future__ import annotations

import pytest

from assay.records import Configuration, Evidence, Launch, Outcome, Sample, Stage
from assay.search.history.thread_counts import thread_count_notes


def launched(name: str, value: int, threads: float | None) -> Sample:
    configuration = Configuration({name: value})
    return Sample(
        launch=Launch(
            arm=str(configuration),
            configuration=configuration,
            stage=Stage.CONFIRM,
            block=0,
            position=0,
        ),
        outcome=Outcome.OK,
        evidence=(Evidence(kind="threads_peak", value=threads),),
    )


def study(name: str, seen: dict[int, float | None], times: int = 4) -> list[Sample]:
    return [launched(name, value, count) for value, count in seen.items()] * times


@pytest.mark.parametrize("name", ["threads", "threads.omp"])
def test_ineffective_thread_setting_is_reported(name: str) -> None:
    (note,) = thread_count_notes(study(name, {1: 2.0, 2: 2.0, 4: 2.0}))
    assert note.startswith(f"launches with {name}=1 and {name}=4 all had 2 threads")


@pytest.mark.parametrize(
    ("name", "seen", "times"),
    [
        ("threads", {1: 1.0, 2: 2.0}, 4),  # as requested
        ("threads", {2: 2.0, 4: 2.0}, 4),  # too little work for more
        ("threads", {1: 1.0, 2: 1.0}, 4),  # ended before a reading
        ("threads", {1: None, 2: None}, 4),  # not read
        ("threads", {2: 3.0}, 4),
        ("threads", {1: 2.0, 2: 2.0}, 2),
        ("threads.blas", {1: 2.0, 2: 2.0}, 4),  # threads created by OpenMP
        ("nice", {0: 2.0, 1: 2.0}, 4),
    ],
)
def test_other_studies_have_no_note(name: str, seen: dict[int, float | None], times: int) -> None:
    assert thread_count_notes(study(name, seen, times)) == []
