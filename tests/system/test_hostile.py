"""Hostile programs under assay-exec: their outcome, remaining processes, and the record.

Each runs within a control group, without one, and as a user who may not create one. Where a
guarantee needs a control group, the tests assert the documented behaviour, not the observed one.
docs/reference/assay-exec.md, "Robustness against hostile programs", is the list.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import pty
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from launching import (
    CGROUPS,
    MAY_CHANGE_HOST,
    MIB,
    SESSION,
    Launcher,
    Record,
    groups_named,
    wait_until,
)
from marks import MARK, end_marked, gone, marked

NOBODY = 65534
IMPOSSIBLE = 77
"""Exit status of a test program whose method this host does not permit."""

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
system = pytest.mark.system


@dataclass(frozen=True)
class Way:
    """Containment of a program: keys of the plan, and the user who starts the launcher."""

    keys: Record
    options: dict[str, Any] = field(default_factory=dict)
    complete: bool = True
    """True if no process can escape."""


WAYS = {
    "cgroup": Way({"containment": "cgroup"}),
    "none": Way({"containment": "none"}, complete=False),
    "nobody": Way({}, {"user": NOBODY, "group": NOBODY, "extra_groups": []}, complete=False),
}
MARKS: dict[str, Any] = {"cgroup": (system, root_only), "none": (), "nobody": (system, root_only)}


def ways(*names: str) -> pytest.MarkDecorator:
    """Run the test in each of these ways."""
    chosen = [pytest.param(name, marks=MARKS[name], id=name) for name in names or WAYS]
    return pytest.mark.parametrize("way", chosen, indirect=True)


@pytest.fixture
def way(request: pytest.FixtureRequest) -> Way:
    return WAYS[request.param]


@pytest.fixture
def mark() -> Iterator[str]:
    """Provide a mark; afterwards no process may carry it."""
    word = uuid.uuid4().hex
    yield word
    left = gone(word)
    end_marked(word)
    assert not left


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Provide a folder that every user may write to."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)
        Path(name).chmod(0o777)


class Hostile:
    """Launches a test program in some way, under a mark."""

    def __init__(self, launcher: Launcher, programs: Path, mark: str) -> None:
        self._launcher = launcher
        self._programs = programs
        self._mark = mark

    def start(
        self, way: Way, *words: str | int, prefix: tuple[Any, ...] = (), **keys: Any
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Start a launch; `words` begin with the name of a test program, or with a path."""
        name = str(words[0])
        program = name if "/" in name else self._programs / name
        keys["env_set"] = {MARK: self._mark, **keys.get("env_set", {})}
        plan = self._launcher.plan([program, *words[1:]], **way.keys, **keys)
        # In another process group: without job control, that of a stopped launcher gets SIGHUP.
        group = {} if "preexec_fn" in way.options else {"process_group": 0}
        return self._launcher.start(plan, prefix=prefix, **group, **way.options)

    def __call__(self, way: Way, *words: str | int, **keys: Any) -> Record:
        record, _ = self._launcher.finish(self.start(way, *words, **keys))
        if record.get("exit_status") == IMPOSSIBLE:
            pytest.skip("this host does not allow it")
        return record

    def next_one_works(self, way: Way) -> None:
        """Launch an ordinary program after a hostile one."""
        record = self(way, shutil.which("true") or "/bin/true")
        assert (record["outcome"], record["exit_status"]) == ("exited", 0)
        assert record["containment"]["remaining_processes"] == 0


@pytest.fixture
def hostile(launcher: Launcher, programs: Path, mark: str) -> Hostile:
    return Hostile(launcher, programs, mark)


def promised(record: Record, way: Way) -> None:
    """Check that the record states the guarantee, and the reason for a weaker one."""
    containment = record["containment"]
    assert containment["guarantee"] == ("complete" if way.complete else "best_effort")
    assert way.complete or containment["reason"]
    assert "surviving_processes" not in containment


# --- remaining processes ------------------------------------------------------------------------

