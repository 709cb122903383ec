"""Output on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left

from rotation import others_in_turns

pytestmark = pytest.mark.system

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def on_terminal(cli: CommandLine, columns: int, *words: str, **env: str) -> tuple[int, str]:
    """Return the status of a command line on a terminal, and its whole output."""
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
            except OSError:  # the other end is closed
                break
        os.close(ours)
    return process.returncode, drawn.decode()


@pytest.mark.rotating
def test_remaining_time_is_updated_during_long_launch(cli: CommandLine) -> None:
    status, drawn = on_terminal(cli, 60, "measure", "--budget", "9s", "--", "sleep", "3.5")
    assert status in (0, 3), drawn
    left = [int(seconds) for seconds in re.findall(r"(\d+) s left", drawn)]
    assert left == sorted(left, reverse=True)
    assert len(set(left)) >= 5, drawn  # of two launches


@pytest.mark.rotating
def test_lines_break_between_words(cli: CommandLine) -> None:
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
def test_live_line_can_be_disabled(cli: CommandLine, env: dict[str, str]) -> None:
    status, drawn = on_terminal(cli, 80, "measure", "--runs", "6", "--", "true", **env)
    assert status == 0
    assert not ESCAPE.search(drawn)
    assert "assay: timing" in drawn or "assay: confirming" in drawn


@pytest.mark.rotating
def test_live_line_needs_terminal(cli: CommandLine) -> None:
    """Even with options for colours: escape sequences would end up in a log."""
    answer = cli("measure", "--color", "always", "--runs", "6", "--", "true")
    assert not ESCAPE.search(answer.err + answer.out)
    assert "assay: " in answer.err


@pytest.mark.parametrize("number", others_in_turns(signal.SIGQUIT, signal.SIGUSR1))
def test_ended_study_shows_cursor(cli: CommandLine, number: signal.Signals) -> None:
    before = leaves()
    with begun_on_terminal(cli) as (process, ours):
        drawn = read_until(ours, b"\x1b[?25l")
        cli.wait_for(1)
        os.kill(process.pid, number)
        drawn += read_until(ours, b"continues it")
        assert process.wait(timeout=20) == 128 + number
    assert drawn.rfind(b"\x1b[?25h") > drawn.rfind(b"\x1b[?25l")
    assert b"is kept" in drawn
    nothing_left(cli, before)


def test_stopped_study_shows_cursor(cli: CommandLine) -> None:
    with begun_on_terminal(cli) as (process, ours):
        read_until(ours, b"\x1b[?25l")
        os.kill(process.pid, signal.SIGTSTP)
        read_until(ours, b"\x1b[?25h")
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        os.kill(process.pid, signal.SIGCONT)
        read_until(ours, b"\x1b[?25l")
        os.kill(process.pid, signal.SIGTERM)
        read_until(ours, b"\x1b[?25h")
        assert process.wait(timeout=20) == 128 + signal.SIGTERM


@contextmanager
def begun_on_terminal(cli: CommandLine) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a long study in its own process group; yields it and the other end of its terminal."""
    ours, theirs = pty.openpty()
    plain = {k: v for k, v in cli.env.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
    words = cli.argv("measure", "--runs", "5000", "--precision", "0.001%", "--", "sleep", "0.05")
    env = {**plain, "TERM": "xterm-256color"}
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=env,
        cwd=cli.folder,
        process_group=0,
    ) as process:
        os.close(theirs)
        try:
            yield process, ours
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            os.close(ours)


def read_until(terminal: int, text: bytes) -> bytes:
    drawn = b""
    while text not in drawn:
        assert select.select([terminal], [], [], 20)[0], f"no {text!r} in {drawn!r}"
        drawn += os.read(terminal, 65536)
    return drawn
