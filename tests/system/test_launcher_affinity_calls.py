"""assay-exec with the program's own choice of CPUs answered by a filter of system calls."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from launching import Launcher, Record

CPUS = sorted(os.sched_getaffinity(0))
NOBODY = 65534
ANSWERS = {"ignored": 0, "refused": errno.EPERM}
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
FOR_NOBODY = (
    "setpriv",
    "--ruid",
    str(NOBODY),
    "--rgid",
    str(NOBODY),
    "--egid",
    str(NOBODY),
    "--clear-groups",
)
"""The launcher has root's privileges, and works for another user."""

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
LONG = [sys.executable, "-c", "import time; time.sleep(0.3)"]


def tried(
    launcher: Launcher, programs: Path, prefix: tuple[str, ...] = (), **keys: Any
) -> tuple[dict[str, int], Record]:
    """Return the results of the program's calls."""
    plan = launcher.plan([programs / "choose"], **keys)
    if prefix:
        plan = {k: v for k, v in plan.items() if k != "cgroup_name"} | {"containment": "none"}
    record, done = launcher.run_plan(plan, prefix=prefix)
    assert record["outcome"] == "exited", record
    lines = (line.split() for line in done.stdout.decode().splitlines())
    return {name: int(value) for name, value in lines}, record


@two_cpus
@pytest.mark.parametrize("answer", ANSWERS)
def test_program_and_children_keep_their_cpus(
    launcher: Launcher, programs: Path, answer: str
) -> None:
    got, record = tried(launcher, programs, affinity_calls=answer)
    assert {got[abi] for abi in ("native", "child", "x32", "i386") if abi in got} == {
        ANSWERS[answer]
    }
    assert got["cpus"] == got["bound"] == len(CPUS)
    assert {"step": "affinity_calls", "ok": True} in record["applied"]


@two_cpus
@pytest.mark.parametrize("keys", [{}, {"affinity_calls": "allowed"}])
def test_allowed_calls_are_executed(launcher: Launcher, programs: Path, keys: Record) -> None:
    got, record = tried(launcher, programs, **keys)
    assert (got["native"], got["child"], got["cpus"], got["no_new_privs"]) == (0, 0, 1, 0)
    assert "applied" not in record


@two_cpus
def test_planned_mask_is_set_before_filter(launcher: Launcher, programs: Path) -> None:
    chosen = CPUS[-1:]
    got, record = tried(launcher, programs, affinity=chosen, affinity_calls="refused")
    assert got["cpus"] == 1
    assert [step["step"] for step in record["applied"]] == ["affinity", "affinity_calls"]
    instances = [{"affinity": [cpu]} for cpu in CPUS]
    record = launcher.run(LONG, instances=instances, affinity_calls="refused")
    assert [one["cpus"] for one in record["instances"]] == [[cpu] for cpu in CPUS]


@root_only
@pytest.mark.parametrize(
    ("prefix", "bound"),
    [pytest.param((), 0, id="root"), (AS_NOBODY, 1), (FOR_NOBODY, 1)],
)
def test_no_new_privileges_is_set_only_if_required(
    launcher: Launcher, programs: Path, prefix: tuple[str, ...], bound: int
) -> None:
    got, _ = tried(launcher, programs, prefix, affinity_calls="refused")
    assert (got["native"], got["no_new_privs"]) == (errno.EPERM, bound)


def test_speculation_control_is_unchanged(launcher: Launcher) -> None:
    """A filter without the flag turns it off on kernels before 5.16, at a price."""
    command = ["grep", "Speculation", "/proc/self/status"]
    plain = launcher.run_plan(launcher.plan(command))[1].stdout
    record, done = launcher.run_plan(launcher.plan(command, affinity_calls="ignored"))
    assert record["outcome"] == "exited" and done.stdout == plain


def test_filter_is_read_back(launcher: Launcher) -> None:
    observe = ["status"]
    record = launcher.run(LONG, affinity_calls="refused", readback=observe)
    assert record["readback"]["call_filters"] == 1
    # If the launcher has a filter itself, only the program's own counts.
    inner = launcher.plan(LONG, affinity_calls="refused", readback=observe) | {
        "containment": "none"
    }
    inner.pop("cgroup_name", None)
    path = launcher.folder / "inner.json"
    path.write_bytes(json.dumps(inner).encode())
    command = [launcher.program, "--plan", path, "--record", "-"]
    text = launcher.output(command, affinity_calls="ignored")
    assert '"call_filters":1' in text.replace(" ", "")
    assert "call_filters" not in launcher.run(LONG, readback=observe)["readback"]


def test_unavailable_filter_is_reported(launcher: Launcher, tmp_path: Path) -> None:
    """A filter stands in for a kernel without filters."""
    blind = tmp_path / "blind.py"
    blind.write_text(
        """
import ctypes, os, platform, struct, sys
number = {"x86_64": 317, "aarch64": 277}[platform.machine()]
op = lambda code, k, passed=0: struct.pack("HBBI", code, 0, passed, k)
code = op(0x20, 0) + op(0x15, number, 1) + op(0x06, 0x50000 + 22) + op(0x06, 0x7FFF0000)
held = ctypes.create_string_buffer(code, len(code))
program = struct.pack("HP", len(code) // 8, ctypes.addressof(held))
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(*map(ctypes.c_ulong, (38, 1, 0, 0, 0)))
assert libc.syscall(number, 1, 0, program) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
    )
    plan = launcher.plan(["true"], affinity_calls="ignored")
    record, _ = launcher.run_plan(plan, prefix=(sys.executable, str(blind)))
    assert (record["outcome"], record["stage"]) == ("setup_failed", "affinity_calls")
    assert "CONFIG_SECCOMP_FILTER" in record["message"]