LINGERING = {
    "daemon": 1,
    "pipe": 1,
    "stopped": 2,
    "traced": 2,
    "leaderless": 1,
    "reaper": 4,
    "vfork 5": 1,
    "stuck": 2,
    "space": 2,
}
"""Ways to linger, and how many processes that leaves."""


@pytest.mark.rotating
@ways()
@pytest.mark.parametrize("how", LINGERING)
def test_surviving_processes_are_counted_and_ended(
    hostile: Hostile, mark: str, way: Way, how: str
) -> None:
    record = hostile(way, "linger", *how.split())
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    promised(record, way)
    assert record["containment"]["remaining_processes"] == LINGERING[how]
    assert not marked(mark), "already when the launcher ends"
    hostile.next_one_works(way)


@ways("cgroup", "none")
@pytest.mark.parametrize("how", LINGERING)
def test_program_ignoring_signals_and_children_end_at_time_limit(
    hostile: Hostile, mark: str, way: Way, how: str
) -> None:
    first, *more = how.split()
    record = hostile(way, "linger", f"-{first}", *more, timeout_s=0.3)
    assert (record["outcome"], record["signal"]) == ("timed_out", signal.SIGKILL)
    assert 0.3 <= record["wall_s"] < 10
    promised(record, way)
    assert not marked(mark)


@system
@root_only
@pytest.mark.parametrize("how", LINGERING)
def test_survivors_in_other_hierarchies_are_ended(
    hostile: Hostile, mark: str, hierarchy: Record, how: str
) -> None:
    way = Way(hierarchy)
    record = hostile(way, "linger", *how.split())
    promised(record, way)
    assert record["containment"]["remaining_processes"] == LINGERING[how]
    assert not marked(mark)


@ways()
def test_output_held_open_by_daemon_ends(hostile: Hostile, launcher: Launcher, way: Way) -> None:
    started = time.monotonic()
    record, done = launcher.finish(hostile.start(way, "linger", "pipe"))
    assert record["containment"]["remaining_processes"] == 1
    assert done.stdout == b""
    assert time.monotonic() - started < 20, "the daemon would hold it for a minute"


@ways()
@pytest.mark.parametrize("timeout_s", [0.02, 0.1, 0.5])
def test_growing_fork_bomb_is_ended(
    hostile: Hostile, mark: str, way: Way, timeout_s: float
) -> None:
    """At most 300 processes; the limit is a safeguard."""
    record = hostile(way, "linger", "-bomb", 300, timeout_s=timeout_s, limits={"pids": 400})
    assert record["outcome"] == "timed_out"
    assert record["wall_s"] < 10
    promised(record, way)
    assert not marked(mark)
    hostile.next_one_works(way)


@ways()
def test_detached_fork_bomb_is_ended(hostile: Hostile, mark: str, way: Way) -> None:
    record = hostile(way, "linger", "bomb", 300, limits={"pids": 400})
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    promised(record, way)
    assert 1 <= record["containment"]["remaining_processes"] <= 300
    assert not marked(mark)


@ways("cgroup")
def test_process_changing_ids_is_ended(hostile: Hostile, mark: str, way: Way) -> None:
    record = hostile(way, "linger", "hop", 2000)
    promised(record, way)
    assert not marked(mark)


@ways("none", "nobody")
def test_process_changing_ids_is_not_guaranteed_to_end_without_control_group(
    hostile: Hostile, mark: str, way: Way
) -> None:
    """A process is found by its id, and these change faster than they can be read."""
    record = hostile(way, "linger", "hop", 500)
    assert record["containment"]["guarantee"] == "best_effort"
    assert record["containment"]["reason"]
    end_marked(mark)


@pytest.mark.rotating
@system
@root_only
def test_process_of_other_user_is_named_as_survivor(
    hostile: Hostile, programs: Path, mark: str
) -> None:
    """An unprivileged supervisor may not end a set-user-ID program."""
    other = programs / "other"
    shutil.copy(programs / "linger", other)
    os.chown(other, 1, 1)
    other.chmod(0o4755)
    files = {"stdout": "/dev/null", "stderr": "/dev/null"}  # it would keep our output open
    env = {"LINGER_SETID": str(other)}
    record = hostile(WAYS["nobody"], "linger", "identity", env_set=env, **files)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    containment = record["containment"]
    assert (containment["guarantee"], containment["surviving_processes"]) == ("best_effort", 1)
    assert len(marked(mark)) == 1
    end_marked(mark)


