"""Signals to `assay run` and `assay tier run`: each reaches the program once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left
from launching import state_of

from assay.cli.process.signal_relay import TERMINATION_REQUESTS
from assay.signals import CATCHABLE

pytestmark = pytest.mark.system

COUNTING = """
import os, signal, sys
reading, writing = os.pipe()
os.set_blocking(writing, False)
signal.set_wakeup_fd(writing)
for number in map(int, sys.argv[2:]):
    signal.signal(number, lambda number, frame: None)
with open(sys.argv[1], "wb", buffering=0) as log:
    print("ready", flush=True)
    while True:
        got = os.read(reading, 1)
        log.write(got)
        if got[0] == signal.SIGTERM:
            sys.exit(7)
"""
"""Writes the number of each received signal; ends with status 7 at SIGTERM."""
SLEEPING = "import time; print('ready', flush=True); time.sleep(0.5)"
UNTIL_CONTINUED = """
import signal, sys, time
signal.signal(signal.SIGCONT, lambda *_: sys.exit())
print("ready", flush=True)
time.sleep(60)
"""
STOPPED_S = 1.2
RUN = ("run", "--record", "record.json")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@contextmanager
def running(
    cli: CommandLine, verb: tuple[str, ...], *words: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Start it in its own process group, as a shell starts a job."""
    with subprocess.Popen(
        cli.argv(*verb, "--", sys.executable, "-c", *words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.env,
        cwd=cli.folder,
        process_group=0,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGCONT)
                os.killpg(process.pid, signal.SIGKILL)


def alone(process: subprocess.Popen[bytes], number: int) -> None:
    process.send_signal(number)


def group(process: subprocess.Popen[bytes], number: int) -> None:
    os.killpg(process.pid, number)


Send = Callable[[subprocess.Popen[bytes], int], None]
to = pytest.mark.parametrize("send", [alone, group])


def log_of(cli: CommandLine) -> Counter[int]:
    return Counter((cli.folder / "log").read_bytes())


def wait_for(cli: CommandLine, expected: Counter[int]) -> None:
    end = time.monotonic() + 10
    while log_of(cli).total() < expected.total() and time.monotonic() < end:
        time.sleep(0.02)


@to
def test_each_signal_reaches_the_program_once(cli: CommandLine, send: Send) -> None:
    before = leaves()
    numbers = [number for number in sorted(CATCHABLE) if number not in TERMINATION_REQUESTS]
    assert {signal.SIGUSR1, signal.SIGQUIT, signal.SIGTSTP, signal.SIGRTMAX} <= set(numbers)
    expected = Counter(numbers)
    with running(cli, RUN, COUNTING, "log", *map(str, (*numbers, signal.SIGTERM))) as process:
        for number in numbers:
            if number == signal.SIGTSTP:  # a stop signal discards a pending SIGCONT
                wait_for(cli, Counter(numbers[: numbers.index(number)]))
            send(process, number)
            time.sleep(0.005)
        wait_for(cli, expected)
        time.sleep(0.3)  # a second one would have arrived
        assert log_of(cli) == expected
        send(process, signal.SIGTERM)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (7, b"")
    assert log_of(cli) == expected + Counter([signal.SIGTERM])
    assert json.loads((cli.folder / "record.json").read_text())["exit_status"] == 7
    nothing_left(cli, before)


@to
def test_real_time_signals_are_not_merged(cli: CommandLine, send: Send) -> None:
    number = signal.SIGRTMIN + 3
    expected = Counter({number: 5})
    with running(cli, RUN, COUNTING, "log", str(int(number)), "15") as process:
        for _ in range(5):
            send(process, number)
        wait_for(cli, expected)
        time.sleep(0.3)
        assert log_of(cli) == expected
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 7


@to
@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGQUIT, signal.SIGRTMIN])
def test_death_by_signal_gives_status(cli: CommandLine, send: Send, number: int) -> None:
    with running(cli, RUN, SLEEPING.replace("0.5", "60")) as process:
        send(process, number)
        assert process.wait(timeout=20) == -number


