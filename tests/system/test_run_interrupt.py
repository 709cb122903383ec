"""Ctrl-C during `assay run`: the first is the program's, the second ends the tree."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left

SERVER = """
import signal, sys, time
got = []
def stop(number, frame):
    got.append(number)
    print("stop", flush=True)
signal.signal(signal.SIGINT, stop)
print("ready", flush=True)
while not got or {deaf}:
    time.sleep(0.02)
time.sleep(0.5)
print("clean", len(got), flush=True)
sys.exit(7)
"""
"""Shuts down in its own time after a SIGINT, and says how many it got."""


def server(*, deaf: bool = False) -> list[str]:
    return [sys.executable, "-c", SERVER.format(deaf=deaf)]


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@contextmanager
def running(cli: CommandLine, words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        cli.argv("run", "--record", "record.json", "--", *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.env,
        cwd=cli.folder,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


TO = [
    pytest.param(lambda process: os.killpg(process.pid, signal.SIGINT), id="the group"),
    pytest.param(lambda process: process.send_signal(signal.SIGINT), id="assay alone"),
]


@pytest.mark.system
@pytest.mark.parametrize("interrupt", TO)
def test_the_first_is_left_to_the_program(
    cli: CommandLine, interrupt: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    before = leaves()
    with running(cli, server()) as process:
        interrupt(process)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (7, b"stop\nclean 1\n", b"")
    record = json.loads((cli.folder / "record.json").read_text())
    assert record["exit_status"] == 7
    nothing_left(cli, before)


@pytest.mark.system
@pytest.mark.parametrize("interrupt", TO)
def test_the_second_ends_the_tree(
    cli: CommandLine, interrupt: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    before = leaves()
    with running(cli, server(deaf=True)) as process:
        assert process.stdout is not None
        interrupt(process)
        assert process.stdout.readline() == b"stop\n"
        time.sleep(0.3)
        assert process.poll() is None
        interrupt(process)
        assert process.wait(timeout=20) == 130
    nothing_left(cli, before)


@pytest.mark.system
@pytest.mark.parametrize("interrupt", TO)
def test_a_program_that_dies_of_it_is_seen_to(
    cli: CommandLine, interrupt: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    with running(cli, ["sh", "-c", "echo ready; exec sleep 60"]) as process:
        interrupt(process)
        assert process.wait(timeout=20) == -signal.SIGINT


@pytest.mark.system
def test_from_a_terminal(cli: CommandLine) -> None:
    """As a person's Ctrl-C comes: from the kernel, to the foreground group."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cli.folder)
        words = cli.argv("run", "--", *server())
        os.execve(words[0], words, cli.env)
    said = b""
    while b"ready" not in said:
        said += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    while b"clean" not in said or not said.endswith(b"\n"):
        said += os.read(terminal, 1000)
    assert b"clean 1\r\n" in said
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    os.close(terminal)


@contextmanager
def launched(assay_exec: Path, plan: dict[str, object]) -> Iterator[subprocess.Popen[bytes]]:
    """The launcher alone, which changes no control group."""
    with subprocess.Popen(
        [assay_exec, "--plan", "/dev/stdin", "--record", "/dev/stderr"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({"containment": "none", **plan}).encode())
        process.stdin.close()
        process.stdin = None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_the_launcher_leaves_it_where_it_is_told_to(assay_exec: Path) -> None:
    """It passes one on when its caller was interrupted, but not the one that all have got."""
    with launched(assay_exec, {"argv": server(), "interrupt": "leave"}) as process:
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGUSR1)
        out, record = process.communicate(timeout=20)
    assert out == b"stop\nclean 1\n"
    assert json.loads(record)["exit_status"] == 7
    with launched(assay_exec, {"argv": server(), "interrupt": "leave"}) as process:
        os.killpg(process.pid, signal.SIGINT)
        process.send_signal(signal.SIGUSR1)
        assert process.communicate(timeout=20)[0] == b"stop\nclean 1\n"
    with launched(assay_exec, {"argv": server(), "interrupt": "end"}) as process:
        process.send_signal(signal.SIGINT)
        assert json.loads(process.communicate(timeout=20)[1])["outcome"] == "interrupted"


def test_it_can_still_be_told_to_end(assay_exec: Path) -> None:
    with launched(assay_exec, {"argv": server(deaf=True), "interrupt": "leave"}) as process:
        process.send_signal(signal.SIGTERM)
        record = json.loads(process.communicate(timeout=20)[1])
    assert (record["outcome"], record["interrupted_by"]) == ("interrupted", signal.SIGTERM)


def test_anything_else_is_refused(assay_exec: Path) -> None:
    plan = json.dumps({"argv": ["true"], "interrupt": "ask"})
    done = subprocess.run(
        [assay_exec, "--plan", "-", "--record", "-"], input=plan.encode(), capture_output=True
    )
    assert done.returncode == 125
    assert json.loads(done.stdout)["message"].startswith("interrupt: must be end or leave")