# --- control groups -----------------------------------------------------------------------------


@ways("cgroup")
@pytest.mark.parametrize(("how", "left"), [("leave", 2), ("remove", 1)])
def test_process_outside_control_group_is_ended_and_reported(
    hostile: Hostile, mark: str, way: Way, how: str, left: int
) -> None:
    record = hostile(way, "linger", how)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    containment = record["containment"]
    assert containment["remaining_processes"] == left
    assert containment["guarantee"] == "best_effort"
    assert "left the control group" in containment["reason"]
    assert not marked(mark)
    hostile.next_one_works(way)


@ways("cgroup")
@pytest.mark.parametrize("how", ["leave", "remove"])
def test_program_outside_control_group_ends_at_time_limit(
    hostile: Hostile, mark: str, way: Way, how: str
) -> None:
    record = hostile(way, "linger", f"-{how}", timeout_s=0.3)
    assert (record["outcome"], record["signal"]) == ("timed_out", signal.SIGKILL)
    assert 0.3 <= record["wall_s"] < 10
    assert "left the control group" in record["containment"]["reason"]
    assert not marked(mark)


@ways("cgroup")
@pytest.mark.parametrize("stays", ["", "-"])
def test_process_frozen_in_other_group_is_thawed_and_ended(
    hostile: Hostile, mark: str, way: Way, stays: str
) -> None:
    """A process in a frozen group of the v1 freezer does not even die of SIGKILL."""
    if not (CGROUPS / "freezer" / "cgroup.procs").exists():
        pytest.skip("this host has no v1 freezer")
    elsewhere = CGROUPS / "freezer" / f"elsewhere-{mark}"
    try:
        record = hostile(
            way,
            "linger",
            f"{stays}frozen",
            timeout_s=1.0,
            env_set={"LINGER_FREEZER": str(elsewhere)},
        )
        assert record["outcome"] == ("timed_out" if stays else "exited")
        assert record["containment"]["guarantee"] == "best_effort"
        assert "surviving_processes" not in record["containment"]
        assert not marked(mark)
    finally:
        with contextlib.suppress(OSError):
            (elsewhere / "freezer.state").write_text("THAWED")
        end_marked(mark)
        elsewhere.rmdir()  # groups made by a program outside its control group are its own


@system
@root_only
@pytest.mark.parametrize("depth", [3, 100])
def test_nested_control_groups_are_removed(
    hostile: Hostile, mark: str, hierarchy: Record, depth: int
) -> None:
    """The fixture of the launcher checks that none remains."""
    record = hostile(Way(hierarchy), "linger", "deep", depth)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record["containment"]["guarantee"] == "complete"
    assert record["containment"]["remaining_processes"] >= 1
    assert not marked(mark)


# --- the launcher as a target -------------------------------------------------------------------

ENDING = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1"]


@ways()
@pytest.mark.parametrize("whom", ["supervisor", "launcher"])
@pytest.mark.parametrize("name", ENDING)
def test_signal_from_program_ends_launch(
    hostile: Hostile, mark: str, way: Way, whom: str, name: str
) -> None:
    number = signal.Signals[name]
    record = hostile(way, "strike", whom, number)
    ended_by = signal.SIGTERM if number is signal.SIGUSR1 else number
    assert (record["outcome"], record["interrupted_by"]) == ("interrupted", ended_by)
    promised(record, way)
    assert not marked(mark)
    hostile.next_one_works(way)


@ways()
def test_launcher_ends_tree_of_killed_supervisor(hostile: Hostile, mark: str, way: Way) -> None:
    record = hostile(way, "strike", "supervisor", signal.SIGKILL)
    assert (record["outcome"], record["interrupted_by"]) == ("interrupted", signal.SIGKILL)
    assert record["stage"] == "supervisor"
    promised(record, way)
    assert record["containment"]["remaining_processes"] >= 1
    assert not marked(mark)
    hostile.next_one_works(way)


