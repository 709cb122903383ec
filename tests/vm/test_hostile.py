"""Hostile programs under assay-exec, on hosts with v2 control groups only and with v1.

The same programs as in tests/system/test_hostile.py, which this host's own layout goes through.
"""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest

from .batch import LAUNCH, Batch, in_turns, run_batch
from .guest import CgroupMode, Guest, UnavailableError, compile_program

pytestmark = pytest.mark.vm

HOSTILE = Path(__file__).resolve().parents[1] / "system" / "native"
PROGRAMS = ("linger", "strike", "escape", "burden")
MODES: tuple[CgroupMode, ...] = ("v2", "v1")

LINGERING = {
    "daemon": 1,
    "stopped": 2,
    "traced": 2,
    "leaderless": 1,
    "reaper": 4,
    "stuck": 2,
    "space": 2,
}
"""Ways to linger, and how many processes that leaves."""
CAPPED: dict[str, dict[str, Any]] = {
    "deaf": {"argv": ["linger", "-daemon"], "timeout_s": 0.8},
    "frozen": {"argv": ["escape", "freeze", "1", "x", "0"], "timeout_s": 1.5},
    "bomb": {"argv": ["linger", "-bomb", "100"], "timeout_s": 0.8, "limits": {"pids": 150}},
    "gone": {"argv": ["linger", "-leave"], "timeout_s": 1.5},
    "removed": {"argv": ["linger", "-remove"], "timeout_s": 1.5},
}
PLANS: dict[str, dict[str, Any]] = {
    **{how: {"argv": ["linger", how]} for how in LINGERING},
    **CAPPED,
    "chmod": {"argv": ["escape", "chmod", "1", "x", "0"]},
    "leave": {"argv": ["linger", "leave"]},
    "remove": {"argv": ["linger", "remove"]},
    "deep": {"argv": ["linger", "deep", "80"]},
    "hop": {"argv": ["linger", "hop", "300"]},
    "crash": {"argv": ["burden", "crash", "11"]},
    "memory": {"argv": ["burden", "memory", "6"], "limits": {"memory_bytes": 24 << 20}},
    "families": {"argv": ["burden", "families", "8"], "limits": {"pids": 12}},
    "orphans": {"argv": ["burden", "orphans", "200"], "limits": {"cpu_s": 0.5}},
    "supervisor-stopped": {"argv": ["strike", "supervisor", "19"], "env_set": {"STRIKE_S": "0.3"}},
    "launcher-stopped": {"argv": ["strike", "launcher", "19"], "env_set": {"STRIKE_S": "0.3"}},
    "supervisor-killed": {"argv": ["strike", "supervisor", "9"]},
    "core": {
        "argv": ["burden", "crash", "11"],
        "rlimits": [{"resource": "core", "soft": None, "hard": None}],
        "timeout_s": 2,
    },
    "delegated-chmod": {"argv": ["escape", "chmod", "1", "x", "0"], "cgroup_parent": "parent"},
    "delegated-leave": {"argv": ["linger", "leave"], "cgroup_parent": "parent"},
}
DELEGATED = ("delegated-chmod", "delegated-leave")
SCRIPT_PLANS = (*DELEGATED, "core")

