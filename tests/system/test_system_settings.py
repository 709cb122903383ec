"""System settings on this machine: applied, read back, and restored however assay ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.host.host import LiveHost
from assay.host.journal import STATE_VARIABLE
from assay.machine.root import Root
from assay.machine.swaps import SWAPS
from assay.machine.tunables import IRQS, read_system
from assay.testing.recorded_host import RecordedHost

pytestmark = [
    pytest.mark.system,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0, reason="changing system settings needs root"),
]

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
SWAPPINESS = "/proc/sys/vm/swappiness"


def everything() -> dict[str, str]:
    """Return all state that settings could change on this machine, and each interrupt."""
    host = LiveHost()
    found = read_system(Root())
    for number in found.get(IRQS, "").split():
        path = f"{IRQS}/{number}/smp_affinity_list"
        found[path] = host.read(path) or ""
    return {path: text for path, text in found.items() if path != SWAPS}


@pytest.fixture(autouse=True)
def as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check afterwards that the machine is unchanged."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "x.db"))
    before = everything()
    yield
    after = everything()
    end = time.monotonic() + 10  # others may try something on this machine for a moment
    while after != before and time.monotonic() < end:
        time.sleep(0.1)
        after = everything()
    for path, text in before.items():  # remains of a failed test
        if after.get(path) != text and path != IRQS:
            word = text.partition("[")[2].partition("]")[0] or text
            subprocess.run(["sh", "-c", 'echo "$1" > "$2"', "sh", word, path], check=False)
    assert after == before
    journal = tmp_path / "state" / "journal" / "changes.jsonl"
    assert not journal.exists() or journal.read_bytes() == b""


def assay(*words: str) -> list[str]:
    """Return a command line of assay."""
    return [sys.executable, "-m", "assay", *words]


def demand(*paths: str) -> None:
    """Skip the test if this machine lacks a file, or it is read-only."""
    for path in paths:
        if not os.access(path, os.W_OK):
            pytest.skip(f"this machine has no {path} that can be written")


def now(path: str) -> str:
    """Return the content of a file."""
    return Path(path).read_text().strip()


def until(what: str, path: str, *, gone: bool = False) -> None:
    """Wait until a file contains a text, or no longer does."""
    end = time.monotonic() + 30
    while (what in now(path)) == gone:
        assert time.monotonic() < end, now(path)
        time.sleep(0.01)


VALUES = {
    "vm.thp=never": THP,
    "vm.thp.defrag=never": "/sys/kernel/mm/transparent_hugepage/defrag",
    "vm.thp.shmem=advise": "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
    "vm.thp.64k=madvise": "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled",
    "vm.khugepaged.pages_to_scan=2048": (
        "/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan"
    ),
    "vm.khugepaged.defrag=0": "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
    "vm.khugepaged.max_ptes_none=500": (
        "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none"
    ),
    "vm.khugepaged.max_ptes_swap=60": (
        "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_swap"
    ),
    "vm.khugepaged.max_ptes_shared=200": (
        "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_shared"
    ),
    "vm.khugepaged.scan_sleep_millisecs=20000": (
        "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs"
    ),
    "vm.khugepaged.alloc_sleep_millisecs=50000": (
        "/sys/kernel/mm/transparent_hugepage/khugepaged/alloc_sleep_millisecs"
    ),
    "vm.hugepages=2": "/proc/sys/vm/nr_hugepages",
    "vm.hugepages.2m.node0=2": (
        "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages"
    ),
    "vm.swappiness=61": SWAPPINESS,
    "vm.dirty_ratio=21": "/proc/sys/vm/dirty_ratio",
    "vm.dirty_bytes=1000000000": "/proc/sys/vm/dirty_bytes",
    "vm.dirty_background_ratio=11": "/proc/sys/vm/dirty_background_ratio",
    "vm.dirty_writeback=600": "/proc/sys/vm/dirty_writeback_centisecs",
    "vm.dirty_background_bytes=100000000": "/proc/sys/vm/dirty_background_bytes",
    "vm.dirty_expire=2900": "/proc/sys/vm/dirty_expire_centisecs",
    "vm.zone_reclaim=1": "/proc/sys/vm/zone_reclaim_mode",
    "vm.compaction=19": "/proc/sys/vm/compaction_proactiveness",
    "vm.stat_interval=2": "/proc/sys/vm/stat_interval",
    "ksm=1": "/sys/kernel/mm/ksm/run",
    "numa.balancing=1": "/proc/sys/kernel/numa_balancing",
    "watchdog=0": "/proc/sys/kernel/watchdog",
    "rt.throttling=960000": "/proc/sys/kernel/sched_rt_runtime_us",
    "timer.migration=0": "/proc/sys/kernel/timer_migration",
    "perf.rate=50000": "/proc/sys/kernel/perf_event_max_sample_rate",
    "perf.cpu_percent=24": "/proc/sys/kernel/perf_cpu_time_max_percent",
    "workqueue.cpus=0": "/sys/devices/virtual/workqueue/cpumask",
    "irq.cpus=0": f"{IRQS}/default_smp_affinity",
    "cpu.idle=0": "/dev/cpu_dma_latency",
}


@pytest.mark.parametrize("word", VALUES)
def test_each_available_setting_is_applied_and_restored(word: str, tmp_path: Path) -> None:
    path = VALUES[word]
    demand(path)
    name, _, value = word.partition("=")
    record = tmp_path / "record.json"
    done = subprocess.run(
        assay("run", "--with", word, "--record", str(record), "--", "cat", path),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    grant = json.loads(record.read_text())["settings"][name]
    if name == "irq.cpus":  # some may be managed by their drivers
        assert grant["status"] in ("granted", "degraded")
    else:
        assert (grant["status"], grant["level"]) == ("granted", "seen"), grant
    if name in ("vm.thp", "vm.thp.defrag"):
        assert f"[{value}]" in done.stdout
    elif path.startswith("/proc/sys"):
        assert done.stdout.strip() == value


@pytest.mark.rotating
def test_profile_is_applied_and_restored(tmp_path: Path) -> None:
    demand(THP, SWAPPINESS)
    before = (now(THP), now(SWAPPINESS))
    profile = tmp_path / "own.toml"
    profile.write_text(
        '[set]\n"vm.thp" = "never"\n"vm.swappiness" = 57\n"vm.hugepages.3k" = 1\n[checks]\nx = 1\n'
    )
    profile.chmod(0o644)
    apply = assay("machine", "apply", str(profile), "--json")
    dry = json.loads(subprocess.run([*apply, "--dry-run"], capture_output=True, check=True).stdout)
    assert (now(THP), now(SWAPPINESS)) == before
    done = json.loads(subprocess.run(apply, capture_output=True, check=True).stdout)
    for result in (dry, done):
        words = {one["name"]: one["status"] for one in result["settings"]}
        assert words == {
            "vm.thp": "granted",
            "vm.swappiness": "granted",
            "vm.hugepages.3k": "refused",
        }
    assert "[never]" in now(THP)
    again = json.loads(subprocess.run(apply, capture_output=True, check=True).stdout)
    words = {one["name"]: one["status"] for one in again["settings"]}
    assert (words["vm.thp"], words["vm.swappiness"]) == ("kept", "kept")
    # A launch does not change it, and a study restores it.
    subprocess.run(assay("run", "--with", "vm.thp=always", "--", "true"), check=True)
    assert ("[never]" in now(THP), now(SWAPPINESS)) == (True, "57")
    Path(SWAPPINESS).write_text("56")
    foreseen = subprocess.run(
        assay("machine", "restore", "--dry-run"), capture_output=True, text=True
    )
    assert f"{SWAPPINESS}  57 -> {before[1]}  left unchanged: it is 56 now" in foreseen.stdout
    back = subprocess.run(assay("machine", "restore", "--json"), capture_output=True)
    words = {one["path"]: one["status"] for one in json.loads(back.stdout)["changes"]}
    assert (back.returncode, words) == (1, {THP: "undone", SWAPPINESS: "drifted"})
    assert (now(THP), now(SWAPPINESS)) == (before[0], "56")
    subprocess.run(assay("machine", "restore", "--force"), check=True)
    assert (now(THP), now(SWAPPINESS)) == before
    profile.chmod(0o666)
    refused = subprocess.run(apply, capture_output=True, text=True)
    assert refused.returncode == 3
    assert "root would apply it" in refused.stderr


def test_unavailable_profile_is_located(tmp_path: Path) -> None:
    demand(SWAPPINESS)
    profile = tmp_path / "own.toml"
    profile.write_text('[set]\n"vm.swappiness" = 999\n')
    profile.chmod(0o644)
    words = assay("machine", "apply", str(profile), "--dry-run")
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 3
    assert "own.toml:2:1: vm.swappiness=999 cannot be granted" in done.stderr
    assert "own.toml is available" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("apply",), 2, "The profile is missing"),
        (("apply", "latincy"), 2, "Did you mean latency?"),
        (("apply", "/nonexistent.toml"), 2, "/nonexistent.toml"),
        (("restore", "x"), 2, "Unexpected argument"),
        (("restore",), 0, "Nothing to restore."),
    ],
)
def test_invalid_requests_are_refused(words: tuple[str, ...], status: int, message: str) -> None:
    done = subprocess.run(assay("machine", *words), capture_output=True, text=True)
    assert done.returncode == status
    assert message in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "missing or empty"),
        ('[set]\nmalloc = "jemalloc"\n', "belongs to a program"),
        ('[set]\n"vm.thb" = "never"\n', "Unknown setting: 'vm.thb'"),
        ('[set]\n"vm.thp" = true\n', "takes a number or a text"),
        ("[set\n", "own.toml:1"),
    ],
)
def test_invalid_profile_is_located(tmp_path: Path, text: str, message: str) -> None:
    profile = tmp_path / "own.toml"
    profile.write_text(text)
    profile.chmod(0o644)
    done = subprocess.run(assay("machine", "apply", str(profile)), capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr


def test_explained_script_applies_and_restores(tmp_path: Path) -> None:
    demand(THP, SWAPPINESS, "/proc/sys/vm/dirty_bytes")
    files = (THP, SWAPPINESS, "/proc/sys/vm/dirty_bytes")
    words = ("vm.thp=never", "vm.swappiness=59", "vm.dirty_bytes=50000000")
    options = [part for word in words for part in ("--with", word)]
    result = subprocess.run(
        assay("run", "--explain", *options, "--", "cat", *files),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    script = tmp_path / "run.sh"
    script.write_text(result[result.index("#!/bin/sh") :])
    done = subprocess.run(["sh", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "[never]" in done.stdout
    assert done.stdout.splitlines()[1:] == ["59", "50000000"]
    # It restores after a failing program, and after a signal.
    script.write_text(script.read_text().replace(f"cat {THP}", f"sh -c 'exit 7' {THP}"))
    assert subprocess.run(["sh", script]).returncode == 7


@pytest.mark.rotating
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_terminated_study_restores_machine(number: int, tmp_path: Path) -> None:
    demand(THP, SWAPPINESS)
    before = everything()
    words = ["--arm", "vm.thp=always vm.swappiness=58", "--arm", "vm.thp=never vm.swappiness=57"]
    with subprocess.Popen(
        assay("compare", *words, "--budget", "60s", "--", "sleep", "0.2"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as study:
        until("[always]", THP)
        until("[never]", THP)
        assert now(SWAPPINESS) in ("57", "58")
        study.send_signal(number)
        study.wait(30)
    until("[always]", THP, gone=True)
    until("[never]", THP, gone="[never]" not in before[THP])
    end = time.monotonic() + 10
    while everything() != before and time.monotonic() < end:
        time.sleep(0.05)
    assert everything() == before


def children(pid: int) -> list[int]:
    """Return the child processes of a process."""
    return [int(word) for word in now(f"/proc/{pid}/task/{pid}/children").split()]


@pytest.mark.rotating
def test_next_assay_restores_after_guard_is_killed(tmp_path: Path) -> None:
    demand(THP)
    before = now(THP)
    with subprocess.Popen(assay("run", "--with", "vm.thp=never", "--", "sleep", "30")) as first:
        until("[never]", THP)
        guards = [
            pid
            for pid in children(first.pid)
            if b"assay.host.guard" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        assert len(guards) == 1
        os.kill(guards[0], signal.SIGKILL)
        first.kill()
    assert "[never]" in now(THP)
    # Commands that only show or explain change nothing.
    for words in (("settings", "show", "vm.thp"), ("run", "--explain", "--", "true")):
        subprocess.run(assay(*words), capture_output=True, check=True)
        assert "[never]" in now(THP)
    done = subprocess.run(
        assay("run", "--", "cat", THP), capture_output=True, text=True, check=True
    )
    assert f"restored files that a killed assay had changed: {THP}." in done.stderr
    assert done.stdout.strip() == before


def test_external_change_is_named_and_kept(tmp_path: Path) -> None:
    demand(SWAPPINESS)
    old = now(SWAPPINESS)
    record = tmp_path / "record.json"
    try:
        done = subprocess.run(
            assay(
                *("run", "--with", "vm.swappiness=57", "--record", str(record)),
                *("--", "sh", "-c", f"echo 56 > {SWAPPINESS}"),
            ),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0
        assert f"another process set {SWAPPINESS} to 56; it was {old} before" in done.stderr
        assert now(SWAPPINESS) == "56"
        grant = json.loads(record.read_text())["settings"]["vm.swappiness"]
        assert grant["status"] == "degraded"
    finally:
        Path(SWAPPINESS).write_text(old)


def test_concurrent_runs_restore_settings(tmp_path: Path) -> None:
    demand(SWAPPINESS)
    with subprocess.Popen(assay("run", "--with", "vm.swappiness=57", "--", "sleep", "30")) as first:
        until("57", SWAPPINESS)
        done = subprocess.run(
            assay("run", "--with", "vm.swappiness=58", "--", "true"),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 125
        assert f"Another assay is changing system settings (process {first.pid})" in done.stderr
        # A run without system settings works beside it.
        assert subprocess.run(assay("run", "--", "true")).returncode == 0
        assert now(SWAPPINESS) == "57"
        first.terminate()


def test_unprivileged_change_is_refused(tmp_path: Path) -> None:
    demand(THP)
    from assay.launch.planner import plan
    from assay.machine.reader import read_machine
    from assay.records import Configuration
    from assay.settings.registry import builtin

    host = RecordedHost(tmp_path)  # a tree without /proc/self/status shows no privileges
    place = tmp_path / THP.lstrip("/")
    place.parent.mkdir(parents=True)
    place.write_text("always [madvise] never\n")
    assert host.read(THP)
    machine = read_machine(Root(tmp_path))
    found = plan(Configuration({"vm.thp": "never"}), machine, builtin())
    assert "needs root" in (found.refused["vm.thp"].reason or "")


@pytest.mark.rotating
def test_study_reports_unrestored_settings(tmp_path: Path) -> None:
    demand(SWAPPINESS)
    old = now(SWAPPINESS)
    other = f"test $(cat {SWAPPINESS}) = 57 && echo 56 > {SWAPPINESS}; true"
    try:
        done = subprocess.run(
            assay(
                *("measure", "--with", "vm.swappiness=57", "--runs", "4", "--json"),
                *("--", "sh", "-c", other),
            ),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert f"another process set {SWAPPINESS} to 56; it was {old} before" in done.stderr
        first, *others = json.loads(done.stdout)["samples"]
        drift = [piece["note"] for piece in first["evidence"] if piece["kind"] == "drift"]
        assert drift == [f"{SWAPPINESS}: 57 became 56"]
        assert first["settings"]["vm.swappiness"]["status"] == "degraded"
        # A study that starts under another value is reported from the values read before it.
        assert {one["settings"]["vm.swappiness"]["status"] for one in others} == {"refused"}
    finally:
        Path(SWAPPINESS).write_text(old)
