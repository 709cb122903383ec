"""Notes on commits that were built, and on processes that outlived the program."""

from __future__ import annotations

from assay.records import DEFAULT, Evidence, Launch, Outcome, Sample, Stage
from assay.records.sample import REMAINING_PROCESSES, REVISION
from assay.search.history.remaining_processes import remaining_process_notes
from assay.search.history.termination import termination_notes
from assay.wording.revisions import revision_notes


def sample(*evidence: Evidence) -> Sample:
    launch = Launch(configuration=DEFAULT, arm="default", stage=Stage.CONFIRM, block=0, position=0)
    return Sample(launch=launch, outcome=Outcome.OK, evidence=evidence, started_at=0.0)


def left(count: float, *names: str) -> Evidence:
    return Evidence(
        kind=REMAINING_PROCESSES, value=count, unit="processes", note="\n".join(names) or None
    )


def test_commit_is_reported_once() -> None:
    piece = Evidence(kind=REVISION, note="build.rev=main is commit abc")
    assert revision_notes([sample(piece), sample(), sample(piece)]) == [piece.note]


def test_processes_left_running_are_reported_with_names() -> None:
    assert remaining_process_notes([sample(left(1, "daemon"))]) == [
        "assay ended processes that the program left running: 1 process (daemon)"
    ]
    many = [sample(left(2, "a", "b")), sample(), sample(left(3, "b", "c", "d"))]
    assert remaining_process_notes(many) == [
        "assay ended processes that the program left running: 5 processes (b, a, c, ...), "
        "after 2 of 3 launches"
    ]


def test_processes_that_end_by_themselves_are_not_reported() -> None:
    assert remaining_process_notes([sample(), sample(left(1))]) == []


def test_launches_that_had_to_be_killed_are_counted() -> None:
    killed = Evidence(kind="killed_after", value=10.0032, unit="s", note="SIGTERM")
    assert termination_notes([sample(killed), sample(), sample(killed)]) == [
        "2 launches had not ended 10.0 s after SIGTERM, and had to be killed: --grace gives more "
        "time (0s: none), --stop sends another request"
    ]
    by_command = Evidence(kind="killed_after", value=0.5, unit="s", note="command")
    assert termination_notes([sample(by_command)])[0].startswith(
        "1 launch had not ended 500 ms after the command of --stop, and"
    )
    assert "--stop sends" not in termination_notes([sample(by_command)])[0]
    assert len(termination_notes([sample(killed), sample(by_command)])) == 2
    assert termination_notes([sample()]) == []


def test_failed_stop_command_is_reported() -> None:
    failed = Evidence(kind="stop_failed", note="exit status 127")
    assert termination_notes([sample(failed), sample(failed)]) == [
        "the command of --stop failed 2 times (exit status 127), and assay sent SIGTERM "
        "instead: run the command by hand while the program runs, with its process id in ASSAY_PID"
    ]
