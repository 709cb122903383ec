"""Observations of real launches: counted launches open no perf event."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.fixture
def traced(assay_exec: Path, tmp_path: Path) -> CommandLine:
    """Provide a command line that strace watches, with all that it starts."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace")
    watching = ("-f", "-qq", "-e", "trace=perf_event_open", "-o", str(tmp_path / "trace"))
    return CommandLine(assay_exec, tmp_path, prefix=(strace, *watching))


def opened(cli: CommandLine, *words: str) -> int:
    """Count the perf events that a command opens."""
    answer = cli(*words)
    if "PTRACE_TRACEME" in answer.err:
        pytest.skip("strace may not trace here")
    assert answer.status == 0, answer.err
    return (cli.folder / "trace").read_text().count("perf_event_open(")


@pytest.mark.rotating
def test_launches_that_count_open_no_counter(traced: CommandLine) -> None:
    assert opened(traced, "measure", "--runs", "4", "--", "true") == 0


@pytest.mark.rotating
def test_requested_counters_are_opened(traced: CommandLine) -> None:
    words = ("measure", "--observe", "all", "--runs", "4", "--", "true")
    assert opened(traced, *words) >= 4


@pytest.mark.parametrize(
    ("words", "on"),
    [
        ((), ["memory", "scheduling"]),
        (("--observe", "none"), None),
        (("--observe", "readback,counters"), ["counters", "readback"]),
    ],
)
def test_record_names_active_observations(
    cli: CommandLine, words: tuple[str, ...], on: list[str] | None
) -> None:
    answer = cli("run", "--record", "record", *words, "--", "sleep", "0.05")
    assert answer.status == 0, answer.err
    record = json.loads((cli.folder / "record").read_text())
    assert record.get("observations") == on
    sampled = on is not None and "scheduling" in on
    assert ("run_queue_wait_s" in record["unavailable"]) is not sampled


@pytest.mark.rotating
def test_study_stores_observations_of_each_launch(cli: CommandLine) -> None:
    words = ("measure", "--observe", "none", "--metric", "peak_anon_bytes", "--runs", "4")
    holding = "x = bytearray(20 << 20); import time; time.sleep(0.2)"
    answer = cli(*words, "--", sys.executable, "-c", holding)
    assert answer.status == 0, answer.err
    counted = [
        one["observations"] for one in cli.documents() if one["launch"]["stage"] == "confirm"
    ]
    assert counted == [["memory"]] * len(counted) and counted


def test_observe_without_record_is_refused(cli: CommandLine) -> None:
    answer = cli("run", "--observe", "all", "--", "true")
    assert answer.status == 125  # as every error of assay itself in `run`
    assert "Add --record FILE" in answer.err


@pytest.mark.rotating
def test_unknown_observation_is_refused(cli: CommandLine) -> None:
    answer = cli("measure", "--observe", "counter", "--", "true")
    assert answer.status == 2
    assert "Did you mean counters?" in answer.err