@ways()
def test_supervisor_ends_tree_after_launcher_is_killed(
    hostile: Hostile, launcher: Launcher, mark: str, way: Way
) -> None:
    process, record_fd = hostile.start(way, "strike", "launcher", signal.SIGKILL)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    wait_until(lambda: os.fstat(record_fd).st_size > 0, "the supervisor writes the record")
    record = json.loads(os.pread(record_fd, MIB, 0))
    os.close(record_fd)
    assert (record["outcome"], record["interrupted_by"]) == ("interrupted", signal.SIGTERM)
    assert not gone(mark)
    hostile.next_one_works(way)


def removed(group: str) -> bool:
    """Remove a control group, which a process leaves only after it has lost its memory."""
    with contextlib.suppress(OSError):
        Path(group).rmdir()
    return not Path(group).exists()


@ways()
def test_killed_launcher_and_supervisor_end_program(hostile: Hostile, mark: str, way: Way) -> None:
    """A daemon of it is left to `assay-exec --sweep`, which needs a control group to find it."""
    process, record_fd = hostile.start(
        way, "strike", "both", signal.SIGKILL, stdout="/dev/null", stderr="/dev/null"
    )
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    assert os.fstat(record_fd).st_size == 0
    os.close(record_fd)
    wait_until(lambda: len(marked(mark)) == 2, "the program is dead, its daemons are not")
    end_marked(mark)
    for group in groups_named(SESSION):  # a name that assay never uses
        wait_until(lambda g=group: removed(g), "its last process has left it")


@ways()
@pytest.mark.parametrize("whom", ["supervisor", "launcher"])
def test_launcher_stopped_by_program_continues(
    hostile: Hostile, mark: str, way: Way, whom: str
) -> None:
    env = {"STRIKE_S": "0.2"}
    record = hostile(way, "strike", whom, signal.SIGSTOP, env_set=env)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert 0.2 <= record["wall_s"] < 10
    promised(record, way)
    assert record["containment"]["remaining_processes"] == 1
    assert not marked(mark)


@ways("cgroup", "none")
@pytest.mark.parametrize("whom", ["supervisor", "launcher"])
def test_stopped_launcher_enforces_time_limit(hostile: Hostile, way: Way, whom: str) -> None:
    record = hostile(way, "strike", whom, signal.SIGSTOP, timeout_s=0.3)
    assert record["outcome"] == "timed_out"
    assert record["wall_s"] < 10


@ways("cgroup", "none")
def test_caller_continues_stopped_launch(hostile: Hostile, launcher: Launcher, way: Way) -> None:
    """Wait as the driver does: only the parent sees a stopped child.

    The program stops the launcher, then the supervisor, then the launcher again. In between it may
    be continued.
    """
    started = hostile.start(way, "strike", "both", signal.SIGSTOP, timeout_s=0.3)
    process, _ = started
    stopped = os.WSTOPPED | os.WEXITED | os.WNOWAIT
    while os.waitid(os.P_PID, process.pid, stopped).si_code == os.CLD_STOPPED:
        # Keep the observed state first: the launcher may be stopped again after it continues.
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG)
        process.send_signal(signal.SIGCONT)
    record, _ = launcher.finish(started)
    assert record["outcome"] == "timed_out"


@ways()
@pytest.mark.parametrize("how", ["session", "shut", "urgent"])
def test_self_modification_of_program_has_no_effect(
    hostile: Hostile, mark: str, way: Way, how: str
) -> None:
    record = hostile(way, "strike", how, env_set={"STRIKE_S": "0.2"})
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    promised(record, way)
    assert record["containment"]["remaining_processes"] == (2 if how == "urgent" else 1)
    assert not marked(mark)


# --- storms of signals, and killing at any moment -----------------------------------------------


def supervisor_of(process: subprocess.Popen[bytes]) -> int | None:
    """Return the supervisor, once it runs."""
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
    return None


