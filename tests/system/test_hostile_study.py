"""Studies of hostile programs: each launch gives the right sample, and the next launch works.

test_hostile.py covers single launches of them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, leaves, nothing_left
from marks import end_marked
from mounting import mounted

from cases import cases

NOBODY = 65534
MIB = 1 << 20
ASSAY_MOST_MIB = 150
"""Memory limit above the need of assay for any size of output."""

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
pytestmark = pytest.mark.system


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> Iterator[CommandLine]:
    """Provide a command line, and prove afterwards that nothing was left."""
    before = leaves()
    line = CommandLine(assay_exec, tmp_path)
    yield line
    try:
        nothing_left(line, before)
    finally:
        end_marked(line.mark)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """Provide a file system of 8 MiB."""
    with tempfile.TemporaryDirectory() as name:
        words = ("-t", "tmpfs", "-o", "size=8m,mode=777", "tmpfs")
        with mounted(Path(name), *words) as disk:
            yield disk


def evidence(sample: dict[str, Any], kind: str) -> Any:
    """Return the value or the note of a piece of evidence; `None` without one."""
    found = [entry for entry in sample["evidence"] if entry["kind"] == kind]
    return (found[0].get("value") or found[0].get("note")) if found else None


# --- compared with an ordinary program ----------------------------------------------------------


@dataclass(frozen=True)
class Expected:
    """Expected outcome of each launch of an arm."""

    words: str
    outcome: str = "ok"
    left_over: int | None = None
    """`None` stands for any number."""
    promised: str = "complete"
    signal: int | None = None


HOSTILE = {
    "daemon": Expected("linger daemon", left_over=1),
    "stopped": Expected("linger stopped", left_over=2),
    "traced": Expected("linger traced", left_over=2),
    "leaderless": Expected("linger leaderless", left_over=1),
    "reaper": Expected("linger reaper", left_over=4),
    "stuck": Expected("linger stuck", left_over=2),
    "bomb": Expected("linger bomb 200"),
    "session": Expected("strike session", left_over=1),
    "stopping": Expected("strike supervisor 19", left_over=1),
    "output": Expected("strike output", left_over=1),
    "crash": Expected("burden crash 11", "failed", 0, signal=signal.SIGSEGV),
    "abort": Expected("burden crash 6", "failed", 0, signal=signal.SIGABRT),
    "binary": Expected("burden binary", left_over=0),
}
CONTAINED = {
    "leave": Expected("linger leave", left_over=2, promised="best_effort"),
    "deep": Expected("linger deep 70"),
    "chmod": Expected("escape chmod 1 x 0", left_over=1),
    "frozen": Expected("escape freeze 1 x 0", "timed_out", 0),
}


def compare(cli: CommandLine, programs: Path, arms: dict[str, Expected]) -> list[dict[str, Any]]:
    """Compare them with an idle program; return every sample."""
    commands = [str(programs / arm.words) for arm in arms.values()]
    names = [word for name in ("honest", *arms) for word in ("--name", name)]
    runs = str(12 * (1 + len(arms)))
    words = ("compare", "true", *commands, *names, "--runs", runs, "--timeout", "1s", "--json")
    answer = cli(*words, timeout_s=300, STRIKE_S="0.02")
    assert answer.status == 0, answer.err
    return cli.documents()


def judge(samples: list[dict[str, Any]], arms: dict[str, Expected], *, promise: bool) -> None:
    """Check that every sample is correct for its arm."""
    by_arm: dict[str, list[dict[str, Any]]] = {}
    for sample in samples:
        by_arm.setdefault(sample["launch"]["arm"], []).append(sample)
    assert by_arm.keys() == {"honest", *arms}
    for sample in by_arm["honest"]:
        assert sample["outcome"] == "ok"
        assert evidence(sample, "remaining_processes") is None
    for name, arm in arms.items():
        for sample in by_arm[name]:
            assert sample["outcome"] == arm.outcome, (name, sample)
            ends = (signal.SIGTERM, signal.SIGKILL) if arm.outcome == "timed_out" else (arm.signal,)
            assert sample.get("signal") in ends, (name, sample)
            left = evidence(sample, "remaining_processes")
            assert left is not None if arm.left_over is None else (left or 0) == arm.left_over, name
            assert evidence(sample, "surviving_processes") is None
            containment = evidence(sample, "containment")
            assert containment.endswith(arm.promised if promise else "best_effort"), name


@pytest.mark.rotating
@root_only
def test_hostile_arms_do_not_affect_other_arm(cli: CommandLine, programs: Path) -> None:
    arms = HOSTILE | CONTAINED
    judge(compare(cli, programs, arms), arms, promise=True)


DROP = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
READ_ALL = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
"""Privilege that lets a user read files of root, and nothing else."""


def runs(cli: CommandLine, prefix: tuple[str, ...]) -> bool:
    command = [*prefix, sys.executable, "-c", "import assay.cli.main"]
    return subprocess.run(command, env=cli.env, capture_output=True).returncode == 0


@pytest.fixture
def nobody(assay_exec: Path, programs: Path) -> Iterator[CommandLine]:
    """Return a command line of an unprivileged user, in a folder of its own."""
    copy = programs / "assay-exec"
    shutil.copy(assay_exec, copy)
    copy.chmod(0o755)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in (folder, folder / "tmp", folder / "work"):
            path.mkdir(exist_ok=True)
            os.chown(path, NOBODY, NOBODY)
        line = CommandLine(copy, folder)
        line.more = {"HOME": name, "TMPDIR": str(folder / "tmp")}
        line.prefix = DROP
        if not runs(line, line.prefix):  # the interpreter may lie in root's own folder
            line.prefix = (*DROP, *READ_ALL)
        if not runs(line, line.prefix):
            pytest.skip("assay cannot be run as another user here")
        yield line
        end_marked(line.mark)
        assert list((folder / "tmp").iterdir()) == []


@pytest.mark.rotating
@root_only
def test_hostile_arms_are_contained_without_control_groups_and_privileges(
    nobody: CommandLine, programs: Path
) -> None:
    """Descendants are adopted and ended one by one; the record states the weaker guarantee."""
    judge(compare(nobody, programs, HOSTILE), HOSTILE, promise=False)
    assert not nobody.processes()


# --- the launcher as a target -------------------------------------------------------------------


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("how", "by"),
    cases(
        [("supervisor 9", "SIGKILL"), ("launcher 2", "SIGINT")],
        slow=[("supervisor 15", "SIGTERM"), ("launcher 9", "SIGTERM"), ("both 9", "SIGKILL")],
    ),
)
def test_program_always_ending_its_launcher_fails(
    cli: CommandLine, programs: Path, how: str, by: str
) -> None:
    """It is not taken for Ctrl-C, and the next launch follows: three are tried."""
    quickly = ("--grace", "100ms")  # it takes no notice of SIGTERM
    answer = cli("measure", "--runs", "8", *quickly, "--", programs / "strike", *how.split())
    assert answer.status == 1, answer.err
    assert f"{by} ended its launcher; assay had not requested that" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.rotating
@pytest.mark.parametrize(
    "how", cases(["launcher 9", "both 19"], slow=["supervisor 9", "both 9", "launcher 15"])
)
def test_terminated_launcher_costs_one_sample(cli: CommandLine, programs: Path, how: str) -> None:
    (cli.folder / "count").write_text("0")
    script = (
        "read n < count; echo $((n + 1)) > count; "
        f"[ $n -ne 4 ] || exec env STRIKE_S=0.1 {programs}/strike {how}"
    )
    answer = cli("measure", "--runs", "12", "--json", "--", "sh", "-c", script)
    assert answer.status == 0, answer.err
    outcomes = [sample["outcome"] for sample in cli.documents()]
    assert len(outcomes) == 12
    if how == "both 19":  # which is only delayed
        assert outcomes == ["ok"] * 12
    else:
        assert outcomes[4] == "failed"
        assert [*outcomes[:4], *outcomes[5:]] == ["ok"] * 11


@pytest.mark.rotating
def test_stopped_launcher_of_process_group_only_delays(cli: CommandLine, programs: Path) -> None:
    """No shell controls the jobs of this session: were the program in the process group of assay,
    the kernel would take that for abandoned when it ends while the launcher is stopped, and send
    it SIGHUP (POSIX, _exit, "Consequences of Process Termination").
    """
    before = leaves()
    script = f"exec env STRIKE_S=0.1 {programs}/strike launcher 19"
    for session in (True, False):
        with cli.begun(
            "measure", "--runs", "8", "--", "sh", "-c", script, session=session
        ) as process:
            assert process.wait(timeout=30) == 0, cli.begun_err
    nothing_left(cli, before)
    assert {sample["outcome"] for sample in cli.documents()} == {"ok"}


@pytest.mark.rotating
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_signal_to_own_process_group_ends_only_program(
    cli: CommandLine, number: signal.Signals
) -> None:
    """Many scripts end with ``trap "kill 0" EXIT`` to end their own processes."""
    script = f'trap "kill -{number.value} 0" EXIT; sleep 9 & exit 0'
    before = leaves()
    with cli.begun("measure", "--runs", "7", "--", "sh", "-c", script) as process:
        process.wait(timeout=60)
        assert process.returncode in (0, 1), cli.begun_err
    nothing_left(cli, before)
    assert cli.samples()
    assert {sample["outcome"] for sample in cli.documents()} <= {"ok", "failed"}


# --- outputs ------------------------------------------------------------------------------------


def highest_mib(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process; return its peak memory."""
    highest = 0
    while process.poll() is None:
        with contextlib.suppress(OSError, TypeError):
            status = Path(f"/proc/{process.pid}/status").read_text()
            highest = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])  # type: ignore[index]
        time.sleep(0.02)
    return highest / 1024


