"""What a person sees on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def on_terminal(cli: CommandLine, columns: int, *words: str, **env: str) -> tuple[int, str]:
    """Status of a command line whose output is a terminal, and all that it drew."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    plain = {k: v for k, v in cli.env.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
    with subprocess.Popen(
        cli.argv(*words),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**plain, "TERM": "xterm-256color", **env},
        cwd=cli.folder,
    ) as process:
        os.close(theirs)
        drawn = b""
        while True:
            try:
                drawn += os.read(ours, 65536)
            except OSError:  # nobody holds the other end any more
                break
        os.close(ours)
    return process.returncode, drawn.decode()


@pytest.mark.rotating
def test_the_time_left_goes_on_through_a_long_launch(cli: CommandLine) -> None:
    status, drawn = on_terminal(cli, 60, "measure", "--budget", "9s", "--", "sleep", "3.5")
    assert status in (0, 3), drawn
    left = [int(seconds) for seconds in re.findall(r"(\d+) s left", drawn)]
    assert left == sorted(left, reverse=True)
    assert len(set(left)) >= 5, drawn  # of two launches


@pytest.mark.rotating
def test_nothing_is_cut_within_a_word(cli: CommandLine) -> None:
    arm = "env.A=1 env.B=2 env.LONG_NAME=a_long_value nice=5"
    words = ("--arm", arm, "--runs", "16", "--", "sleep", "0.01")
    status, drawn = on_terminal(cli, 60, "compare", *words)
    assert status == 0
    seen = [line for line in ESCAPE.sub("", drawn).replace("\r", "\n").split("\n") if line]
    assert max(map(len, seen)) <= 60, seen
    assert "  default" in seen and f"  {arm}" in seen  # above their numbers
    assert any(line.split()[:3] == ["n", "min", "q1"] for line in seen)


@pytest.mark.rotating
@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_line_that_changes_can_be_refused(cli: CommandLine, env: dict[str, str]) -> None:
    status, drawn = on_terminal(cli, 80, "measure", "--runs", "6", "--", "true", **env)
    assert status == 0
    assert not ESCAPE.search(drawn)
    assert "assay: timing" in drawn or "assay: confirming" in drawn


@pytest.mark.rotating
def test_elsewhere_than_on_a_terminal_no_line_changes(cli: CommandLine) -> None:
    """Whatever is said of colours: it would end up in a log."""
    answer = cli("measure", "--color", "always", "--runs", "6", "--", "true")
    assert not ESCAPE.search(answer.err + answer.out)
    assert "assay: " in answer.err