@ways("cgroup", "none")
def test_supervisor_killed_at_any_moment_leaves_no_process(
    hostile: Hostile, launcher: Launcher, mark: str, way: Way
) -> None:
    """Also while the program changes state that it shares with the launcher."""
    moments = random.Random("supervisor")
    killed = 0
    for _ in range(60):
        process, record_fd = hostile.start(way, "linger", "-daemon", timeout_s=0.01)
        wait_until(
            lambda p=process: supervisor_of(p) is not None or p.poll() is not None, "a supervisor"
        )
        time.sleep(moments.random() * 0.012)
        if (supervisor := supervisor_of(process)) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(supervisor, signal.SIGKILL)
        process.communicate(timeout=30)
        text = os.pread(record_fd, MIB, 0)
        os.close(record_fd)
        assert process.returncode == 0, "the launcher lives, and says what became of the launch"
        record = json.loads(text)
        killed += record["outcome"] == "interrupted"
        assert record["outcome"] in ("interrupted", "timed_out")
        assert not gone(mark)
    assert killed


@ways("cgroup", "none")
def test_signal_storm_ends_launch_once(
    hostile: Hostile, launcher: Launcher, mark: str, way: Way
) -> None:
    moments = random.Random("storm")
    names = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGCONT", "SIGCHLD", "SIGWINCH"]
    for _ in range(10):
        started = hostile.start(way, "linger", "-daemon")
        process, _ = started
        time.sleep(moments.random() * 0.01)
        for _ in range(200):
            number = signal.Signals[moments.choice(names)]
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)
                if (supervisor := supervisor_of(process)) is not None:
                    os.kill(supervisor, number)
        try:
            record, _ = launcher.finish(started)
        except AssertionError:
            # Before it blocks them, a signal ends it; it has not started the program yet.
            assert process.returncode < 0
        else:
            assert record["outcome"] == "interrupted"
        assert not gone(mark)


# --- crashes and outputs ------------------------------------------------------------------------


@ways()
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGKILL"])
@pytest.mark.parametrize("core", ["no core", "a core"])
def test_crash_signal_is_named(
    hostile: Hostile, open_folder: Path, way: Way, name: str, core: str
) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    limit = {"resource": "core", "soft": 0, "hard": 0}
    if core == "a core":
        if most == 0:
            pytest.skip("no core may be written here")
        unlimited = most == resource.RLIM_INFINITY
        limit = {"resource": "core", "soft": None, "hard": None} if unlimited else limit
    number = signal.Signals[name]
    record = hostile(way, "burden", "crash", number, cwd=str(open_folder), rlimits=[limit])
    assert (record["outcome"], record["signal"]) == ("signaled", number)
    assert "exit_status" not in record
    promised(record, way)
    if core == "no core":
        assert record["core_dumped"] is False
        assert list(open_folder.iterdir()) == []


@ways("cgroup", "none")
def test_output_bytes_are_passed_on(
    hostile: Hostile, launcher: Launcher, open_folder: Path, way: Way
) -> None:
    record, done = launcher.finish(hostile.start(way, "burden", "binary"))
    assert record["outcome"] == "exited"
    assert bytes(range(256)) in done.stdout
    assert done.stdout == done.stderr


@ways("cgroup", "none")
def test_closed_outputs_are_tolerated(hostile: Hostile, way: Way) -> None:
    record = hostile(way, "/bin/sh", "-c", "exec >&- 2>&- <&-; echo lost; exit 4")
    assert (record["outcome"], record["exit_status"]) == ("exited", 4)


@ways()
def test_short_lived_threads_are_tolerated(hostile: Hostile, way: Way) -> None:
    record = hostile(way, "burden", "threads", 500, readback=["threads", "status"])
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)


@ways("cgroup", "none")
def test_large_output_uses_no_memory(
    hostile: Hostile, launcher: Launcher, programs: Path, open_folder: Path, way: Way
) -> None:
    out = open_folder / "out"
    script = f"{programs}/burden flood 200; sleep 0.5"
    started = hostile.start(way, "/bin/sh", "-c", script, stdout=str(out))
    wait_until(lambda: out.exists() and out.stat().st_size == 200 * MIB, "all is written", 30)
    status = Path(f"/proc/{started[0].pid}/status").read_text()
    record, _ = launcher.finish(started)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    highest_kib = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])  # type: ignore[index]
    assert highest_kib < 32 * 1024