def flooded(cli: CommandLine, programs: Path, mib: int, runs: int) -> None:
    with cli.begun(
        "measure", "--runs", str(runs), "--", programs / "burden", "flood", str(mib)
    ) as p:
        assert highest_mib(p) < ASSAY_MOST_MIB
        assert p.returncode == 0, cli.begun_err
    samples = cli.documents()
    assert [sample["outcome"] for sample in samples] == ["ok"] * runs
    assert cli.output_sizes() == [mib * MIB] * runs


@pytest.mark.rotating
def test_large_output_uses_no_memory(cli: CommandLine, programs: Path) -> None:
    flooded(cli, programs, 200, 4)


@pytest.mark.slow
def test_very_large_output_uses_no_memory(cli: CommandLine, programs: Path) -> None:
    if shutil.disk_usage(tempfile.gettempdir()).free < 20 << 30:
        pytest.skip("needs 20 GB of disk")
    flooded(cli, programs, 10_000, 2)


@pytest.mark.rotating
def test_figures_are_read_among_arbitrary_bytes(cli: CommandLine, programs: Path) -> None:
    script = f"{programs}/burden binary; echo; echo score 42"
    answer = cli(
        *("measure", "--runs", "8", "--metric", r"score=score (\d+)", "--json"),
        *("--", "sh", "-c", script),
    )
    assert answer.status == 0, answer.err
    assert {sample["metrics"]["score"] for sample in cli.documents()} == {42.0}
    shown = cli("study", "show", "last")
    assert shown.status == 0
    assert "\x1b]" not in shown.out


