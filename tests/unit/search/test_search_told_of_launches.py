"""Notes on the commits that were built and on processes that programs left running."""

from __future__ import annotations

from assay.records import DEFAULT, Evidence, Launch, Outcome, Sample, Stage
from assay.records.sample import LEFT_OVER, REVISION
from assay.search.left_running import left_running_notes
from assay.search.revision_notes import revision_notes


def sample(*evidence: Evidence) -> Sample:
    launch = Launch(configuration=DEFAULT, arm="default", stage=Stage.CONFIRM, block=0, position=0)
    return Sample(launch=launch, outcome=Outcome.OK, evidence=evidence, started_at=0.0)


def left(count: float, *names: str) -> Evidence:
    return Evidence(kind=LEFT_OVER, value=count, unit="processes", note="\n".join(names) or None)


def test_commit_is_told_once() -> None:
    piece = Evidence(kind=REVISION, note="build.rev=main is commit abc")
    assert revision_notes([sample(piece), sample(), sample(piece)]) == [piece.note]


def test_processes_left_running_are_told_with_names() -> None:
    assert left_running_notes([sample(left(1, "daemon"))]) == [
        "ended what the program left running: 1 process (daemon)"
    ]
    many = [sample(left(2, "a", "b")), sample(), sample(left(3, "b", "c", "d"))]
    assert left_running_notes(many) == [
        "ended what the program left running: 5 processes (b, a, c, ...), after 2 of 3 launches"
    ]


def test_processes_that_end_by_themselves_are_not_told() -> None:
    assert left_running_notes([sample(), sample(left(1))]) == []