# --- exhausted resources ------------------------------------------------------------------------


@pytest.fixture
def small_disk(open_folder: Path) -> Iterator[Path]:
    """Provide a file system of 8 MiB."""
    place = open_folder / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=777", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@system
@root_only
@ways("cgroup", "nobody")
def test_full_disk_fails_program(hostile: Hostile, small_disk: Path, way: Way) -> None:
    out = str(small_disk / "out")
    record = hostile(way, "burden", "flood", 20, stdout=out, cwd=str(small_disk))
    assert (record["outcome"], record["exit_status"]) == ("exited", errno.ENOSPC)
    assert (small_disk / "out").stat().st_size > 7 * MIB
    record = hostile(way, "burden", "binary", stdout=out, cwd=str(small_disk))
    assert (record["outcome"], record["exit_status"]) == ("exited", 0), "the file starts anew"


@system
@root_only
def test_user_process_limit_is_tolerated(hostile: Hostile, mark: str) -> None:
    """Its own processes count against the launcher's user; it needs none to end them."""
    way = WAYS["nobody"]
    limit = [{"resource": "nproc", "soft": 200, "hard": 200}]
    record = hostile(way, "burden", "forks", 1000, rlimits=limit)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    promised(record, way)
    assert 1 <= record["containment"]["remaining_processes"] < 200
    assert not marked(mark)
    hostile.next_one_works(way)


@ways("cgroup", "none")
def test_process_limit_stops_fork_bomb(hostile: Hostile, mark: str, way: Way) -> None:
    record = hostile(way, "linger", "-bomb", 300, limits={"pids": 50})
    assert (record["outcome"], record["limit"]) == ("limit", "processes")
    promised(record, way)
    assert not marked(mark)


@system
@root_only
def test_inaccessible_folder_is_reported(hostile: Hostile, open_folder: Path) -> None:
    """The launch itself is unaffected; the next one reports the missing permission."""
    way = WAYS["nobody"]
    folder, output = open_folder / "work", open_folder / "output"
    for made in (folder, output):
        made.mkdir()
        os.chown(made, NOBODY, NOBODY)
    keys = {
        "cwd": str(folder),
        "stdout": str(output / "out"),
        "env_set": {"STRIKE_S": "0"},
    }
    record = hostile(way, "strike", "files", **keys)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    record = hostile(way, "strike", "files", **keys)
    assert (record["outcome"], record["stage"]) == ("setup_failed", "stdout")
    output.chmod(0o755)
    record = hostile(way, "strike", "files", **keys)
    assert (record["outcome"], record["stage"]) == ("setup_failed", "cwd")
    assert record["errno"] == errno.EACCES
    assert str(folder) in record["message"]
    folder.chmod(0o755)
    assert hostile(way, "strike", "files", **keys)["outcome"] == "exited"


# --- the terminal -------------------------------------------------------------------------------


@contextlib.contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """Provide a terminal: our side, and the other one."""
    ours, theirs = pty.openpty()
    try:
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


def foreground(ours: int) -> int:
    """Return the process group in the foreground of a terminal, seen from outside."""
    found: int = struct.unpack("i", fcntl.ioctl(ours, termios.TIOCGPGRP, b"\0" * 4))[0]
    return found


@ways("cgroup", "none")
@pytest.mark.parametrize("ended", ["itself", "cap"])
def test_terminal_foreground_is_restored(hostile: Hostile, way: Way, ended: str) -> None:
    with terminal() as (ours, theirs):

        def control() -> None:
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

        controlled = Way(way.keys, {"preexec_fn": control})
        keys: Record = {"env_set": {"STRIKE_S": "0"}} if ended == "itself" else {"timeout_s": 0.3}
        shell = ("sh", "-c", '"$@"; exec sleep 60', "sh")  # leads the session, and goes on
        process, record_fd = hostile.start(
            controlled, "strike", "terminal", prefix=shell, stdout="/dev/null", **keys
        )
        wait_until(lambda: os.fstat(record_fd).st_size > 0, "the launch is over")
        record = json.loads(os.pread(record_fd, MIB, 0))
        os.close(record_fd)
        given_back = foreground(ours) == process.pid
        process.kill()
        process.communicate()
        assert record["outcome"] == ("exited" if ended == "itself" else "timed_out")
        assert record.get("exit_status", 0) == 0
        assert given_back