# --- exhausted resources ------------------------------------------------------------------------


@pytest.mark.rotating
@root_only
def test_full_output_disk_fails_program(cli: CommandLine, programs: Path, small_disk: Path) -> None:
    answer = cli(
        "measure", "--runs", "8", "--", programs / "burden", "flood", "20", TMPDIR=str(small_disk)
    )
    assert answer.status == 1, answer.err
    assert "exit status 28" in answer.err
    assert list(small_disk.iterdir()) == [], "nothing is left of the output"
    answer = cli("measure", "--runs", "8", "--", "true", TMPDIR=str(small_disk))
    assert answer.status == 0, answer.err


@pytest.mark.rotating
@root_only
def test_temporarily_full_output_disk_is_tolerated(cli: CommandLine, small_disk: Path) -> None:
    script = f"head -c 20M /dev/zero > {small_disk}/fill 2>/dev/null; rm {small_disk}/fill"
    answer = cli("measure", "--runs", "8", "--", "sh", "-c", script, TMPDIR=str(small_disk))
    assert answer.status == 0, answer.err
    assert {sample["outcome"] for sample in cli.documents()} == {"ok"}


@pytest.mark.rotating
@root_only
def test_full_store_disk_loses_no_sample(
    cli: CommandLine, programs: Path, small_disk: Path
) -> None:
    """The fifth launch fills it; the study continues once there is space."""
    store = small_disk / "studies.db"
    fill = small_disk / "fill"
    (cli.folder / "count").write_text("0")
    script = (
        "read n < count; echo $((n + 1)) > count; "
        f"[ $n -ne 5 ] || head -c 20M /dev/zero > {fill} 2>/dev/null; {programs}/burden binary"
    )
    words = ("measure", "--runs", "300", "--precision", "0.001%", "--", "sh", "-c", script)
    answer = cli(*words, ASSAY_DB=str(store))
    assert answer.status == 3, answer.err
    assert "Traceback" not in answer.err
    assert "full" in answer.err or "could not be read or written" in answer.err
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        (kept,) = database.execute("SELECT count(*) FROM sample").fetchone()
    assert kept >= 5
    fill.unlink()
    answer = cli("study", "resume", "last", "--runs", "10", ASSAY_DB=str(store))
    assert answer.status == 0, answer.err
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        (count,) = database.execute("SELECT count(*) FROM sample").fetchone()
    assert count == kept + 10


