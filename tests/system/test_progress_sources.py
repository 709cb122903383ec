"""Sources of reported values: output, known formats, the channel and files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import CommandLine
from reporting_studies import JOB, SHORT, SPEED, STEPS, assert_ended_early

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
@pytest.mark.parametrize("to", ["lines", "errors"])
def test_lines_of_each_stream_end_launches(cli: CommandLine, to: str) -> None:
    answer = cli("measure", "--runs", "3", *SPEED, *SHORT, "--", *JOB, STEPS, f"to={to}")
    assert answer.status == 0, answer.err
    assert "sps" in answer.out
    assert_ended_early(cli, 3)


@pytest.mark.rotating
def test_frames_of_a_known_format_end_launches(cli: CommandLine) -> None:
    words = ("--progress", "tqdm", "--progress", "tqdm.loss", *SHORT, "--", *JOB, STEPS)
    answer = cli("measure", "--runs", "3", *words, "to=frames")
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3, "steps_per_s")
    assert all("loss" in sample["metrics"] for sample in cli.documents())


@pytest.mark.rotating
def test_records_of_the_channel_end_launches(cli: CommandLine) -> None:
    words = ("--progress", "sps", "--goal", "higher", *SHORT, "--", *JOB, STEPS, "to=channel")
    answer = cli("measure", "--runs", "3", *words)
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3)


@pytest.mark.rotating
@pytest.mark.parametrize("to", ["csv", "jsonl", "events"])
def test_values_of_a_file_end_launches(cli: CommandLine, tmp_path: Path, to: str) -> None:
    file = tmp_path / ("runs" if to == "events" else f"log.{to}")  # TensorBoard names a folder
    words = ("--progress", "sps", "--progress", "loss", "--progress-file", str(file), *SHORT)
    answer = cli(
        *("measure", "--runs", "3", *words, "--goal", "higher"),
        *("--", *JOB, STEPS, f"to={to}", f"file={file}"),
    )
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3)