# --- remains of killed launchers ----------------------------------------------------------------


def left_by_a_killed_launcher(exec_path: Path, programs: Path, mark: str) -> int:
    """Kill both processes of a launcher while its program runs; return the id of the first."""
    process = subprocess.Popen(
        [exec_path, "--", programs / "linger", "-daemon"],
        env=os.environ | {MARK: mark},
        process_group=0,
    )
    wait_until(lambda: len(marked(mark)) == 4, "launcher, supervisor, program and daemon")
    supervisor = supervisor_of(process)
    assert supervisor is not None
    process.send_signal(signal.SIGSTOP)  # so that it does not see the next signals
    os.kill(supervisor, signal.SIGKILL)
    process.kill()
    process.wait()
    return process.pid


@system
@root_only
def test_remains_of_killed_launchers_are_removed(
    exec_path: Path, programs: Path, mark: str
) -> None:
    pid = left_by_a_killed_launcher(exec_path, programs, mark)
    assert groups_named(f"assay-{pid}-")
    wait_until(lambda: len(marked(mark)) == 1, "the program dies with its parent")
    done = subprocess.run([exec_path, "--sweep"], capture_output=True, timeout=30)
    assert done.returncode == 0
    assert int(done.stdout) >= 1
    assert not gone(mark)
    assert not groups_named(f"assay-{pid}-")


@system
@root_only
def test_running_launch_is_not_removed(exec_path: Path, programs: Path, mark: str) -> None:
    process = subprocess.Popen(
        [exec_path, "--", programs / "linger", "-daemon"], env=os.environ | {MARK: mark}
    )
    wait_until(lambda: len(marked(mark)) == 4, "launcher, supervisor, program and daemon")
    for _ in range(5):
        subprocess.run([exec_path, "--sweep"], stdout=subprocess.DEVNULL, check=True)
    assert len(marked(mark)) == 4
    # Nor are groups of a launcher in another PID namespace, whose process id is not valid here.
    held = [Path(group) for group in groups_named(f"assay-{process.pid}-")]
    assert held
    process.terminate()
    process.wait()


@system
@root_only
def test_control_group_in_use_is_not_removed(exec_path: Path) -> None:
    """Also if the id in its name belongs to no visible process."""
    unused = 1 + int(Path("/proc/sys/kernel/pid_max").read_text())
    place = next(p for p in (CGROUPS / "unified", CGROUPS) if (p / "cgroup.procs").exists())
    group = place / f"assay-{unused}-0"
    group.mkdir()
    try:
        fd = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        subprocess.run([exec_path, "--sweep"], stdout=subprocess.DEVNULL, check=True)
        assert group.exists()
        os.close(fd)
        subprocess.run([exec_path, "--sweep"], stdout=subprocess.DEVNULL, check=True)
        assert not group.exists()
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


@system
@root_only
@pytest.mark.parametrize("name", ["assay-1x-0", "assay--1-0", "assay-name", "assay-99999999-0-a"])
def test_similar_foreign_names_are_not_removed(exec_path: Path, name: str) -> None:
    place = next(p for p in (CGROUPS / "unified", CGROUPS) if (p / "cgroup.procs").exists())
    (place / name).mkdir()
    try:
        subprocess.run([exec_path, "--sweep"], stdout=subprocess.DEVNULL, check=True)
        assert (place / name).exists()
    finally:
        (place / name).rmdir()


def test_empty_cleanup_succeeds(exec_path: Path) -> None:
    if not MAY_CHANGE_HOST:
        pytest.skip("it removes control groups")
    for _ in range(2):
        done = subprocess.run([exec_path, "--sweep"], capture_output=True, timeout=30)
        assert (done.returncode, done.stderr) == (0, b"")
    int(done.stdout)
