"""``--setup``, ``--prepare`` and ``--cleanup`` around real launches."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def hooks() -> list[str]:
    return [
        word
        for name in ("setup", "prepare", "cleanup")
        for word in (f"--{name}", f"echo {name} >> log")
    ]


@pytest.mark.rotating
def test_each_launch_is_prepared(cli: CommandLine) -> None:
    """The program deletes a file that the next launch needs."""
    prepared = ["--prepare", "touch wanted", "--setup", "mkdir -p kept"]
    found = cli("measure", "--json", "--runs", "7", *prepared, "--", "rm", "wanted")
    assert found.status == 0, found.err
    assert {s["outcome"] for s in found.document["samples"]} == {"ok"}
    assert (cli.folder / "kept").is_dir()


@pytest.mark.rotating
def test_launch_starts_after_preparation_ends(cli: CommandLine) -> None:
    prepare = "sh -c 'echo begun >> log; sleep 0.1; echo ready >> log'"
    found = cli(
        "measure",
        "--json",
        "--runs",
        "7",
        "--prepare",
        prepare,
        "--",
        "sh",
        "-c",
        "echo run >> log",
    )
    assert found.status == 0, found.err
    log = (cli.folder / "log").read_text().split()
    assert log == ["begun", "ready", "run"] * len(found.document["samples"])


@pytest.mark.rotating
def test_failed_cleanup_keeps_answer(cli: CommandLine) -> None:
    found = cli("measure", "--json", "--runs", "7", "--cleanup", "false", "--", "true")
    assert found.status == 0
    assert "--cleanup ended with status 1" in found.err
    assert found.document["summary"]["wall_s"]["n"] > 0
    (study,) = cli("study", "list", "--json").document["studies"]
    assert study["status"] == "done"


@pytest.mark.rotating
def test_interrupted_study_runs_cleanup(cli: CommandLine) -> None:
    with cli.begun("measure", "--budget", "60s", "--shell", *hooks(), "--", "sleep 0.1") as process:
        cli.wait_for(2)
        process.terminate()
        assert process.wait(20) == 143
    log = (cli.folder / "log").read_text().split()
    assert log[0] == "setup" and log[-1] == "cleanup"
    assert log.count("cleanup") == 1
    assert log.count("prepare") == len(log) - 2


SERVER = ("--shell", "--setup", "sleep 60 >/dev/null 2>&1 & echo $! >server")


def test_server_left_running_is_reported(cli: CommandLine) -> None:
    found = cli("measure", "--runs", "3", *SERVER, "--", "true")
    number = int((cli.folder / "server").read_text())
    os.kill(number, signal.SIGKILL)
    assert found.status == 0
    assert f"still runs: sleep (process {number})." in found.err
    assert "--cleanup" in found.err


def test_terminated_server_is_not_reported(cli: CommandLine) -> None:
    ended = (*SERVER, "--cleanup", "kill $(cat server)")
    found = cli("measure", "--runs", "3", *ended, "--", "true")
    assert found.status == 0
    assert "still runs" not in found.err


@pytest.mark.rotating
def test_failing_hook_ends_study_and_is_named(cli: CommandLine) -> None:
    found = cli("measure", "--runs", "7", "--prepare", "false", "--", "true")
    assert found.status == 1
    assert "--prepare ended with status 1" in found.err


def test_hook_with_shell_syntax_requires_shell(cli: CommandLine) -> None:
    found = cli("measure", "--runs", "7", "--prepare", "sync; true", "--", "true")
    assert found.status == 2
    assert "--shell" in found.err


@pytest.mark.parametrize("how", ["env -i setsid", "env -i", ""], ids=["daemon", "bare", "marked"])
@pytest.mark.rotating
def test_server_of_setup_is_not_counted_as_other_load(cli: CommandLine, how: str) -> None:
    """Servers overwrite their environment with their title, so it contains no mark."""
    server = f"{how} sh -c 'echo $$ > pid; while :; do :; done' > /dev/null 2>&1 & sleep 0.3"
    (cli.folder / "serve").write_text(server)
    hooks = ["--setup", "sh serve", "--cleanup", "sh -c 'kill $(cat pid)'"]
    found = cli("measure", "--json", "--runs", "6", *hooks, "--", "sleep", "0.2")
    assert found.status == 0, found.err
    samples = [s for s in found.document["samples"] if s["launch"]["stage"] == "confirm"]
    load = {
        kind: sum(e["value"] for s in samples for e in s["evidence"] if e["kind"] == kind)
        for kind in ("hooked_load", "foreign_load")
    }
    wall_s = sum(s["wall_s"] for s in samples)
    assert load["hooked_load"] > 0.3 * wall_s
    named = [e["note"] for s in samples for e in s["evidence"] if e["kind"] == "other_process"]
    pid = (cli.folder / "pid").read_text().strip()
    assert not [note for note in named if f"process {pid}" in note]
