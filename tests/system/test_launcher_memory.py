"""Memory that is hard to see: pools of huge pages, short peaks, kills by groups above, core files.

docs/reference/assay-exec.md is the contract. Tests marked `system` make control groups on this
host.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import resource
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from launching import (
    CGROUPS,
    MEMORY_WAYS,
    MIB,
    SESSION,
    Launcher,
    Record,
    needs_memory_controller,
)

system = pytest.mark.system
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

RARE: Record = {"sampling_share": 0.0001, "sample_interval_s": 10}
"""After the first sample the next one comes a fifth of a second later at the earliest."""


# --- pools of huge pages ------------------------------------------------------------------------

OVERCOMMIT = Path("/proc/sys/vm/nr_overcommit_hugepages")
HUGE = """
import mmap, os, sys, time
pages = mmap.mmap(-1, int(sys.argv[1]) << 20, flags=int(sys.argv[2]) | 0x40000)
for at in range(0, len(pages), 1 << 20):
    pages[at] = 1
if sys.argv[3] == "fork" and os.fork() == 0:
    assert sum(pages[at] for at in range(0, len(pages), 1 << 20)) == len(pages) >> 20
time.sleep(float(sys.argv[4]))
"""
"""Map an amount with MAP_HUGETLB, touches it, and keeps it for a while."""


@pytest.fixture
def huge_pages() -> Iterator[None]:
    """Provide a pool of huge pages, if this host permits it."""
    try:
        before = OVERCOMMIT.read_text()
        OVERCOMMIT.write_text("96")
    except OSError:
        pytest.skip("pools of huge pages cannot be changed here")
    try:
        with contextlib.suppress(OSError):
            mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | 0x40000).close()
            yield
            return
        pytest.skip("no huge pages are to be had now")
    finally:
        OVERCOMMIT.write_text(before)


def huge(mebibytes: int, seconds: float, how: str = "", flags: int = mmap.MAP_PRIVATE) -> list[Any]:
    return [sys.executable, "-S", "-c", HUGE, mebibytes, flags, how, seconds]


@system
@root_only
@pytest.mark.parametrize("containment", MEMORY_WAYS)
def test_huge_pages_of_pool_are_counted(
    launcher: Launcher, huge_pages: None, containment: str
) -> None:
    record = launcher.run(huge(64, 0.2), containment=containment)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert 64 * MIB <= record["peak_anon_bytes"] < 84 * MIB
    if containment == "cgroup":
        assert record["peak_bytes"] >= 64 * MIB


@system
@root_only
def test_shared_huge_pages_are_counted_once(launcher: Launcher, huge_pages: None) -> None:
    record = launcher.run(huge(48, 0.2, "fork", mmap.MAP_SHARED))
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert 48 * MIB <= record["peak_anon_bytes"] < 72 * MIB


@system
@root_only
@pytest.mark.parametrize("containment", MEMORY_WAYS)
def test_memory_limit_includes_huge_pages(
    launcher: Launcher, huge_pages: None, containment: str
) -> None:
    record = launcher.run(huge(96, 10), containment=containment, limits={"memory_bytes": 48 * MIB})
    assert (record["outcome"], record["limit"]) == ("limit", "memory")
    below = launcher.run(huge(32, 0.1), containment=containment, limits={"memory_bytes": 96 * MIB})
    assert (below["outcome"], below["exit_status"]) == ("exited", 0)


# --- peaks that no sample saw -------------------------------------------------------------------


@pytest.mark.parametrize("containment", MEMORY_WAYS)
def test_peak_between_samples_beside_files_is_found_or_bounded(
    launcher: Launcher, programs: Path, tmp_path: Path, containment: str
) -> None:
    """More files are written than memory is taken, so that the charge tells nothing."""
    command = [programs / "spill", tmp_path / "file", 48, 0, 40]
    record = launcher.run(command, containment=containment, **RARE)
    peak = record["peak_anon_bytes"]
    most = record.get("peak_anon_upper_bound_bytes", peak)
    assert peak < 44 * MIB and most >= 40 * MIB - MIB // 2
    if containment == "cgroup":
        assert peak >= 40 * MIB - MIB // 2
        assert "peak_anon_source" in record or record["anon_samples"] > 1


@system
@needs_memory_controller
def test_peak_of_several_processes_is_bounded(
    launcher: Launcher, programs: Path, tmp_path: Path
) -> None:
    """No process has more than 20 MiB, and no count tells how many had it at a time."""
    command = [programs / "spill", tmp_path / "file", 64, 3, 20]
    record = launcher.run(command, **RARE)
    assert record.get("peak_anon_upper_bound_bytes", record["peak_anon_bytes"]) >= 40 * MIB


@system
def test_mapped_files_between_samples_are_not_counted_as_memory(
    launcher: Launcher, programs: Path, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 48 * MIB)
    record = launcher.run([programs / "spill", file, "map", 48], **RARE)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record.get("peak_anon_bytes", 0) < 12 * MIB
    assert record.get("peak_anon_upper_bound_bytes", 0) < 24 * MIB


@pytest.mark.parametrize("containment", MEMORY_WAYS)
def test_steady_program_has_no_bound(launcher: Launcher, programs: Path, containment: str) -> None:
    record = launcher.run([programs / "hold", "anon", 32, 0.3], containment=containment)
    assert 32 * MIB <= record["peak_anon_bytes"] < 36 * MIB
    assert record.get("peak_anon_upper_bound_bytes", 0) < 38 * MIB


# --- kills for memory ---------------------------------------------------------------------------

WAITS = """
import os, signal, sys, time
large = "large" in sys.argv[1]
child = os.fork()
if child == 0:
    kept = b"x" * ((32 if large else 1) << 20)
    time.sleep(60)