@pytest.mark.parametrize("how", ["pager", "advisor"])
def test_tier_run_passes_signals_on(cli: CommandLine, tmp_path: Path, how: str) -> None:
    place = ("--path", str(tmp_path)) if how == "pager" else ()
    verb = ("tier", "run", "--dram", "64M", "--how", how, *place)
    if cli(*verb, "--", "true").status == 125:
        pytest.skip(f"no {how} here")
    expected = Counter([signal.SIGUSR1, signal.SIGWINCH])
    with running(cli, verb, COUNTING, "log", "10", "28", "15") as process:
        for number in expected:
            alone(process, number)
        wait_for(cli, expected)
        assert log_of(cli) == expected
        alone(process, signal.SIGTERM)
        assert process.wait(timeout=20) == 7


AWAITING = """
import os, signal, time
kept = bytearray(b"x") * (96 << 20)
numbers = [signal.SIGURG, signal.SIGUSR1, signal.SIGIO]
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
for number in numbers:
    os.kill(os.getpid(), number)
    time.sleep(0.05)
    got = signal.sigtimedwait(numbers, 0.2)
    print(number == (got and got.si_signo), flush=True)
kept[::4096] = b"y" * len(kept[::4096])
"""
"""Waits for signals that it blocks; the pager has them blocked too, and works meanwhile."""


def test_pager_thread_receives_no_signal(cli: CommandLine, tier_allowed: None, disk: Path) -> None:
    verb = ("tier", "run", "--dram", "64M", "--how", "pager", "--path", str(disk))
    done = cli(*verb, "--", sys.executable, "-c", AWAITING)
    assert done.out.split()[:3] == ["True"] * 3, done


def program_of(cli: CommandLine) -> int:
    (found,) = [
        pid
        for pid in cli.pids()
        if b"time.sleep" in Path(f"/proc/{pid}/cmdline").read_bytes()
        and b"record.json\0" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    return found


def await_state(pid: int, states: str) -> None:
    end = time.monotonic() + 10
    while state_of(pid) not in states:
        assert time.monotonic() < end, f"{pid} is in state {state_of(pid)}, not {states}"
        time.sleep(0.01)


@to
def test_program_and_assay_stop_and_continue_together(cli: CommandLine, send: Send) -> None:
    began = time.monotonic()
    with running(cli, RUN, UNTIL_CONTINUED) as process:
        program = program_of(cli)
        send(process, signal.SIGTSTP)
        await_state(program, "T")
        await_state(process.pid, "T")
        time.sleep(STOPPED_S)
        assert state_of(process.pid) == "T"
        send(process, signal.SIGCONT)
        assert process.wait(timeout=20) == 0
    record = json.loads((cli.folder / "record.json").read_text())
    assert record["wall_s"] < time.monotonic() - began - STOPPED_S, "stopped time is counted"


def test_continued_program_continues_assay(cli: CommandLine) -> None:
    """The program itself is stopped and continued, as by a debugger or by cpulimit(1)."""
    with running(cli, RUN, UNTIL_CONTINUED) as process:
        program = program_of(cli)
        os.kill(program, signal.SIGSTOP)
        await_state(process.pid, "T")
        os.kill(program, signal.SIGCONT)
        assert process.wait(timeout=20) == 0


def test_assay_killed_while_stopped_leaves_no_process(cli: CommandLine) -> None:
    """In the process group of a shell that continues: the kernel ends no stopped process."""
    before = leaves()
    program = [sys.executable, "-c", SLEEPING.replace("0.5", "60")]
    with subprocess.Popen(
        ["sh", "-c", '"$@"; sleep 60', "sh", *cli.argv(*RUN, "--", *program)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=cli.env,
        cwd=cli.folder,
        process_group=0,
    ) as shell:
        try:
            assert shell.stdout is not None
            assert shell.stdout.readline() == b"ready\n"
            (assay,) = (
                int(pid)
                for pid in Path(f"/proc/{shell.pid}/task/{shell.pid}/children").read_text().split()
            )
            os.kill(program_of(cli), signal.SIGSTOP)
            await_state(assay, "T")
            os.kill(assay, signal.SIGKILL)
            end = time.monotonic() + 10
            while len(cli.pids()) > 2 and time.monotonic() < end:  # the shell and its sleep
                time.sleep(0.05)
            assert len(cli.pids()) <= 2, cli.processes()
        finally:
            os.killpg(shell.pid, signal.SIGKILL)
    nothing_left(cli, before)


def test_program_ignoring_stop_continues(cli: CommandLine) -> None:
    code = f"import signal; signal.signal(signal.SIGTSTP, signal.SIG_IGN); {SLEEPING}"
    with running(cli, RUN, code) as process:
        group(process, signal.SIGTSTP)
        assert process.wait(timeout=20) == 0
