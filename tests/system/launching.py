"""Helpers for tests of assay-exec: launches by plans, and checks for processes that remain."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MIB = 1 << 20
CGROUPS = Path("/sys/fs/cgroup")
SESSION = f"assay-test-{uuid.uuid4().hex[:8]}"
MAY_CHANGE_HOST = os.environ.get("ASSAY_TEST_SYSTEM") == "1"

Record = dict[str, Any]


def has_memory_controller() -> bool:
    """Return whether a hierarchy of this host can charge memory to control groups."""
    if (CGROUPS / "memory" / "tasks").exists():
        return True
    with contextlib.suppress(OSError):
        return "memory" in (CGROUPS / "cgroup.controllers").read_text().split()
    return False


needs_memory_controller = pytest.mark.skipif(
    not has_memory_controller(), reason="no hierarchy here has the memory controller"
)
MEMORY_WAYS = [
    pytest.param("cgroup", marks=[pytest.mark.system, needs_memory_controller]),
    "none",
]
"""Containments of tests that read the memory charged to a launch."""


def groups_named(part: str) -> set[str]:
    """Return the control groups of every hierarchy whose name holds `part`."""
    return {folder for folder, _, _ in os.walk(CGROUPS) if part in Path(folder).name}


def processes_with(token: str) -> list[int]:
    """Return the living processes that have an argument `token`."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if (
                token.encode() in words
                and "Z" not in (entry / "stat").read_text().rpartition(")")[2].split()[0]
            ):
                found.append(int(entry.name))
    return found


def state_of(pid: int) -> str:
    """Return the state of a process, as /proc/PID/stat has it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_until(condition: Callable[[], bool], what: str, patience: float = 10.0) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, f"not within {patience} s: {what}"
        time.sleep(0.01)


class Launcher:
    """Starts assay-exec with plans; every control group it makes bears the name of this session."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.count = 0

    def plan(self, argv: list[Any], **keys: Any) -> dict[str, Any]:
        self.count += 1
        plan = {"schema": 2, "argv": [str(word) for word in argv], "timeout_s": 30}
        if MAY_CHANGE_HOST:
            plan["cgroup_name"] = f"{SESSION}-{os.getpid()}-{self.count}"
        else:
            plan["containment"] = "none"
        return plan | keys

    def start(
        self, plan: Any, *, prefix: tuple[Any, ...] = (), **options: Any
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Start assay-exec with the plan; return the process and the open record."""
        plan_fd = os.memfd_create("plan")
        os.write(plan_fd, plan if isinstance(plan, bytes) else json.dumps(plan).encode())
        os.lseek(plan_fd, 0, os.SEEK_SET)
        record_fd = os.memfd_create("record")
        command = [*prefix, self.program, "--plan-fd", str(plan_fd), "--record-fd", str(record_fd)]
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(command, pass_fds=(plan_fd, record_fd), **options)
        os.close(plan_fd)
        return process, record_fd

    def finish(
        self, started: tuple[subprocess.Popen[bytes], int]
    ) -> tuple[Record, subprocess.CompletedProcess[bytes]]:
        process, record_fd = started
        stdout, stderr = process.communicate(timeout=60)
        text = os.pread(record_fd, 16 * MIB, 0)
        os.close(record_fd)
        assert text.endswith(b"\n"), f"no record; said {stderr.decode()!r}"
        record = json.loads(text)
        print(json.dumps(record, indent=1))  # shown where a test fails
        return record, subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def run(self, argv: list[Any], **keys: Any) -> Record:
        return self.run_plan(self.plan(argv, **keys))[0]

    def run_plan(
        self, plan: Any, **options: Any
    ) -> tuple[Record, subprocess.CompletedProcess[bytes]]:
        return self.finish(self.start(plan, **options))

    def output(self, argv: list[Any], **keys: Any) -> str:
        """Run a program, check for exit status 0, and return its output."""
        record, done = self.run_plan(self.plan(argv, **keys))
        assert (record["outcome"], record["exit_status"]) == ("exited", 0)
        return done.stdout.decode()