time.sleep(0.3)
for file in sys.argv[2:]:
    with open(file, "w") as counts:
        counts.write("low 0\\nhigh 0\\nmax 9\\noom 3\\noom_kill 3\\n")
if "late" in sys.argv[1]:
    time.sleep(0.6)
if sys.argv[1] == "self":
    os.kill(os.getpid(), signal.SIGKILL)
if "kill" in sys.argv[1]:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    time.sleep(60)
time.sleep(0.5)
"""
"""Stand-in for the kernel: counts a kill, and ends the program, or a child whose parent waits."""


@pytest.fixture
def counted(tmp_path: Path) -> tuple[str, list[Path]]:
    """Provide a root of recorded control groups of both versions, and their counts of kills."""
    root = tmp_path / "groups"
    for folder, files in {
        "memory": {
            "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
            "memory.limit_in_bytes": f"{250 * MIB}\n",
            "memory.max_usage_in_bytes": f"{250 * MIB}\n",
        },
        "unified": {
            "memory.events": "low 0\nhigh 0\nmax 0\noom 2\noom_kill 2\n",
            "memory.max": f"{250 * MIB}\n",
        },
    }.items():
        (root / folder).mkdir(parents=True)
        for name, text in files.items():
            (root / folder / name).write_text(text)
    counts = [root / "memory" / "memory.oom_control", root / "unified" / "memory.events"]
    return str(root), counts


@pytest.mark.parametrize("wanted", ["end", "leave"])
@pytest.mark.rotating
def test_oom_kill_by_ancestor_group_ends_launch_on_request(
    launcher: Launcher, counted: tuple[str, list[Path]], wanted: str
) -> None:
    root, counts = counted
    keys = {"containment": "none", "cgroup_root": root, "memory_kills": wanted, "timeout_s": 3}
    record = launcher.run([sys.executable, "-S", "-c", WAITS, "large-kill", *counts], **keys)
    if wanted == "leave":
        assert record["outcome"] == "timed_out"
        return
    assert (record["outcome"], record["stage"]) == ("killed_for_memory", "memory")
    assert "limit 250 MiB of the control group /" in record["message"]


def test_oom_kill_of_other_process_is_ignored(
    launcher: Launcher, counted: tuple[str, list[Path]]
) -> None:
    root, counts = counted
    keys = {"containment": "none", "cgroup_root": root, "memory_kills": "end"}
    record = launcher.run([sys.executable, "-S", "-c", WAITS, "spare", *counts], **keys)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)


@pytest.mark.parametrize("how", ["large-late-kill", "self"])
def test_early_or_late_oom_kill_is_found(
    launcher: Launcher, counted: tuple[str, list[Path]], how: str
) -> None:
    """A victim takes time to end; the program itself may be gone before the next look."""
    root, counts = counted
    keys = {"containment": "none", "cgroup_root": root, "memory_kills": "end", "timeout_s": 4}
    record = launcher.run([sys.executable, "-S", "-c", WAITS, how, *counts], **keys)
    assert record["outcome"] == "killed_for_memory"


def test_ending_small_process_is_not_taken_for_oom_victim(
    launcher: Launcher, counted: tuple[str, list[Path]]
) -> None:
    root, counts = counted
    keys = {"containment": "none", "cgroup_root": root, "memory_kills": "end", "timeout_s": 1.5}
    record = launcher.run([sys.executable, "-S", "-c", WAITS, "small-kill", *counts], **keys)
    assert record["outcome"] == "timed_out"


POOL = """
import multiprocessing, sys
def work(mebibytes):
    return len([kept for kept in [b"x" * (mebibytes << 20)]])
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(work, [int(sys.argv[1])] * 2, chunksize=1)
"""


@pytest.fixture
def group_above() -> Iterator[str]:
    """Provide the name of a control group with a limit of 64 MiB, in each relevant hierarchy."""
    name = f"{SESSION}-above-{uuid.uuid4().hex[:6]}"
    v2 = (CGROUPS / "cgroup.procs").exists()
    roots = [CGROUPS] if v2 else [CGROUPS / "memory", CGROUPS / "unified", CGROUPS / "freezer"]
    roots = [root for root in roots if root.is_dir()]
    if v2 and "memory" not in (CGROUPS / "cgroup.subtree_control").read_text().split():
        pytest.skip("the root hands the memory controller to no group")
    files = ("memory.max", "memory.swap.max") if v2 else ("memory.limit_in_bytes",)
    folders = [root / name for root in roots]
    try:
        for folder in folders:
            folder.mkdir()
        for file in files:
            with contextlib.suppress(FileNotFoundError):
                (folders[0] / file).write_text(str(64 * MIB) if "swap" not in file else "0")
        yield name
    finally:
        for folder in folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


@system
@root_only
def test_oom_killed_worker_ends_launch(launcher: Launcher, group_above: str) -> None:
    """Without that, the pool would wait for its worker for ever."""
    record = launcher.run(
        [sys.executable, "-S", "-c", POOL, 80], cgroup_parent=group_above, memory_kills="end"
    )
    assert record["outcome"] == "killed_for_memory"
    assert f"limit 64 MiB of the control group /{group_above}" in record["message"]
    fits = launcher.run(
        [sys.executable, "-S", "-c", POOL, 4], cgroup_parent=group_above, memory_kills="end"
    )
    assert (fits["outcome"], fits["exit_status"]) == ("exited", 0)


@system
@root_only
def test_own_limit_is_distinguished_from_ancestor_limit(
    launcher: Launcher, group_above: str
) -> None:
    command = [sys.executable, "-S", "-c", POOL, 80]
    keys: Record = {"cgroup_parent": group_above, "memory_kills": "end"}
    record = launcher.run(command, limits={"memory_bytes": 48 * MIB}, **keys)
    assert (record["outcome"], record["limit"]) == ("limit", "memory")
    wide = launcher.run(command, limits={"memory_bytes": 512 * MIB}, **keys)
    assert wide["outcome"] == "killed_for_memory" and "limit" not in wide


# --- core files ---------------------------------------------------------------------------------


@pytest.fixture
def cores_allowed() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if hard == 0:
        pytest.skip("core files are not allowed here")
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


@pytest.mark.parametrize("instances", [{}, {"instances": [{}, {}]}])
def test_launch_without_core_files_leaves_none(
    launcher: Launcher, tmp_path: Path, cores_allowed: None, instances: Record
) -> None:
    record = launcher.run(
        ["sh", "-c", "kill -ABRT $$"], cwd=str(tmp_path), core_files="none", **instances
    )
    assert (record["outcome"], record["signal"], record["core_dumped"]) == ("signaled", 6, False)
    assert not list(tmp_path.glob("*core*"))


def test_core_limit_is_inherited_by_default(launcher: Launcher, cores_allowed: None) -> None:
    """A limit of 1 byte keeps cores from programs that take them, too (core(5))."""
    code = "import resource; print(*resource.getrlimit(resource.RLIMIT_CORE))"
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    for wanted, soft in (("kept", hard), ("none", 1)):
        seen = launcher.output([sys.executable, "-S", "-c", code], core_files=wanted)
        assert seen.split() == [str(soft), str(hard)]


def test_invalid_values_are_refused(launcher: Launcher) -> None:
    for key in ("core_files", "memory_kills"):
        record, done = launcher.run_plan(launcher.plan(["true"], **{key: "perhaps"}))
        assert record["outcome"] == "bad_plan" and record["message"].startswith(key)
        assert isinstance(done, subprocess.CompletedProcess) and done.returncode == 125
