"""Signals during `assay run`: the first is the program's, a second one ends the tree."""

from __future__ import annotations

import contextlib
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

from assay.launch.running import request_forwarding
from rotation import others_in_turns

SERVER = """
import signal, sys, time
got = []
def stop(number, frame):
    got.append(number)
    print("stop", flush=True)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, stop)
print("ready", flush=True)
while not got or {deaf}:
    time.sleep(0.02)
time.sleep(0.5)
print("clean", *got, flush=True)
sys.exit(7)
"""
"""Shuts down gracefully on a signal, and prints the signal."""


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


def to_job(cli: CommandLine, number: int) -> None:
    """Signal every process, the supervisor included, as service managers and batch systems do."""
    for pid in cli.pids():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


Send = Callable[[CommandLine, subprocess.Popen[bytes], int], None]
TO = [
    pytest.param(lambda cli, process, n: os.killpg(process.pid, n), id="the group"),
    pytest.param(lambda cli, process, n: process.send_signal(n), id="assay alone"),
    pytest.param(lambda cli, process, n: to_job(cli, n), id="the whole job"),
]
NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.system
@pytest.mark.parametrize("send", others_in_turns(*TO))
@pytest.mark.parametrize("number", others_in_turns(*NUMBERS))
def test_first_signal_is_left_to_program(
    cli: CommandLine, send: Send, number: signal.Signals
) -> None:
    before = leaves()
    with running(cli, server()) as process:
        send(cli, process, number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (7, b"stop\nclean %d\n" % number, b"")
    record = json.loads((cli.folder / "record.json").read_text())
    assert record["exit_status"] == 7
    nothing_left(cli, before)


@pytest.mark.system
@pytest.mark.parametrize("send", others_in_turns(*TO))
@pytest.mark.parametrize("number", others_in_turns(*NUMBERS))
def test_second_signal_ends_tree(cli: CommandLine, send: Send, number: signal.Signals) -> None:
    before = leaves()
    with running(cli, server(deaf=True)) as process:
        assert process.stdout is not None
        send(cli, process, number)
        assert process.stdout.readline() == b"stop\n"
        time.sleep(0.3)
        assert process.poll() is None
        send(cli, process, number)
        assert process.wait(timeout=20) == 128 + number
    nothing_left(cli, before)


@pytest.mark.rotating
@pytest.mark.system
def test_timeout_signal_ends_program(cli: CommandLine) -> None:
    """timeout(1) signals assay, then the group, and returns its own status."""
    before = leaves()
    with subprocess.Popen(
        ["timeout", "60", *cli.argv("run", "--", *server())],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.env,
        cwd=cli.folder,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGALRM)  # of its timer, once the program is ready
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (124, b"stop\nclean 15\n", b"")
    nothing_left(cli, before)


@pytest.mark.system
@pytest.mark.parametrize("send", TO)
@pytest.mark.parametrize("number", NUMBERS)
def test_death_by_signal_is_reported(cli: CommandLine, send: Send, number: signal.Signals) -> None:
    with running(cli, ["sh", "-c", "echo ready; exec sleep 60"]) as process:
        send(cli, process, number)
        assert process.wait(timeout=20) == -number


@pytest.mark.system
def test_hangup_under_nohup_is_ignored(cli: CommandLine) -> None:
    """SIGHUP is ignored then, by assay, the launcher and the program alike."""
    words = ["nohup", *cli.argv("run", "--", "sh", "-c", "echo ready; sleep 1; echo done")]
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=cli.env,
        cwd=cli.folder,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.killpg(process.pid, signal.SIGHUP)
        assert process.communicate(timeout=20)[0] == b"done\n"
        assert process.returncode == 0


@pytest.mark.system
def test_terminal_interrupt_reaches_program(cli: CommandLine) -> None:
    """Ctrl-C comes from the kernel, to the foreground group."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cli.folder)
        words = cli.argv("run", "--", *server())
        os.execve(words[0], words, cli.env)
    result = b""
    while b"ready" not in result:
        result += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    while b"clean" not in result or not result.endswith(b"\n"):
        result += os.read(terminal, 1000)
    assert b"clean 2\r\n" in result
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    os.close(terminal)


@contextmanager
def launched(assay_exec: Path, plan: dict[str, object]) -> Iterator[subprocess.Popen[bytes]]:
    """Start only the launcher, which changes no control group."""
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


@pytest.mark.parametrize("number", others_in_turns(*NUMBERS))
def test_launcher_leaves_interrupt_to_caller(assay_exec: Path, number: signal.Signals) -> None:
    """It passes on a signal of its caller, but not one that all processes received."""
    clean = b"stop\nclean %d\n" % number
    with launched(assay_exec, {"argv": server(), "signals": "leave"}) as process:
        process.send_signal(number)
        time.sleep(0.3)
        assert process.poll() is None
        request_forwarding(process.pid, number)
        out, record = process.communicate(timeout=20)
    assert out == clean
    assert json.loads(record)["exit_status"] == 7
    with launched(assay_exec, {"argv": server(), "signals": "leave"}) as process:
        os.killpg(process.pid, number)
        request_forwarding(process.pid, number)
        assert process.communicate(timeout=20)[0] == clean
    with launched(assay_exec, {"argv": server(), "signals": "end"}) as process:
        process.send_signal(number)
        assert json.loads(process.communicate(timeout=20)[1])["outcome"] == "interrupted"


@pytest.mark.parametrize("signals", ["leave", "end"])
def test_other_signals_still_end_launch(assay_exec: Path, signals: str) -> None:
    with launched(assay_exec, {"argv": server(deaf=True), "signals": signals}) as process:
        process.send_signal(signal.SIGSYS)
        record = json.loads(process.communicate(timeout=20)[1])
    assert (record["outcome"], record["interrupted_by"]) == ("interrupted", signal.SIGTERM)


def test_invalid_signal_setting_is_refused(assay_exec: Path) -> None:
    plan = json.dumps({"argv": ["true"], "signals": "ask"})
    done = subprocess.run(
        [assay_exec, "--plan", "-", "--record", "-"], input=plan.encode(), capture_output=True
    )
    assert done.returncode == 125
    assert json.loads(done.stdout)["message"].startswith("signals: must be end or leave")
