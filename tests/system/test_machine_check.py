"""`assay machine check` on this host: findings are correct, and remedies work."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

LAYOUTS = Path("/proc/sys/kernel/randomize_va_space")
COMMAND = [sys.executable, "-m", "assay", "machine", "check"]


def check(*words: str, bound_to: set[int] | None = None) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit status, and the findings by id."""

    def bind() -> None:
        if bound_to:
            os.sched_setaffinity(0, bound_to)

    done = subprocess.run(
        [*COMMAND, "--json", *words], capture_output=True, text=True, preexec_fn=bind
    )
    assert done.returncode in (0, 1), done.stderr
    found = {one["id"]: one for one in json.loads(done.stdout)["checks"]}
    return done.returncode, found


@pytest.fixture
def layouts() -> Iterator[None]:
    """Change a kernel setting that assay never changes, and restore it afterwards."""
    before = LAYOUTS.read_text()
    yield
    LAYOUTS.write_text(before)
    assert LAYOUTS.read_text() == before


@pytest.mark.rotating
@pytest.mark.system
@pytest.mark.alone
@pytest.mark.skipif(os.geteuid() != 0, reason="changes a setting of the host")
def test_remedy_fixes_finding(layouts: None, tmp_path: Path) -> None:
    profile = tmp_path / "own.toml"
    profile.write_text('[checks."kernel.aslr"]\notherwise = "fail"\naccept = ["2"]\n')
    LAYOUTS.write_text("1")  # nothing but the heap stays where it is
    status, found = check("--profile", str(profile))
    (finding,) = found.values()
    assert (status, finding["status"], finding["right"]) == (1, "fail", "root")
    assert finding["evidence"] == f"1 ({LAYOUTS})"
    words = shlex.split(finding["remedy"])
    assert words[:2] == ["sysctl", "-w"]
    name, _, value = words[2].partition("=")
    # Set the value as sysctl(8), which some hosts lack, would do.
    Path("/proc/sys", *name.split(".")).write_text(value)
    status, found = check("--profile", str(profile))
    assert (status, found["kernel.aslr"]["status"]) == (0, "ok")


@pytest.mark.rotating
@pytest.mark.system
def test_remaining_affinity_is_found() -> None:
    cpus = os.sched_getaffinity(0)
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    _, found = check("--profile", "measuring", bound_to={min(cpus)})
    assert found["surroundings.cpuset"]["status"] == "warn"
    assert f"may use {min(cpus)}," in found["surroundings.cpuset"]["evidence"]


@pytest.mark.rotating
@pytest.mark.system
def test_load_of_other_processes_is_found() -> None:
    """Programs that keep every CPU busy exceed the limit of any profile."""
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in os.sched_getaffinity(0)
    ]
    try:
        _, found = check("--profile", "measuring")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert found["surroundings.load"]["status"] == "fail"
    assert "top" in found["surroundings.load"]["remedy"]


@pytest.mark.system
def test_check_can_be_interrupted() -> None:
    """Ctrl-C during observation ends it immediately, without a message."""
    with subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        until = time.monotonic() + 30
        while "clock_nanosleep" not in waits(process.pid) and process.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT  # which shells call 130
    assert (out, err) == (b"", b"")


def waits(pid: int) -> str:
    """Return the kernel function in which a process waits, else the number of its system call."""
    try:
        number = Path(f"/proc/{pid}/syscall").read_text().split()[0]
    except (OSError, IndexError):
        return ""
    # clock_nanosleep of x86-64 and arm64.
    return "clock_nanosleep" if number in ("230", "115") else number
