"""A study one of whose launches is stopped for a while: it is named, with its evidence."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from command_line import CommandLine
from launching import processes_with, state_of

pytestmark = pytest.mark.system

STOPPED_S = 1.0


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def sleepers(token: str) -> list[int]:
    """Return the processes of sleep(1) with an argument; assay has it among its own."""
    found = []
    for pid in processes_with(token):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "sleep":
                found.append(pid)
    return found


def stop_a_sleeper(token: str) -> int | None:
    """Stop the process of the current launch; return nothing if it ended meanwhile."""
    for pid in sleepers(token):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGSTOP)
            while (state := state_of(pid)) in "RSD":  # the signal is pending
                time.sleep(0.001)
            return pid if state == "T" else None
    return None


def stop_one(token: str) -> None:
    """Stop a process for a while, and continue it."""
    end = time.monotonic() + 10
    while (pid := stop_a_sleeper(token)) is None:
        assert time.monotonic() < end, "no launch runs"
        time.sleep(0.01)
    try:
        time.sleep(STOPPED_S)
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.rotating
@pytest.mark.parametrize("words", [(), ("sh", "-c", '"$@"; :', "sh")], ids=["alone", "below"])
def test_stopped_launch_is_named_with_the_time(cli: CommandLine, words: tuple[str, ...]) -> None:
    """Stop the program itself, or a process below it, in one launch of a study."""
    token = f"0.4{os.getpid():08d}"
    with ThreadPoolExecutor(1) as pool:
        study = pool.submit(cli, "measure", "--runs", "6", "--", *words, "sleep", token)
        cli.wait_for(3)
        stop_one(token)
        answer = study.result()
    assert answer.status == 0, answer.err
    samples = cli.documents()
    (stopped,) = [sample for sample in samples if sample.get("contradictions")]
    (reason,) = stopped["contradictions"]
    reported = re.fullmatch(
        r"it was stopped \(by SIGSTOP or a similar signal\) for ([0-9.]+) s of ([0-9.]+) s", reason
    )
    assert reported, reason
    assert STOPPED_S - 0.25 < float(reported[1]) <= float(reported[2])
    assert stopped["wall_s"] >= STOPPED_S - 0.25
    note = f"1 of {len(samples)} launches is suspect, since the program was stopped"
    assert f"{note}, and still counted; the last: {reason}" in " ".join(answer.out.split())