@pytest.mark.rotating
@root_only
def test_inaccessible_folder_pauses_study(nobody: CommandLine, programs: Path) -> None:
    """The output's own folder is opened again by assay; the user's is the user's."""
    if nobody.prefix != DROP:
        pytest.skip("this user may search every folder")
    work = nobody.folder / "work"
    words = ("measure", "--runs", "6", "--", programs / "strike", "files")
    for stored in (1, 2, 3):
        answer = nobody(*words, STRIKE_S="0", cwd=work)
        assert answer.status == 3, answer.err
        assert f'cannot enter "{work}": Permission denied' in answer.err
        assert len(nobody.samples()) == stored, "one launch more: the one that closes it again"
        assert {sample["outcome"] for sample in nobody.documents()} == {"ok"}
        work.chmod(0o755)
        words = ("study", "resume", "last")


# --- the terminal -------------------------------------------------------------------------------


@pytest.mark.rotating
def test_ctrl_c_works_after_program_took_terminal(cli: CommandLine, programs: Path) -> None:
    """The program that closed it ended long before."""
    ours, theirs = pty.openpty()

    def control() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    words = ("measure", "--runs", "100000", "--precision", "0.001%")
    with subprocess.Popen(
        cli.argv(*words, "--", programs / "strike", "terminal"),
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=cli.env | {"STRIKE_S": "0.001"},
        cwd=cli.folder,
        preexec_fn=control,
    ) as process:
        try:
            cli.wait_for(5)
            end = time.monotonic() + 30
            while process.poll() is None:
                assert time.monotonic() < end, "out of reach"
                # An interrupt with the program in the foreground ends only the program.
                os.write(ours, b"\x03")
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=1)
        finally:
            process.kill()
    os.close(ours)
    os.close(theirs)
    # A second interrupt at the end of assay kills it by the signal: status 130 in a shell.
    assert process.returncode in (130, -signal.SIGINT)