TOP = "/sys/fs/cgroup"
GROUPS = f"find {TOP} -type d | sort > /out/groups"
PROCESSES = "ps -o pid,stat,comm > /out/processes"
# Kill the supervisor, each time a given number of microseconds after its start, and once when the
# daemon has closed its descriptors: a slow guest may need longer than all those moments until then.
MOMENTS_US = (0, 0, *(random.Random("supervisor").randrange(1, 80_000) for _ in range(22)))
HUNT = """
daemon_runs() {{
    for process in $(pidof linger); do
        [ ! -d /proc/$process/fd ] || [ -n "$(ls /proc/$process/fd)" ] || return 0
    done
    return 1
}}
for moment in {} daemon; do
    assay-exec --record /out/record -- linger -daemon &
    launcher=$!
    supervisor=
    until [ -n "$supervisor" ] || [ ! -d /proc/$launcher ]; do
        read supervisor rest < /proc/$launcher/task/$launcher/children
    done
    case $moment in
        0) ;;
        daemon) until daemon_runs || [ ! -d /proc/$launcher ]; do usleep 1000; done ;;
        *) usleep $moment ;;
    esac
    kill -9 $supervisor
    wait $launcher
    cat /out/record >> /out/records
    rm /out/record
done
"""
SCRIPTS = {
    "survey": f"sleep 1; {GROUPS}; {PROCESSES}",
    # A core goes to a program that does not read it: the crash lasts until another process ends it.
    "core": "echo '|/bin/usleep 30000000' > /proc/sys/kernel/core_pattern; "
    + LAUNCH.format("core")
    + f"; {PROCESSES}; {GROUPS}; echo core > /proc/sys/kernel/core_pattern; killall usleep",
    "hunted": HUNT.format(" ".join(map(str, MOMENTS_US)))
    + f" {PROCESSES}; {GROUPS}; assay-exec -- true; echo $? > /out/next",
    # Both processes of the launcher are killed; their remains are removed.
    "swept": "assay-exec -- strike both 9; sleep 1;"
    f" {PROCESSES}; mv /out/processes /out/left; assay-exec --sweep > /out/swept; sleep 1;"
    f" {GROUPS}; {PROCESSES}",
}
# A subtree that belongs to the user, as in a systemd user session.
IN_A_SUBTREE = (
    f"mkdir -p {TOP}/parent/shell; cd {TOP}/parent; "
    "echo '+memory +pids +cpu' > cgroup.subtree_control; echo $$ > shell/cgroup.procs; "
    "chown user . cgroup.procs cgroup.subtree_control shell shell/cgroup.procs; "
    "cd /; chmod 777 /out; su user -s /bin/sh -c {}; echo $$ > " + f"{TOP}/cgroup.procs; " + GROUPS
)
V2_SCRIPTS = {name: IN_A_SUBTREE.format(shlex.quote(LAUNCH.format(name))) for name in DELEGATED}
FILES = {
    "/etc/passwd": b"root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n",
    "/etc/group": b"root:x:0:\nuser:x:1000:\n",
}


@pytest.fixture(scope="session")
def batch(request: pytest.FixtureRequest, guest_kernel: Path, assay_exec: Path) -> Batch:
    mode: CgroupMode = request.param
    try:
        programs = {f"/bin/{name}": compile_program(HOSTILE / f"{name}.cpp") for name in PROGRAMS}
    except UnavailableError as missing:
        pytest.skip(str(missing))
    return run_batch(
        Guest(kernel=guest_kernel, cgroup=mode, cpus=2),
        {**FILES, **programs, "/bin/assay-exec": assay_exec},
        PLANS,
        (V2_SCRIPTS if mode == "v2" else {}) | SCRIPTS,
        SCRIPT_PLANS,
    )


def guests(*modes: CgroupMode) -> pytest.MarkDecorator:
    """Parametrise a test by its guest; the guests take turns."""
    found = in_turns("hostile guests", modes)
    return pytest.mark.parametrize("batch", found, indirect=True, scope="session")


def alive(batch: Batch, name: str, file: str = "/out/processes") -> list[str]:
    """Return the lines of the script's `ps` about hostile programs."""
    lines = batch.text(name, file).splitlines()
    return [line for line in lines if line.split()[-1] in PROGRAMS]


@guests(*MODES)
@pytest.mark.parametrize("how", LINGERING)
def test_surviving_processes_are_counted_and_ended(batch: Batch, how: str) -> None:
    record = batch.record(how)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    containment = record["containment"]
    assert (containment["mode"], containment["guarantee"]) == (batch.cgroup, "complete")
    assert containment["remaining_processes"] == LINGERING[how]
    assert "surviving_processes" not in containment


@guests(*MODES)
@pytest.mark.parametrize("name", CAPPED)
def test_hostile_program_ends_at_time_limit(batch: Batch, name: str) -> None:
    record = batch.record(name)
    assert (record["outcome"], record["signal"]) == ("timed_out", 9)
    assert PLANS[name]["timeout_s"] <= record["wall_s"] < 12
    assert "surviving_processes" not in record["containment"]


@guests(*MODES)
@pytest.mark.parametrize("name", ["leave", "remove", "gone", "removed"])
def test_process_outside_control_group_is_reported(batch: Batch, name: str) -> None:
    containment = batch.record(name)["containment"]
    assert containment["guarantee"] == "best_effort"
    assert "left the control group" in containment["reason"]


