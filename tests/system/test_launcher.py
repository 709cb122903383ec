"""assay-exec, the native launcher: real launches, the program's view, and remaining processes.

docs/reference/assay-exec.md is the contract. Tests marked `system` create control groups on this
host.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from launching import (
    CGROUPS,
    MAY_CHANGE_HOST,
    MEMORY_WAYS,
    MIB,
    SESSION,
    Launcher,
    Record,
    groups_named,
    needs_memory_controller,
    processes_with,
    wait_until,
)

from native_build import native_build
from rotation import others_in_turns

NOBODY = 65534
DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "assay-exec.md"

system = pytest.mark.system
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

BOTH_WAYS = [pytest.param("cgroup", marks=system), "none"]


@pytest.fixture
def token() -> Iterator[str]:
    """Provide a word for command lines; afterwards no process may have it."""
    word = f"token-{uuid.uuid4().hex}"
    yield word
    left = processes_with(word)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


@pytest.fixture
def state(launcher: Launcher, programs: Path) -> Callable[..., dict[str, list[str]]]:
    """Return a function that launches with some keys and returns the reported process state."""

    def look(**keys: Any) -> dict[str, list[str]]:
        seen: dict[str, list[str]] = {}
        for line in launcher.output([programs / "state"], **keys).splitlines():
            name, _, value = line.partition(" ")
            seen.setdefault(name, []).append(value)
        return seen

    return look


# --- how a program ends -------------------------------------------------------------------------


def test_exit_status_is_passed_on(launcher: Launcher) -> None:
    record, done = launcher.run_plan(launcher.plan(["sh", "-c", "exit 7"]))
    assert (record["outcome"], record["exit_status"]) == ("exited", 7)
    assert "signal" not in record
    assert done.returncode == 0, "a record was written"


def test_signal_is_passed_on(launcher: Launcher) -> None:
    record = launcher.run(
        ["sh", "-c", "kill -TERM $$"], rlimits=[{"resource": "core", "soft": 0, "hard": 0}]
    )
    assert (record["outcome"], record["signal"], record["core_dumped"]) == (
        "signaled",
        signal.SIGTERM,
        False,
    )
    assert "exit_status" not in record


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 3"], 3),
        (["sh", "-c", "kill -KILL $$"], 137),
        (["no-such-program"], 127),
        (["/etc/passwd"], 126),
    ],
)
def test_status_without_record_is_passed_on(
    exec_path: Path, command: list[str], status: int
) -> None:
    mode = "auto" if MAY_CHANGE_HOST else "none"
    done = subprocess.run(
        [exec_path, "--containment", mode, "--", *command], capture_output=True, timeout=30
    )
    assert done.returncode == status
    assert bool(done.stderr) == (status in (126, 127))


def test_standard_streams_are_inherited(launcher: Launcher) -> None:
    started = launcher.start(
        launcher.plan(["sh", "-c", "cat; echo err >&2"]), stdin=subprocess.PIPE
    )
    process, _ = started
    assert process.stdin
    process.stdin.write(b"through")
    process.stdin.close()
    process.stdin = None
    record, done = launcher.finish(started)
    assert (record["outcome"], done.stdout, done.stderr) == ("exited", b"through", b"err\n")


def test_time_limit_ends_tree(launcher: Launcher, token: str, programs: Path) -> None:
    record = launcher.run([programs / "escape", "daemons", "2", token, "60"], timeout_s=0.3)
    assert (record["outcome"], record["signal"]) == ("timed_out", signal.SIGKILL)
    assert 0.3 <= record["wall_s"] < 5


@pytest.mark.parametrize(
    ("argv", "errno_name", "part"),
    [
        (["no-such-program"], "ENOENT", "no-such-program"),
        (["/no/such/folder/program"], "ENOENT", "/no/such/folder/program"),
        (["/etc/passwd"], "EACCES", "executable"),
        (["/"], "EACCES", "/"),
    ],
)
def test_unrunnable_program_is_reported(
    launcher: Launcher, argv: list[str], errno_name: str, part: str
) -> None:
    import errno

    record = launcher.run(argv)
    assert (record["outcome"], record["stage"]) == ("exec_failed", "exec")
    assert record["errno"] == getattr(errno, errno_name)
    assert part in record["message"]
    assert "exit_status" not in record and "wall_s" not in record


def test_script_without_interpreter_line_runs_in_shell(launcher: Launcher, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('echo "got $1"')
    script.chmod(0o755)
    assert launcher.output([script, "this"]) == "got this\n"


def test_resulting_path_is_searched(launcher: Launcher, tmp_path: Path) -> None:
    for folder, mode in (("first", 0o644), ("second", 0o755)):
        (tmp_path / folder).mkdir()
        program = tmp_path / folder / "program"
        program.write_text(f"#!/bin/sh\necho {folder}")
        program.chmod(mode)
    path = f"/nowhere:{tmp_path}/first:{tmp_path}/second:/usr/bin:/bin"
    assert launcher.output(["program"], env_set={"PATH": path}) == "second\n"


# --- every key of the plan is applied -----------------------------------------------------------


def test_environment_is_changed_as_planned(launcher: Launcher) -> None:
    os.environ["ASSAY_TEST_KEPT"] = os.environ["ASSAY_TEST_GONE"] = os.environ[
        "ASSAY_TEST_CHANGED"
    ] = "before"
    try:
        text = launcher.output(
            ["env"],
            env_set={"ASSAY_TEST_CHANGED": "a=b ü", "ASSAY_TEST_NEW": ""},
            env_unset=["ASSAY_TEST_GONE", "ASSAY_TEST_NEVER"],
        )
    finally:
        for name in ("KEPT", "GONE", "CHANGED"):
            del os.environ[f"ASSAY_TEST_{name}"]
    found = {line for line in text.splitlines() if line.startswith("ASSAY_TEST_")} - {
        "ASSAY_TEST_SYSTEM=1"
    }
    assert found == {"ASSAY_TEST_KEPT=before", "ASSAY_TEST_CHANGED=a=b ü", "ASSAY_TEST_NEW="}


def test_working_folder_is_set(state: Callable[..., dict[str, list[str]]], tmp_path: Path) -> None:
    assert state(cwd=str(tmp_path))["cwd"] == [str(tmp_path)]


def test_standard_streams_are_redirected(launcher: Launcher, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("input")
    (tmp_path / "out").write_text("something longer than what will be there")
    files = {name: str(tmp_path / name[3:]) for name in ("stdin", "stdout")} | {
        "stderr": str(tmp_path / "err")
    }
    record, done = launcher.run_plan(launcher.plan(["sh", "-c", "cat; echo error >&2"], **files))
    assert record["outcome"] == "exited" and (done.stdout, done.stderr) == (b"", b"")
    assert (tmp_path / "out").read_text() == "input"
    assert (tmp_path / "err").read_text() == "error\n"
    assert stat.S_IMODE((tmp_path / "err").stat().st_mode) == 0o600


def test_both_outputs_share_one_file(launcher: Launcher, tmp_path: Path) -> None:
    both = str(tmp_path / "both")
    launcher.run(["sh", "-c", "echo one; echo two >&2; echo three"], stdout=both, stderr=both)
    assert Path(both).read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize("key", ["stdin", "stdout", "stderr", "cwd"])
def test_missing_folder_fails_setup(launcher: Launcher, key: str) -> None:
    record = launcher.run(["true"], **{key: "/no/such/folder/file"})
    assert (record["outcome"], record["stage"], record["errno"]) == ("setup_failed", key, 2)
    assert "/no/such/folder/file" in record["message"]


def test_fifo_without_partner_does_not_hang(launcher: Launcher, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert launcher.run(["cat"], stdin=str(tmp_path / "fifo"))["outcome"] == "exited"
    assert launcher.run(["true"], stdout=str(tmp_path / "fifo"))["outcome"] == "setup_failed"


def test_affinity_is_set(state: Callable[..., dict[str, list[str]]]) -> None:
    for cpu in sorted(os.sched_getaffinity(0))[:4]:
        assert state(affinity=[cpu])["cpu"] == [str(cpu)]


@pytest.mark.skipif(
    not Path("/sys/devices/system/node/node0").exists(), reason="a kernel without NUMA"
)
@pytest.mark.parametrize(
    ("mode", "nodes", "expected"),
    [
        ("default", [], "0 0"),
        ("local", [], "4 0"),
        ("bind", [0], "2 1"),
        ("preferred", [0], "1 1"),
        ("interleave", [0], "3 1"),
        ("weighted", [0], "6 1"),
    ],
)
def test_memory_policy_is_set(
    launcher: Launcher, programs: Path, mode: str, nodes: list[int], expected: str
) -> None:
    policy = {"mode": mode} | ({"nodes": nodes} if nodes else {})
    record, done = launcher.run_plan(launcher.plan([programs / "state"], mempolicy=policy))
    if mode == "weighted" and record["outcome"] == "setup_failed":
        pytest.skip("needs Linux 6.9")
    assert f"mempolicy {expected}\n" in done.stdout.decode()
    assert {"step": "mempolicy", "ok": True} in record["applied"]


@pytest.mark.parametrize(("policy", "number"), [("other", 0), ("batch", 3), ("idle", 5)])
def test_scheduling_policy_is_set(
    state: Callable[..., dict[str, list[str]]], policy: str, number: int
) -> None:
    seen = state(sched={"policy": policy, "nice": 5})
    assert (seen["policy"], seen["nice"]) == ([str(number)], ["5"])


@root_only
@pytest.mark.parametrize(("policy", "number"), [("fifo", 1), ("rr", 2)])
def test_real_time_policy_is_set(
    state: Callable[..., dict[str, list[str]]], policy: str, number: int
) -> None:
    seen = state(sched={"policy": policy, "priority": 3})
    assert (seen["policy"], seen["priority"]) == ([str(number)], ["3"])


@root_only
def test_deadline_policy_is_set(launcher: Launcher, programs: Path) -> None:
    sched = {"policy": "deadline", "runtime_ns": 2_000_000, "period_ns": 50_000_000}
    record, done = launcher.run_plan(launcher.plan([programs / "state"], sched=sched))
    if record["outcome"] == "setup_failed":
        assert record["stage"] == "sched.policy"
        pytest.skip(record["message"])  # a cpuset of this host leaves CPUs out
    # Reset on fork: without it the program could not start a thread.
    assert "deadline 2000000 50000000 50000000 1\n" in done.stdout.decode()


@root_only
def test_deadline_policy_requires_every_cpu(launcher: Launcher) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one CPU")
    sched = {"policy": "deadline", "runtime_ns": 2_000_000, "period_ns": 50_000_000}
    record = launcher.run(["true"], sched=sched, affinity=cpus[:1])
    assert (record["outcome"], record["stage"]) == ("setup_failed", "sched.policy")
    assert "affinity" in record["message"]


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ({"class": "idle"}, "3 0"),
        ({"class": "best-effort", "level": 6}, "2 6"),
        pytest.param({"class": "realtime", "level": 1}, "1 1", marks=root_only),
    ],
)
def test_io_priority_is_set(
    state: Callable[..., dict[str, list[str]]], wish: dict[str, Any], expected: str
) -> None:
    assert state(io_priority=wish)["io_priority"] == [expected]


HOG = "import os\nfor _ in os.sched_getaffinity(0):\n    if os.fork() == 0:\n        break\n"


@root_only
@pytest.mark.parametrize("mode", BOTH_WAYS)
def test_real_time_program_on_every_cpu_is_ended(launcher: Launcher, mode: str, token: str) -> None:
    reserved = int(Path("/proc/sys/kernel/sched_rt_runtime_us").read_text())
    if not 0 < reserved < int(Path("/proc/sys/kernel/sched_rt_period_us").read_text()):
        pytest.skip("this kernel keeps no time for others")
    record = launcher.run(
        [sys.executable, "-c", f"{HOG}while True: pass", token],
        sched={"policy": "fifo", "priority": 50},
        timeout_s=1,
        containment=mode,
    )
    assert record["outcome"] == "timed_out"
    assert record["wall_s"] >= 1
    assert record["containment"].get("surviving_processes", 0) == 0
    assert processes_with(token) == []


def test_two_word_memory_policy_is_read_completely(launcher: Launcher) -> None:
    policy = {"mode": "weighted", "nodes": [0]}
    fill = "b = bytearray(1 << 24)\nimport time; time.sleep(0.3)"
    command = [sys.executable, "-c", fill]
    record, _ = launcher.run_plan(launcher.plan(command, mempolicy=policy, readback=["numa_maps"]))
    if record["outcome"] == "setup_failed":
        pytest.skip("needs Linux 6.9")
    assert record["readback"]["mempolicy"] == "weighted interleave:0"


@pytest.mark.parametrize(("args", "expected"), [([0], "0"), ([1, 0], "1"), ([1, 2], "3")])
def test_huge_page_control_is_set(
    launcher: Launcher, programs: Path, args: list[int], expected: str
) -> None:
    plan = launcher.plan([programs / "state"], prctl=[{"option": 41, "args": args}])
    record, done = launcher.run_plan(plan)
    if args == [1, 2] and record["outcome"] == "setup_failed":
        pytest.skip("needs Linux 6.18")
    assert f"thp_disable {expected}\n" in done.stdout.decode()


def test_address_space_randomization_is_set(state: Callable[..., dict[str, list[str]]]) -> None:
    assert state(aslr=False)["aslr"] == ["0"]
    assert state(aslr=True)["aslr"] == ["1"]


def test_resource_limits_are_set(state: Callable[..., dict[str, list[str]]]) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limits = [
        {"resource": "nofile", "soft": 64, "hard": hard},
        {"resource": "core", "soft": 0, "hard": 0},
        {"resource": "stack", "soft": 4 * MIB, "hard": None},
    ]
    seen = state(rlimits=limits)
    assert seen["rlimit.nofile"] == [f"64 {hard}"]
    assert seen["rlimit.core"] == ["0 0"]
    assert seen["rlimit.stack"] == [f"{4 * MIB} -1"]


def test_applied_steps_are_listed_in_order(launcher: Launcher) -> None:
    record = launcher.run(
        ["true"],
        aslr=False,
        affinity=[0],
        sched={"nice": 1},
        rlimits=[{"resource": "core", "soft": 0, "hard": 0}],
    )
    assert [entry["step"] for entry in record["applied"]] == [
        "affinity",
        "sched.nice",
        "aslr",
        "rlimits.core",
    ]
    assert all(entry["ok"] for entry in record["applied"])


@root_only
@pytest.mark.parametrize(
    ("keys", "stage"),
    [
        ({"sched": {"policy": "fifo", "priority": 1}}, "sched.policy"),
        ({"sched": {"nice": -5}}, "sched.nice"),
        ({"rlimits": [{"resource": "memlock", "soft": None, "hard": None}]}, "rlimits.memlock"),
    ],
)
def test_missing_privilege_fails_setup(launcher: Launcher, keys: Record, stage: str) -> None:
    plan = launcher.plan(["true"], affinity=[0], **keys) | {"containment": "none"}
    record, _ = launcher.run_plan(plan, user=NOBODY, group=NOBODY, extra_groups=[])
    assert (record["outcome"], record["stage"]) == ("setup_failed", stage)
    assert record["applied"][0] == {"step": "affinity", "ok": True}
    assert record["applied"][-1] == {"step": stage, "ok": False, "errno": record["errno"]}
    assert "privileges" in record["message"]


def test_launcher_state_is_not_inherited(
    state: Callable[..., dict[str, list[str]]],
) -> None:
    seen = state()
    assert "blocked" not in seen
    assert seen["fd"] == ["0", "1", "2"]
    assert seen["session"] == [str(os.getsid(0))], "it can still be reached from its terminal"
    assert seen["group"] == [str(os.getpgrp())]


def test_signal_settings_of_caller_are_inherited(launcher: Launcher, programs: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})

    record, done = launcher.run_plan(launcher.plan([programs / "state"]), preexec_fn=ignore)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    lines = done.stdout.decode().splitlines()
    assert {line for line in lines if line.startswith("blocked")} == {"blocked 10", "blocked 15"}
    assert {"ignored 17", "ignored 1"} <= set(lines)


def test_closed_standard_streams_are_inherited(launcher: Launcher, tmp_path: Path) -> None:
    def close() -> None:
        for fd in (0, 1, 2):
            os.close(fd)

    plan = launcher.plan(["sh", "-c", "echo text"], stdout=str(tmp_path / "out"))
    record, _ = launcher.run_plan(plan, preexec_fn=close)
    assert record["outcome"] == "exited"
    assert (tmp_path / "out").read_text() == "text\n"


# --- plans that cannot be used ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"agrv": []}, "agrv: unknown key"),
        ({"limits": {"memory": 1}}, "limits.memory: unknown key"),
        ({"sched": {"prio": 1}}, "sched.prio: unknown key"),
        ({"argv": "true"}, "argv"),
        ({"argv": []}, "argv"),
        ({"argv": [""]}, "argv"),
        ({"argv": ["true", 1]}, "argv[1]"),
        ({"argv": ["a\0b"]}, "argv[0]"),
        ({"schema": 3}, "schema"),
        ({"schema": "1"}, "schema"),
        ({"affinity": [4095]}, "affinity: CPU 4095 is not online"),
        ({"affinity": []}, "affinity"),
        ({"affinity": [-1]}, "affinity[0]"),
        ({"affinity": [0.5]}, "affinity[0]"),
        ({"mempolicy": {"mode": "bind", "nodes": [1000]}}, "mempolicy.nodes: node 1000"),
        ({"mempolicy": {"mode": "bind"}}, "mempolicy"),
        ({"mempolicy": {"mode": "local", "nodes": [0]}}, "mempolicy.nodes"),
        ({"mempolicy": {"mode": "best"}}, "mempolicy.mode"),
        ({"sched": {"policy": "fifo"}}, "sched"),
        ({"sched": {"policy": "batch", "priority": 1}}, "sched.priority"),
        ({"sched": {"nice": 20}}, "sched.nice"),
        ({"sched": {"policy": "deadline"}}, "sched: policy deadline needs"),
        ({"sched": {"policy": "fifo", "priority": 1, "period_ns": 2000}}, "sched.period_ns"),
        (
            {"sched": {"policy": "deadline", "runtime_ns": 4000, "period_ns": 3000}},
            "sched: runtime_ns is above",
        ),
        ({"sched": {"policy": "deadline", "runtime_ns": 3, "period_ns": 3000}}, "sched.runtime_ns"),
        ({"io_priority": {}}, "io_priority: needs a class"),
        ({"io_priority": {"class": "idle", "level": 1}}, "io_priority.level"),
        ({"io_priority": {"class": "best-effort"}}, "io_priority: needs a level"),
        ({"io_priority": {"class": "best-effort", "level": 8}}, "io_priority.level"),
        ({"prctl": [{"option": 1, "args": [9]}]}, "prctl[0].option"),
        ({"prctl": [{"option": 41, "args": [1, 2, 3, 4, 5]}]}, "prctl[0]"),
        ({"rlimits": [{"resource": "nofiles", "soft": 1, "hard": 1}]}, "rlimits[0].resource"),
        ({"rlimits": [{"resource": "nofile", "soft": 2, "hard": 1}]}, "rlimits[0]"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"timeout_s": "1"}, "timeout_s"),
        ({"timeout_s": True}, "timeout_s"),
        ({"limits": {"cpu_s": -1}}, "limits.cpu_s"),
        ({"limits": {"output_bytes": 5}}, "limits.output_bytes"),
        ({"limits": {"pids": 1.5}}, "limits.pids"),
        ({"containment": "some"}, "containment"),
        ({"cgroup_parent": "../up"}, "cgroup_parent"),
        ({"cgroup_name": "a/b"}, "cgroup_name"),
        ({"cgroup_name": ".."}, "cgroup_name"),
        ({"env_set": {"A=B": "c"}}, "env_set"),
        ({"env_set": {"A": 1}}, "env_set.A"),
        ({"env_set": {"A": {"hex": "f"}}}, "env_set.A: has an odd number"),
        ({"env_set": {"A": {"hex": "fg"}}}, "env_set.A: must contain hexadecimal"),
        ({"env_set": {"A": {"hex": "00"}}}, "env_set.A: contains a NUL"),
        ({"env_set": {"A": {"hex": "66", "more": 1}}}, "env_set.A: must be a string"),
        ({"env_unset": [""]}, "env_unset[0]"),
        ({"readback": ["mops"]}, "readback[0]"),
        ({"counters": ["cycle"]}, "counters[0]"),
        ({"counters": "cycles"}, "counters"),
        ({"host_root": ""}, "host_root"),
        ({"aslr": 1}, "aslr"),
        ({"affinity_calls": "denied"}, 'affinity_calls: "denied" is not one of allowed, ignored'),
        ({"affinity_calls": 1}, "affinity_calls"),
        ({"view": "all"}, "view: must be machine or own"),
        ({"sample_interval_s": 0}, "sample_interval_s"),
        ({"parent_pid": 0}, "parent_pid"),
    ],
)
def test_invalid_key_is_named(launcher: Launcher, keys: Record, key: str) -> None:
    record, done = launcher.run_plan({"schema": 2, "argv": ["true"]} | keys)
    assert record["outcome"] == "bad_plan" and record["stage"] == "plan"
    assert record["message"].startswith(key)
    assert done.returncode == 125 and key in done.stderr.decode()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b'{"argv": ["true"]',
        b"\xff\xfe",
        b'{"timeout_s": 1e999, "argv": ["true"]}',
        b"[" * 100_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_invalid_plan_is_refused(launcher: Launcher, text: bytes) -> None:
    record, done = launcher.run_plan(text)
    assert (record["outcome"], done.returncode) == ("bad_plan", 125)


def test_hexadecimal_text_preserves_bytes(launcher: Launcher, tmp_path: Path) -> None:
    every = bytes(range(1, 256))
    seen = tmp_path / "seen"
    argv = ["sh", "-c", f'printf %s "$1$A" > {seen}', "sh", {"hex": every.hex()}]
    plan = launcher.plan(["sh"], env_set={"A": {"hex": "ff"}}) | {"argv": argv}
    record, _ = launcher.run_plan(plan)
    assert record["exit_status"] == 0
    assert seen.read_bytes() == every + b"\xff"


def test_oversized_plan_is_refused(launcher: Launcher) -> None:
    record, _ = launcher.run_plan(launcher.plan(["true", "x" * (9 * MIB)]))
    assert record["outcome"] == "bad_plan"


def test_long_plan_is_accepted(launcher: Launcher) -> None:
    words = ["x" * 100_000] * 10
    assert launcher.output(["sh", "-c", 'echo "$#"', "sh", *words]) == "10\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--"],
        ["true"],
        ["--plan"],
        ["--plan-fd", "x"],
        ["--plan-fd", "99"],
        ["--record-fd", "99", "--", "true"],
    ],
)
def test_invalid_command_line_is_refused(exec_path: Path, arguments: list[str]) -> None:
    done = subprocess.run([exec_path, *arguments], capture_output=True, text=True, timeout=10)
    assert done.returncode == 125 and done.stderr.startswith("assay-exec: ")


def test_plan_and_record_use_files(launcher: Launcher, tmp_path: Path) -> None:
    plan, record = tmp_path / "plan", tmp_path / "record"
    plan.write_text(json.dumps(launcher.plan(["true"])))
    command = [launcher.program, "--plan", plan, "--record", record]
    assert subprocess.run(command, timeout=30).returncode == 0
    assert json.loads(record.read_text())["outcome"] == "exited"
    command = [launcher.program, "--plan", "-", "--record", "-"]
    done = subprocess.run(command, input=plan.read_bytes(), stdout=subprocess.PIPE, timeout=30)
    assert json.loads(done.stdout)["outcome"] == "exited"


def test_unwritable_record_is_reported(launcher: Launcher, tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    plan.write_text(json.dumps(launcher.plan(["true"])))
    for record in ("/dev/full", "/no/such/folder/record"):
        command = [launcher.program, "--plan", plan, "--record", record]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        assert done.returncode == 125 and "record" in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    command = [launcher.program, "--plan", plan, "--record-fd", str(writer)]
    assert (
        subprocess.run(command, pass_fds=[writer], capture_output=True, timeout=30).returncode
        == 125
    )
    os.close(writer)


def test_help_and_version_are_printed(exec_path: Path) -> None:
    for option, part in (("--help", "usage"), ("--version", "assay-exec ")):
        done = subprocess.run([exec_path, option], capture_output=True, text=True, timeout=10)
        assert done.returncode == 0 and part in done.stdout


# --- measuring ----------------------------------------------------------------------------------


def test_wall_and_cpu_time_are_measured(launcher: Launcher) -> None:
    spin = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    record = launcher.run([sys.executable, "-S", "-c", spin])
    assert 0.3 <= record["wall_s"] < 10
    assert 0.29 <= record["user_s"] + record["sys_s"] < 1
    assert record["cpu_scope"] == ("cgroup" if MAY_CHANGE_HOST else "waited")
    assert record["host"]["process_tree_cpu_s"] == pytest.approx(record["user_s"] + record["sys_s"])
    assert record["host"]["busy_s"] >= 0 and record["host"]["steal_s"] >= 0
    assert abs(record["started_at"] - time.time()) < 60


def test_each_quantity_is_present_or_reported_absent(launcher: Launcher) -> None:
    quantities = """
        wall_s user_s sys_s peak_bytes peak_anon_bytes minor_faults major_faults
        voluntary_switches involuntary_switches read_bytes written_bytes
        pressure throttled_s oom_kills host migrations run_queue_wait_s energy_j
    """
    for keys in ({}, {"containment": "none"}):
        record = launcher.run(["true"], **keys)
        for name in quantities.split():
            assert (name in record) != (name in record.get("unavailable", {})), name


@pytest.mark.parametrize("containment", MEMORY_WAYS)
@pytest.mark.parametrize("kind", ["anon", "shared"])
def test_known_allocation_is_measured(
    launcher: Launcher, programs: Path, containment: str, kind: str
) -> None:
    record = launcher.run(
        [programs / "hold", kind, 64, 0.5], containment=containment, sample_interval_s=0.02
    )
    assert 64 * MIB <= record["peak_anon_bytes"] < 70 * MIB
    assert record["anon_samples"] >= 2 and 0 < record["anon_interval_s"] <= record["wall_s"]
    if containment == "cgroup":
        assert 64 * MIB <= record["peak_bytes"] < 80 * MIB


@system
@needs_memory_controller
def test_page_cache_is_charged_but_not_resident(launcher: Launcher, tmp_path: Path) -> None:
    file = tmp_path / "file"
    with file.open("wb") as out:
        out.write(b"x" * 64 * MIB)
        out.flush()
        os.fsync(out.fileno())
        os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    record = launcher.run(["sh", "-c", f"cat {file} > /dev/null; sleep 0.1"])
    assert record["peak_anon_bytes"] < 8 * MIB
    if record["read_bytes"] > 60 * MIB:  # a file system in memory cannot be cold
        assert record["peak_bytes"] >= 64 * MIB


@system
@needs_memory_controller
def test_memory_peak_between_samples_is_derived(launcher: Launcher, programs: Path) -> None:
    """The memory is touched and freed within a few milliseconds; samples see less of it.

    A sample within a twentieth of the derived value is kept: on a busy machine the touching is
    slow enough for one.
    """
    record = launcher.run([programs / "hold", "anon", 64, 0], sample_interval_s=10)
    assert 0.95 * 64 * MIB <= record["peak_anon_bytes"] < 68 * MIB
    assert record.get("peak_anon_source") == "charge" or record["anon_samples"] > 1
    seen = launcher.run([programs / "hold", "anon", 64, 0.3], sample_interval_s=0.02)
    assert "peak_anon_source" not in seen


@system
def test_temporary_files_are_not_counted_as_memory(launcher: Launcher, tmp_path: Path) -> None:
    """They are charged, and only samples distinguish them from memory afterwards."""
    file = tmp_path / "file"
    script = f"dd if=/dev/zero of={file} bs=1M count=64 status=none; rm {file}"
    record = launcher.run(["sh", "-c", script])
    assert record["peak_anon_bytes"] < 16 * MIB


@pytest.mark.parametrize("containment", BOTH_WAYS)
def test_memory_of_parent_is_not_charged_to_program(
    launcher: Launcher, programs: Path, containment: str
) -> None:
    fat = bytearray(200 * MIB)
    fat[::4096] = b"x" * len(fat[::4096])
    record = launcher.run([programs / "hold", "anon", 8, 0.2], containment=containment)
    assert record["peak_anon_bytes"] < 16 * MIB
    assert record.get("peak_bytes", 0) < 32 * MIB
    del fat


# --- reading back -------------------------------------------------------------------------------

EVERYTHING = ["status", "environ", "maps", "numa_maps", "smaps", "threads"]


def test_applied_settings_are_read_back(launcher: Launcher, programs: Path) -> None:
    record = launcher.run(
        [programs / "hold", "anon", 16, 0.5],
        affinity=[0],
        sched={"policy": "batch", "nice": 2},
        prctl=[{"option": 41, "args": [1]}],
        env_set={"ASSAY_TEST_VALUE": "seen"},
        mempolicy={"mode": "bind", "nodes": [0]},
        readback=EVERYTHING,
        environ_names=["ASSAY_TEST_VALUE"],
        map_names=["libc.so", "/hold"],
    )
    seen = record["readback"]
    assert seen["comm"] == "hold" and seen["pid"] == record["pid"]
    assert (seen["cpus"], seen["policy"], seen["nice"]) == ([0], "batch", 2)
    assert seen["thp_enabled"] is False and seen["anon_huge_bytes"] == 0
    assert seen["environ"] == {"ASSAY_TEST_VALUE": "seen"}
    assert {Path(path).name for path in seen["maps"]} >= {"hold", "libc.so.6"}
    assert all("libc.so" in path or "/hold" in path for path in seen["maps"])
    assert (seen["threads_peak"], seen["thread_cpus"], seen["thread_counts"]) == (1, [[0]], [1])
    assert 0 < seen["at_s"] < record["wall_s"] + 0.1
    if Path("/proc/self/numa_maps").exists():
        assert seen["mempolicy"] == "bind:0"
        assert seen["numa_pages"]["0"] * resource.getpagesize() >= 16 * MIB


def test_only_requested_settings_are_read_back(launcher: Launcher, programs: Path) -> None:
    argv = [programs / "hold", "anon", 1, 0.2]
    assert "readback" not in launcher.run(argv)
    seen = launcher.run(argv, readback=["status"])["readback"]
    assert "cpus" in seen and not seen.keys() & {
        "maps",
        "environ",
        "numa_pages",
        "anon_huge_bytes",
        "thread_cpus",
    }


def test_child_of_program_is_found(launcher: Launcher, programs: Path) -> None:
    spin = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    script = f'CHILD=yes taskset -c 0 "{sys.executable}" -S -c "{spin}"; sleep 0.3'
    record = launcher.run(
        ["sh", "-c", script], readback=["status", "environ", "maps"], environ_names=["CHILD"]
    )
    assert record["readback"]["cpus"] == [0]
    assert record["readback"]["environ"] == {"CHILD": "yes"}
    assert any("python" in path for path in record["readback"]["maps"])


def test_threads_and_their_masks_are_read(launcher: Launcher, programs: Path) -> None:
    record = launcher.run([programs / "threads", 4, 0.5], readback=["threads"])
    assert record["readback"]["threads_peak"] == 5
    usable = sorted(os.sched_getaffinity(0))
    assert {tuple(mask) for mask in record["readback"]["thread_cpus"]} >= {
        (cpu,) for cpu in usable[:4]
    }
    assert sum(record["readback"]["thread_counts"]) == 5


@pytest.mark.parametrize("containment", others_in_turns(*BOTH_WAYS))
def test_readings_of_many_threads_are_bounded(
    launcher: Launcher, programs: Path, containment: str
) -> None:
    argv = [programs / "threads", 700, 2.0]
    record = launcher.run(argv, readback=["threads"], containment=containment)
    assert record["readback"]["threads_peak"] == 701
    read = sum(record["readback"]["thread_counts"])
    assert 0 < read <= max(256, record["readback"]["at_s"] / 0.004)


def test_child_of_process_of_many_threads_is_found_without_control_group(
    launcher: Launcher, programs: Path
) -> None:
    script = (
        "import os, threading, time\n"
        "start = lambda: os.spawnvp(os.P_NOWAIT, 'sleep', ['sleep', '60'])\n"
        "[threading.Thread(target=time.sleep, args=(0.5,)).start() for _ in range(100)]\n"
        "threading.Thread(target=start).start()\n"
    )
    record = launcher.run(
        [sys.executable, "-S", "-c", script], containment="none", readback=["threads"]
    )
    assert record["containment"]["remaining_processes"] == 1
    assert record["readback"]["processes_peak"] == 2


def test_program_too_short_to_read_is_reported(launcher: Launcher) -> None:
    record = launcher.run(["true"], readback=EVERYTHING)
    assert ("readback" in record) != ("readback" in record.get("unavailable", {}))


def test_hostile_names_keep_the_record_valid(
    launcher: Launcher, programs: Path, tmp_path: Path
) -> None:
    folder = os.fsencode(tmp_path) + b'/\xff "\\\n\xed\xa0\x80'
    Path(os.fsdecode(folder)).mkdir()
    program = folder + b"/hold"
    shutil.copy(programs / "hold", program)
    os.environb[b"ASSAY_TEST_ODD"] = b'\xfe\x01"\x7f'
    try:
        plan = launcher.plan(
            ["sh", "-c", "exec ./*/hold anon 1 0.2"],
            cwd=str(tmp_path),
            readback=["environ", "maps"],
            environ_names=["ASSAY_TEST_ODD"],
        )
        record, _ = launcher.run_plan(plan)
    finally:
        del os.environb[b"ASSAY_TEST_ODD"]
    assert record["outcome"] == "exited"
    assert record["readback"]["environ"]["ASSAY_TEST_ODD"] == '\udcfe\x01"\x7f'


def test_contract_names_every_key(launcher: Launcher, programs: Path) -> None:
    text = DOCS.read_text()

    def check(value: Any, where: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if where not in ("environ", "numa_pages", "unavailable"):
                    assert f'"{key}"' in text or f"`{key}`" in text, (
                        f"docs/reference/assay-exec.md does not name {where} {key}"
                    )
                check(inner, key)
        elif isinstance(value, list):
            for inner in value:
                check(inner, where)

    check(
        launcher.run([programs / "hold", "anon", 1, 0.2], readback=EVERYTHING, limits={"cpu_s": 9}),
        "the record's",
    )
    check(launcher.run(["no-such-program"]), "the record's")
    check(launcher.run(["sh", "-c", "kill -9 $$"]), "the record's")


# --- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("containment", MEMORY_WAYS)
def test_memory_limit_ends_tree(launcher: Launcher, programs: Path, containment: str) -> None:
    argv = ["sh", "-c", f"{programs}/hold anon 96 1; sleep 30"]
    record = launcher.run(argv, containment=containment, limits={"memory_bytes": 48 * MIB})
    assert (record["outcome"], record["limit"]) == ("limit", "memory")
    assert record["wall_s"] < 10
    how = "kernel" if containment == "cgroup" else "polled"
    assert {"step": "limits.memory_bytes", "ok": True, "method": how} in record["applied"]
    if containment == "cgroup":
        assert record["oom_kills"] >= 1 and record["peak_bytes"] <= 48 * MIB


@pytest.mark.parametrize("containment", BOTH_WAYS)
def test_process_limit_ends_tree(
    launcher: Launcher, programs: Path, token: str, containment: str
) -> None:
    record = launcher.run(
        [programs / "escape", "orphans", 40, token, 20],
        containment=containment,
        limits={"pids": 12},
    )
    assert (record["outcome"], record["limit"]) == ("limit", "processes")
    assert record["wall_s"] < 10


@pytest.mark.parametrize("containment", BOTH_WAYS)
def test_cpu_time_limit_ends_tree(launcher: Launcher, containment: str) -> None:
    spin = "while True: pass"
    record = launcher.run(
        [sys.executable, "-S", "-c", spin], containment=containment, limits={"cpu_s": 0.3}
    )
    assert (record["outcome"], record["limit"]) == ("limit", "cpu")
    assert 0.28 <= record["user_s"] + record["sys_s"] < 2


@pytest.mark.parametrize("containment", BOTH_WAYS)
def test_output_limit_ends_tree(launcher: Launcher, tmp_path: Path, containment: str) -> None:
    keys = {
        "stdout": str(tmp_path / "out"),
        "limits": {"output_bytes": MIB},
        "containment": containment,
    }
    record = launcher.run(["yes"], **keys)
    assert (record["outcome"], record["limit"]) == ("limit", "output")
    assert record["wall_s"] < 10
    record = launcher.run(["head", "-c", "2000000", "/dev/zero"], **keys)
    assert record["outcome"] == "limit", "also where the program was faster than the look"


@pytest.mark.parametrize("containment", BOTH_WAYS)
def test_unreached_limits_have_no_effect(
    launcher: Launcher, programs: Path, tmp_path: Path, containment: str
) -> None:
    limits = {"memory_bytes": 256 * MIB, "pids": 100, "cpu_s": 10, "output_bytes": MIB}
    record = launcher.run(
        [programs / "hold", "anon", 8, 0.1],
        containment=containment,
        limits=limits,
        stdout=str(tmp_path / "out"),
    )
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert len(record["applied"]) == 5


# --- nothing is left behind ---------------------------------------------------------------------


@system
@root_only
@pytest.mark.parametrize(
    ("how", "number", "left"),
    [("orphans", 3, 3), ("daemons", 3, 3), ("bomb", 100, 100), ("chmod", 1, 1), ("nested", 1, 1)],
)
def test_no_process_escapes_control_group(
    launcher: Launcher,
    programs: Path,
    token: str,
    hierarchy: Record,
    how: str,
    number: int,
    left: int,
) -> None:
    started = time.monotonic()
    record, _ = launcher.run_plan(
        launcher.plan([programs / "escape", how, number, token, 0], **hierarchy)
    )
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record["containment"]["guarantee"] == "complete"
    assert "surviving_processes" not in record["containment"]
    if how == "bomb":  # still growing when it was counted
        assert 1 <= record["containment"]["remaining_processes"] <= left
    else:
        assert record["containment"]["remaining_processes"] == left
    assert time.monotonic() - started < 10
    assert not processes_with(token)


@system
@root_only
def test_frozen_tree_is_ended(
    launcher: Launcher, programs: Path, token: str, hierarchy: Record
) -> None:
    record = launcher.run([programs / "escape", "freeze", 1, token, 0], **hierarchy, timeout_s=0.5)
    assert record["outcome"] == "timed_out"
    assert 0.5 <= record["wall_s"] < 10


@pytest.mark.parametrize(("how", "number"), [("orphans", 3), ("daemons", 3), ("bomb", 50)])
def test_adopted_processes_end_without_control_groups(
    launcher: Launcher, programs: Path, token: str, how: str, number: int
) -> None:
    record = launcher.run([programs / "escape", how, number, token, 0], containment="none")
    assert record["containment"]["guarantee"] == "best_effort" and record["containment"]["reason"]
    assert record["containment"]["remaining_processes"] >= 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_to_launcher_ends_tree(
    launcher: Launcher, programs: Path, token: str, number: signal.Signals
) -> None:
    started = launcher.start(launcher.plan([programs / "escape", "daemons", 2, token, 60]))
    wait_until(lambda: len(processes_with(token)) == 3, "the program and its daemons run")
    started[0].send_signal(number)
    record, done = launcher.finish(started)
    assert (record["outcome"], record["interrupted_by"]) == ("interrupted", number)
    assert done.returncode == 0
    assert not processes_with(token)


def interrupted(
    launcher: Launcher, programs: Path, token: str, kill: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    plan = launcher.plan([programs / "escape", "daemons", 2, token, 60])
    process, record_fd = launcher.start(plan, start_new_session=True)
    os.close(record_fd)
    wait_until(lambda: len(processes_with(token)) == 3, "the program and its daemons run")
    kill(process)
    process.communicate(timeout=30)
    wait_until(lambda: not processes_with(token), "the tree is ended")
    if MAY_CHANGE_HOST:
        wait_until(lambda: not groups_named(plan["cgroup_name"]), "the control groups are removed")


def test_killed_launcher_ends_tree(launcher: Launcher, programs: Path, token: str) -> None:
    interrupted(launcher, programs, token, lambda process: process.kill())


def test_killed_process_group_ends_tree(launcher: Launcher, programs: Path, token: str) -> None:
    interrupted(launcher, programs, token, lambda process: os.killpg(process.pid, signal.SIGKILL))


@pytest.mark.parametrize("how", ["process", "group"])
def test_launcher_killed_at_any_moment_ends_tree(
    launcher: Launcher, programs: Path, token: str, how: str
) -> None:
    delays = random.Random(how)
    for _ in range(30):
        plan = launcher.plan([programs / "escape", "daemons", 1, token, 60])
        process, record_fd = launcher.start(plan, start_new_session=True)
        os.close(record_fd)
        time.sleep(delays.random() * 0.004)
        if how == "process":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
    wait_until(lambda: not processes_with(token), "the trees are ended")
    if MAY_CHANGE_HOST:
        wait_until(lambda: not groups_named(SESSION), "the control groups are removed")


def test_killed_supervisor_ends_tree(launcher: Launcher, programs: Path, token: str) -> None:
    def kill_supervisor(process: subprocess.Popen[bytes]) -> None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 1
        os.kill(int(children[0]), signal.SIGKILL)

    interrupted(launcher, programs, token, kill_supervisor)


def test_death_of_parent_ends_tree(launcher: Launcher, programs: Path, token: str) -> None:
    middle = (
        sys.executable,
        "-S",
        "-c",
        "import os, sys, time; os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:])",
    )

    def kill_middle(process: subprocess.Popen[bytes]) -> None:
        process.kill()

    plan = launcher.plan([programs / "escape", "daemons", 2, token, 60])
    process, record_fd = launcher.start(plan, prefix=middle, stdout=subprocess.DEVNULL)
    wait_until(lambda: len(processes_with(token)) == 3, "the program and its daemons run")
    kill_middle(process)
    process.communicate(timeout=30)
    wait_until(lambda: not processes_with(token), "the tree is ended")
    wait_until(lambda: os.fstat(record_fd).st_size > 0, "the record is written")
    assert json.loads(os.pread(record_fd, MIB, 0))["outcome"] == "interrupted"
    os.close(record_fd)
    wait_until(
        lambda: not (MAY_CHANGE_HOST and groups_named(plan["cgroup_name"])),
        "the control groups are removed",
    )


def test_end_of_parent_thread_keeps_tree(launcher: Launcher) -> None:
    with ThreadPoolExecutor(1) as pool:  # the thread ends before the launch
        started = pool.submit(
            launcher.start, launcher.plan(["sh", "-c", "sleep 0.3; exit 5"])
        ).result()
    assert launcher.finish(started)[0]["exit_status"] == 5


def test_unexpected_parent_is_refused(launcher: Launcher, token: str) -> None:
    assert launcher.run(["true"], parent_pid=os.getpid())["outcome"] == "exited"
    record = launcher.run(["sh", "-c", "sleep 60", token], parent_pid=1)
    assert record["outcome"] == "interrupted" and "pid" not in record


def test_launcher_reaps_adopted_processes(launcher: Launcher) -> None:
    zombies = "grep -l 'State:.Z' /proc/[0-9]*/status"
    script = f"for i in 1 2 3 4 5; do (true & ) ; done; sleep 0.2; {zombies}; ps -o ppid= -p $$"
    record, done = launcher.run_plan(launcher.plan(["sh", "-c", script]))
    supervisor = done.stdout.decode().split()[-1]
    zombies = [
        line
        for line in done.stdout.decode().split()[:-1]
        if f"PPid:\t{supervisor}" in _status_of(line)
    ]
    assert record["outcome"] == "exited" and not zombies


def _status_of(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


# --- control groups -----------------------------------------------------------------------------


def own_groups(text: str) -> dict[str, str]:
    """Return controller -> path from the lines of /proc/self/cgroup."""
    lines = [line.split(":", 2) for line in text.splitlines()]
    return {name: path for _, names, path in lines for name in names.split(",")}


@system
@root_only
def test_program_is_in_leaf_group(launcher: Launcher) -> None:
    plan = launcher.plan(["cat", "/proc/self/cgroup"], limits={"pids": 50})
    record, done = launcher.run_plan(plan)
    groups = own_groups(done.stdout.decode())
    name = plan["cgroup_name"]
    assert record["containment"]["mode"] in ("v2", "hybrid")
    assert Path(groups[""]).name == name
    for controller in ("memory", "pids"):
        assert controller not in groups or Path(groups[controller]).name == name


@system
@root_only
def test_own_control_group_is_parent(launcher: Launcher) -> None:
    mine = own_groups(Path("/proc/self/cgroup").read_text())
    theirs = own_groups(launcher.output(["cat", "/proc/self/cgroup"]))
    for name in ("", "memory"):
        if name in mine:
            assert str(Path(theirs[name]).parent) == mine[name]


@system
@root_only
def test_default_name_is_used(exec_path: Path) -> None:
    process = subprocess.Popen(
        [exec_path, "--", "cat", "/proc/self/cgroup"], stdout=subprocess.PIPE, text=True
    )
    text, _ = process.communicate(timeout=30)
    assert f"/assay-{process.pid}-0\n" in text
    assert not groups_named(f"assay-{process.pid}-")


@system
@root_only
def test_name_in_use_is_refused(launcher: Launcher) -> None:
    plan = launcher.plan(["true"])
    folder = next(
        path for path in (CGROUPS / "unified", CGROUPS) if (path / "cgroup.procs").exists()
    )
    folder /= own_groups(Path("/proc/self/cgroup").read_text())[""].lstrip("/")
    (folder / plan["cgroup_name"]).mkdir()
    try:
        record, _ = launcher.run_plan(plan | {"containment": "cgroup"})
        assert (record["outcome"], record["stage"]) == ("setup_failed", "containment")
        assert launcher.run_plan(plan)[0]["containment"]["mode"] == "none"
    finally:
        (folder / plan["cgroup_name"]).rmdir()


def test_missing_control_groups_are_reported(launcher: Launcher) -> None:
    record = launcher.run(["true"], cgroup_root="/no/such/folder", containment="auto")
    assert record["outcome"] == "exited"
    assert (
        record["containment"]["mode"] == "none"
        and "/no/such/folder" in record["containment"]["reason"]
    )
    record = launcher.run(["true"], cgroup_root="/no/such/folder", containment="cgroup")
    assert (record["outcome"], record["stage"]) == ("setup_failed", "containment")


def test_empty_control_group_folder_is_reported(launcher: Launcher, tmp_path: Path) -> None:
    """As in a container without control groups: the reason names the missing mount and remedy."""
    record = launcher.run(["true"], cgroup_root=str(tmp_path), containment="auto")
    assert (record["outcome"], record["containment"]["mode"]) == ("exited", "none")
    why = record["containment"]["reason"]
    assert f"no control groups are mounted at {tmp_path}" in why and "mount -t cgroup2" in why


@system
@root_only
def test_unprivileged_launch_works(launcher: Launcher, programs: Path) -> None:
    plan = launcher.plan([programs / "hold", "anon", 16, 0.2])
    record, _ = launcher.run_plan(plan, user=NOBODY, group=NOBODY, extra_groups=[])
    assert record["outcome"] == "exited"
    assert (
        record["containment"]["mode"] == "none"
        and "Delegate=yes" in record["containment"]["reason"]
    )
    assert 16 * MIB <= record["peak_anon_bytes"] < 24 * MIB


@system
@root_only
@pytest.mark.parametrize("how", ["daemons", "chmod"])
def test_delegated_folder_is_used(
    launcher: Launcher, programs: Path, token: str, v2_root: str, how: str
) -> None:
    """A subtree of the v2 hierarchy that belongs to the user, as in a systemd user session."""
    parent = Path(v2_root) / f"{SESSION}-delegated"
    inner = parent / "launcher"
    inner.mkdir(parents=True)
    try:
        for path in (parent, parent / "cgroup.procs", inner, inner / "cgroup.procs"):
            os.chown(path, NOBODY, NOBODY)
        plan = launcher.plan(
            [programs / "escape", how, 2 if how == "daemons" else 1, token, 0],
            cgroup_root=v2_root,
            cgroup_parent=parent.name,
        )
        drop = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"
        script = f'echo 0 > {inner}/cgroup.procs && exec {drop} "$@"'
        into = ("sh", "-c", script, "sh")
        record, _ = launcher.run_plan(plan, prefix=into)
        assert record["containment"]["mode"] == "v2"
        assert record["containment"]["guarantee"] == "complete"
        assert record["containment"]["remaining_processes"] == (2 if how == "daemons" else 1)
    finally:
        with contextlib.suppress(OSError):
            inner.rmdir()
        parent.rmdir()


@system
@root_only
def test_refused_clone3_falls_back(launcher: Launcher, programs: Path, token: str) -> None:
    plan = launcher.plan([programs / "escape", "daemons", 2, token, 0])
    record, _ = launcher.run_plan(plan, prefix=(programs / "noclone3",))
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record["containment"]["guarantee"] == "complete"
    assert record["containment"]["remaining_processes"] == 2


def test_concurrent_launches_are_independent(launcher: Launcher) -> None:
    def one(number: int) -> int:
        return launcher.run(["sh", "-c", f"sleep 0.05; exit {number}"])["exit_status"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(40))) == list(range(40))


def test_probe_describes_host(exec_path: Path) -> None:
    if not MAY_CHANGE_HOST:
        pytest.skip("it makes a control group")
    before = groups_named("assay-")
    process = subprocess.Popen([exec_path, "--probe"], stdout=subprocess.PIPE)
    probe = json.loads(process.communicate(timeout=30)[0])
    assert process.returncode == 0
    assert probe["kernel"] == os.uname().release
    assert probe["cpus_allowed"] == sorted(os.sched_getaffinity(0))
    assert probe["cgroup"]["mode"] in ("v2", "hybrid", "v1", "none")
    assert (
        probe["affinity"]["ok"]
        and probe["sched"]["batch"]["ok"]
        and probe["mempolicy"]["default"]["ok"]
    )
    assert probe["nice"][0] <= os.getpriority(os.PRIO_PROCESS, 0) and probe["nice"][1] == 19
    tried = ("pidfd", "clone3", "user_namespace", "aslr_off", "thp_disable")
    for name in (*tried, "affinity_calls", "view"):
        assert name in probe
    assert not groups_named(f"assay-{process.pid}-") - before


# --- the sanitized build ------------------------------------------------------------------------


@pytest.mark.slow
@system
def test_launcher_passes_sanitizers() -> None:
    """Build with address and undefined-behaviour sanitizers and run its tests with that."""
    here = Path(__file__).resolve().parent
    build = native_build(["assay-exec"], "address,undefined")
    environment = os.environ | {
        "ASSAY_EXEC": str(build / "assay-exec"),
        "ASAN_OPTIONS": "detect_leaks=0:disable_coredump=0",  # both processes end by _exit
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        *sorted(map(str, here.glob("test_launcher*.py"))),
        *(str(here / f"test_{name}.py") for name in ("hostile", "limits")),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    found = re.findall(r"(?:ERROR: AddressSanitizer|runtime error).*", done.stdout + done.stderr)
    assert done.returncode == 0 and not found, done.stdout[-8000:] + done.stderr[-2000:]


@pytest.mark.parametrize("wrapped", [False, True])
def test_stopped_program_is_detected(launcher: Launcher, tmp_path: Path, wrapped: bool) -> None:
    """The program stops itself, also below a shell that waits for it."""
    program = [sys.executable, "-c", "import os; open('pid', 'w').write(str(os.getpid())); input()"]
    argv = ["sh", "-c", '"$@"; exit 0', "sh", *program] if wrapped else program
    os.mkfifo(tmp_path / "fifo")
    plan = launcher.plan(argv, cwd=str(tmp_path), stdin=str(tmp_path / "fifo"))
    started = launcher.start(plan)
    writing = os.open(tmp_path / "fifo", os.O_WRONLY)
    file = tmp_path / "pid"
    wait_until(lambda: file.exists() and file.read_text() != "", "it runs")
    pid = int(file.read_text())
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.8)
    os.kill(pid, signal.SIGCONT)
    os.write(writing, b"\n")
    os.close(writing)
    record, _ = launcher.finish(started)
    assert record["exit_status"] == 0
    assert 0.3 < record["stopped_s"] <= record["wall_s"]


def test_sleeping_program_is_not_reported_stopped(launcher: Launcher) -> None:
    assert "stopped_s" not in launcher.run(["sh", "-c", "sleep 0.5; true"])


def test_environment_of_starting_or_ending_process_is_not_empty(
    launcher: Launcher,
) -> None:
    """Just after exec, and at the end, the kernel shows an empty environment (Linux 6.18)."""
    short = ["sh", "-c", "/bin/true; /bin/true; sleep 0.001"]
    keys = {"env_set": {"X": "1"}, "readback": ["environ", "maps"], "environ_names": ["X"]}
    seen = [launcher.run(short, **keys).get("readback") for _ in range(150)]
    read = [one for one in seen if one]
    assert read
    workers = [worker["environ"] for one in read for worker in one.get("workers", [])]
    assert [one["environ"] for one in read] == [{"X": "1"}] * len(read)
    assert workers == [{"X": "1"}] * len(workers)


def test_empty_environment_is_reported_empty(launcher: Launcher) -> None:
    record = launcher.run(
        ["env", "-i", "sleep", "0.3"], readback=["environ"], environ_names=["X"], env_set={"X": "1"}
    )
    assert record["readback"]["environ"] == {}
