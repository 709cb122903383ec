"""Jobs of several ranks, some of which report nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, leaves, nothing_left

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]

JOB = """
import os, sys, time
import assay
ranks, silent, steps = (int(word) for word in sys.argv[1:4])
rank = 0
for number in range(1, ranks):
    if os.fork() == 0:
        rank = number
        break
os.environ['RANK'] = str(rank)
for step in range(1, steps + 1):
    time.sleep(0.01)
    if rank != silent:
        assay.progress(step=step, sps=100.0 + rank)
while rank == 0:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def measured(cli: CommandLine, silent: int, *words: str) -> list[dict[str, Any]]:
    before = leaves()
    answer = cli(
        *("measure", "--runs", "2", "--progress", "sps", "--goal", "higher", *words),
        *("--", sys.executable, "-c", JOB, "4", str(silent), "200"),
    )
    assert answer.status == 0, answer.err
    nothing_left(cli, before)
    return cli.documents()


def note(sample: dict[str, Any]) -> str:
    """Return the finding on the ranks of a launch; empty without one."""
    found = (e["note"] for e in sample["evidence"] if e["kind"].startswith("progress_ranks"))
    return next(found, "")


@pytest.mark.rotating
def test_silent_rank_is_named(cli: CommandLine) -> None:
    for sample in measured(cli, 2):
        assert "Rank 2 never reported sps" in note(sample)
        assert sample["series"]["sps"]["rank"] == 0
        assert sample["metrics"]["sps"] > 0.0


@pytest.mark.rotating
def test_first_rank_that_reports_stands_for_the_job(cli: CommandLine) -> None:
    for sample in measured(cli, 0):
        assert "rank 1" in note(sample)
        assert sample["series"]["sps"]["rank"] == 1


@pytest.mark.rotating
def test_complete_job_has_no_finding(cli: CommandLine) -> None:
    assert not any(map(note, measured(cli, -1)))


@pytest.mark.rotating
def test_silent_rank_does_not_keep_a_launch_from_its_end(cli: CommandLine) -> None:
    for sample in measured(cli, 3, "--until", "steady:30"):
        assert sample["outcome"] == "enough"
