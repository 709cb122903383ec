"""Studies ask programs to end before they kill them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from command_line import CommandLine
from launching import wait_until
from tidy import lines, tidy

pytestmark = pytest.mark.system


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
def test_interrupted_study_ends_server_before_cleanup(cli: CommandLine, log: Path) -> None:
    cleanup = ["--cleanup", f"sh -c 'echo cleanup >> {log}'"]
    with cli.begun("measure", "--runs", "5", *cleanup, "--", *tidy(log, 1)) as process:
        wait_until(lambda: lines(log) == ["ready"], "the first launch runs", 30)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=20) == 128 + signal.SIGINT
    assert lines(log) == ["ready", "asked", "tidy", "cleanup"]
    message = (cli.folder / "begun.err").read_text()
    assert "asked the program to end, and kills it after 10" in message


@pytest.mark.rotating
def test_cleanup_runs_after_second_interrupt_kills_server(cli: CommandLine, log: Path) -> None:
    cleanup = ["--cleanup", f"sh -c 'echo cleanup >> {log}'", "--grace", "60s"]
    with cli.begun("measure", "--runs", "5", *cleanup, "--", *tidy(log, 60)) as process:
        wait_until(lambda: lines(log) == ["ready"], "the first launch runs", 30)
        os.killpg(process.pid, signal.SIGINT)
        wait_until(lambda: "asked" in lines(log), "it is asked to end", 30)
        time.sleep(1.2)  # immediately following signals belong to the first
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 128 + signal.SIGINT
    assert lines(log) == ["ready", "asked", "cleanup"]


@pytest.mark.rotating
def test_second_interrupt_ends_cleanup_and_keeps_study(cli: CommandLine, log: Path) -> None:
    cleanup = ["--cleanup", f"sh -c 'echo cleanup >> {log}; sleep 60; echo late >> {log}'"]
    launch = ["sh", "-c", f"echo ready >> {log}; exec sleep 60"]
    with cli.begun("measure", "--runs", "5", *cleanup, "--", *launch) as process:
        wait_until(lambda: lines(log) == ["ready"], "the first launch runs", 30)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: "cleanup" in lines(log), "the clean-up runs", 30)
        time.sleep(1.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 128 + signal.SIGINT
    assert lines(log) == ["ready", "cleanup"]
    assert "is kept, with" in (cli.folder / "begun.err").read_text()
    assert cli.rows("SELECT status FROM study") == [("interrupted",)]


@pytest.mark.rotating
def test_study_reports_killed_launches(cli: CommandLine, log: Path) -> None:
    """One of two arms hangs and ignores SIGTERM."""
    program = (
        f"if [ {{n}} = 2 ]; then trap '' TERM; echo x >> {log}; while :; do sleep 0.02; done; fi"
    )
    study = ["compare", "--json", "--timeout", "0.3s", "--grace", "0.2s", "--runs", "24"]
    found = cli(*study, "--arm", "arg.n=1", "--arm", "arg.n=2", "--", "sh", "-c", program)
    notes = [note for note in found.document["notes"] if "had to be killed" in note]
    assert notes, found.err
    assert "had not ended 200 ms after SIGTERM" in notes[0]


def test_study_uses_stop_command(cli: CommandLine, log: Path) -> None:
    stop = ["--stop", f"sh -c 'echo stop >> {log}; kill -USR1 $ASSAY_PID'"]
    program = f"trap 'echo usr1 >> {log}; exit' USR1; while :; do sleep 0.02; done"
    cli("measure", "--runs", "2", "--timeout", "0.4s", *stop, "--", "sh", "-c", program)
    assert lines(log) == ["stop", "usr1"] * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grace", "soon"], "--grace: 'soon' is not a duration"),
        (["--grace", "25h"], "--grace 25h is longer than a day"),
        (["--stop", "no-such-program now"], "--stop: "),
    ],
)
def test_invalid_stop_options_are_refused(cli: CommandLine, words: list[str], message: str) -> None:
    found = cli("measure", *words, "--", "true")
    assert found.status == 2
    assert message in found.err