@guests(*MODES)
@pytest.mark.parametrize("name", ["chmod", "deep", "hop"])
def test_control_group_limits_hold_for_hostile_program(batch: Batch, name: str) -> None:
    record = batch.record(name)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record["containment"]["guarantee"] == "complete"
    assert record["containment"]["remaining_processes"] >= 1


@guests(*MODES)
def test_crash_signal_is_named(batch: Batch) -> None:
    record = batch.record("crash")
    assert (record["outcome"], record["signal"]) == ("signaled", 11)


@guests(*MODES)
def test_unread_core_pipe_ends_at_time_limit(batch: Batch) -> None:
    record = batch.record("core")
    assert record["outcome"] == "timed_out"
    assert 2 <= record["wall_s"] < 12
    assert "surviving_processes" not in record["containment"]
    assert alive(batch, "core") == []
    assert "assay" not in batch.text("core", "/out/groups")
    helpers = [
        line for line in batch.text("core", "/out/processes").splitlines() if "usleep" in line
    ]
    assert len(helpers) == 1, "the kernel's own, outside all that is contained"


@guests(*MODES)
@pytest.mark.parametrize(
    ("name", "limit"), [("memory", "memory"), ("families", "processes"), ("orphans", "cpu")]
)
def test_limits_hold_for_tree_of_small_processes(batch: Batch, name: str, limit: str) -> None:
    record = batch.record(name)
    assert (record["outcome"], record["limit"]) == ("limit", limit)


@guests(*MODES)
@pytest.mark.parametrize("name", ["supervisor-stopped", "launcher-stopped"])
def test_launcher_stopped_by_program_continues(batch: Batch, name: str) -> None:
    record = batch.record(name)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record["containment"]["remaining_processes"] == 1


@guests(*MODES)
def test_launcher_ends_tree_of_killed_supervisor(batch: Batch) -> None:
    record = batch.record("supervisor-killed")
    assert (record["outcome"], record["interrupted_by"]) == ("interrupted", 9)
    assert record["containment"]["mode"] == batch.cgroup


@guests(*MODES)
def test_supervisor_killed_at_any_moment_leaves_no_process(batch: Batch) -> None:
    records = [json.loads(line) for line in batch.text("hunted", "/out/records").splitlines()]
    assert len(records) == len(MOMENTS_US) + 1
    for record in records:
        assert (record["outcome"], record["interrupted_by"]) == ("interrupted", 9)
        assert "surviving_processes" not in record["containment"]
    held = [record for record in records if record["containment"]["remaining_processes"] == 1]
    assert held, "the last when the daemon runs; the program dies with its supervisor"
    assert records[-1] in held
    assert {record["containment"]["mode"] for record in held} == {batch.cgroup}
    assert alive(batch, "hunted") == []
    assert "assay" not in batch.text("hunted", "/out/groups")
    assert batch.text("hunted", "/out/next") == "0\n"


@guests("v2")
def test_unprivileged_limits_hold_in_delegated_group(batch: Batch) -> None:
    record = batch.record("delegated-chmod")
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record["containment"]["guarantee"] == "complete"
    assert record["containment"]["remaining_processes"] == 1
    assert "assay" not in batch.text("delegated-chmod", "/out/groups")


@guests("v2")
def test_user_cannot_leave_delegated_subtree(batch: Batch) -> None:
    """The kernel keeps it there (cgroup-v2.rst, "Delegation Containment")."""
    record = batch.record("delegated-leave")
    assert (record["outcome"], record["exit_status"]) == ("exited", 77)
    assert record["containment"]["guarantee"] == "complete"


@guests(*MODES)
def test_no_process_or_group_remains(batch: Batch) -> None:
    assert alive(batch, "survey") == []
    assert "assay" not in batch.text("survey", "/out/groups")


@guests(*MODES)
def test_remains_of_killed_launchers_are_removed(batch: Batch) -> None:
    assert len(alive(batch, "swept", "/out/left")) == 2, "its daemons; the program died"
    assert int(batch.text("swept", "/out/swept")) >= 1
    assert alive(batch, "swept") == []
    assert "assay" not in batch.text("swept", "/out/groups")
