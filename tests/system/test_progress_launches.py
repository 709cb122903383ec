"""Ends of launches of programs that report values while they run."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left
from reporting_studies import JOB, SHORT, SPEED, STEPS, assert_ended_early

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
def test_time_out_with_steady_values_is_enough(cli: CommandLine) -> None:
    answer = cli("measure", "--runs", "3", *SPEED, "--timeout", "1.5s", "--", *JOB, STEPS)
    assert answer.status == 0, answer.err
    samples = cli.documents()
    assert [sample["outcome"] for sample in samples] == ["enough"] * 3
    assert all(sample["metrics"]["sps"] > 0.0 for sample in samples)


@pytest.mark.rotating
def test_program_that_ends_before_its_rule_gives_a_value(cli: CommandLine) -> None:
    answer = cli("measure", "--runs", "3", *SPEED, "--until", "steady:900000", "--", *JOB, 60)
    assert answer.status == 0, answer.err
    samples = cli.documents()
    assert samples[0]["outcome"] in ("ok", "enough")  # a first look may suffice
    assert [sample["outcome"] for sample in samples[1:]] == ["ok"] * 2
    assert all(sample["metrics"]["sps"] > 0.0 for sample in samples)


@pytest.mark.rotating
def test_first_look_takes_a_tenth_of_the_budget_at_most(cli: CommandLine) -> None:
    words = ("--budget", "12s", "--runs", "2", *SPEED, "--until", "auto", "--", *JOB)
    answer = cli("measure", *words, STEPS, "slow=10")  # 12 steps, of 120 of a usual first look
    assert answer.status in (0, 3), answer.err
    first = cli.documents()[0]
    assert first["launch"]["end"]["max_s"] == pytest.approx(1.2)
    assert first["outcome"] == "enough"
    assert first["steady"]["sps"]["end_step"] < 100


@pytest.mark.rotating
def test_program_that_ignores_the_request_to_end_is_killed(cli: CommandLine) -> None:
    before = leaves()
    words = ("measure", "--runs", "3", *SPEED, *SHORT, "--grace", "0.2s", "--", *JOB, STEPS)
    answer = cli(*words, "term=ignore")
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3)
    assert "had to be killed" in answer.out
    nothing_left(cli, before)


@pytest.mark.rotating
def test_values_after_the_request_to_end_do_not_count(cli: CommandLine) -> None:
    words = ("measure", "--runs", "2", *SPEED, *SHORT, "--grace", "5s", "--", *JOB, 260)
    assert cli(*words, "term=ignore").status == 0
    last = cli.documents()[-1]
    assert last["outcome"] == "enough"
    assert last["series"]["sps"]["steps"][-1] < 200


@pytest.mark.rotating
def test_exit_status_after_the_request_to_end_is_no_failure(cli: CommandLine) -> None:
    answer = cli("measure", "--runs", "3", *SPEED, *SHORT, "--", *JOB, STEPS, "term=3")
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3)


@pytest.mark.rotating
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_while_a_launch_is_being_ended_keeps_the_study(
    cli: CommandLine, number: signal.Signals
) -> None:
    before = leaves()
    words = ("measure", "--runs", "9", *SPEED, *SHORT, "--grace", "20s", "--", *JOB, 6000)
    with cli.begun(*words, "term=ignore") as process:
        # The first look is asked to end after about two seconds, and ignores it.
        time.sleep(4.0)
        process.send_signal(number)
        time.sleep(1.0)
        process.send_signal(number)
        assert process.wait(30) != 0
    nothing_left(cli, before)
    study = cli.studies()[0]
    assert study["status"] == "interrupted"


@pytest.mark.rotating
def test_launches_of_a_study_may_end_in_different_ways(cli: CommandLine, tmp_path: Path) -> None:
    count = tmp_path / "count"
    # In turn: ended by assay, complete before the rule, failed after some reports.
    script = (
        f"n=$(cat {count} 2> /dev/null || echo 0); echo $((n + 1)) > {count}; "
        'case $((n % 3)) in 0) exec "$@" 2000;; 1) exec "$@" 30;; 2) "$@" 15; exit 4;; esac'
    )
    words = ("measure", "--runs", "10", *SPEED, *SHORT, "--json")
    answer = cli(*words, "--", "sh", "-c", script, "sh", *JOB)
    assert answer.status == 0, answer.err
    samples = cli.documents()
    assert {sample["outcome"] for sample in samples} == {"enough", "ok", "failed"}
    for sample in samples:
        assert ("sps" in sample.get("metrics", {})) == (sample["outcome"] != "failed")
        assert sample["series"]["sps"]["steps"]
    assert any(note.startswith("--until ended ") for note in answer.document["notes"])
