"""Partitions of this host: CPUs isolated by the control groups that it has."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from partitions import run_folder, until

from assay.host.host import LiveHost
from assay.host.threads import allowed_cpus, kernel_threads
from assay.machine.cgroup import hierarchies
from assay.machine.root import Root
from assay.machine.tunables import CPUS, IRQS, NODES, WORKQUEUES, read_system
from assay.partition.broker import BrokerClient
from assay.partition.broker_process import end_brokers
from assay.partition.folders import partition_folder, socket_in
from assay.partition.isolation import CGROUP_MOUNT
from assay.partition.names import OTHERS_GROUP
from assay.partition.registry import active_partitions

HOST = LiveHost()
ALL = sorted(os.sched_getaffinity(0))
MINE = str(ALL[-1])
NAME = "assay-test"
CPUSETS = [
    one
    for one in hierarchies(Root())
    if "cpuset" in one.controllers and one.is_host_root and one.point.startswith(CGROUP_MOUNT)
]

pytestmark = [
    pytest.mark.system,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes partitions"),
    pytest.mark.skipif(not CPUSETS, reason="no control groups with a cpuset are mounted"),
    pytest.mark.skipif(len(ALL) < 2, reason="one CPU stays with the system"),
]


def everything() -> dict[str, str]:
    """Return all state that partitions change on this host, and every kernel thread."""
    system = read_system(Root())
    paths = [path for path in system if path.startswith((f"{IRQS}/", WORKQUEUES, NODES))]
    paths += [f"{IRQS}/{number}/smp_affinity_list" for number in system.get(IRQS, "").split()]
    paths += [f"{one.point}/cpuset.sched_load_balance" for one in CPUSETS]
    paths += [f"{one.point}/cgroup.subtree_control" for one in CPUSETS]
    paths += [
        f"{CPUS}/cpu{cpu}/cpuidle/{state}/disable"
        for cpu in ALL
        for state in HOST.listdir(f"{CPUS}/cpu{cpu}/cpuidle")
    ]
    found = {path: HOST.read(path) or "" for path in paths}
    for one in kernel_threads(HOST):
        found[f"thread {one.tid} of {one.started}"] = str(allowed_cpus(HOST, one.tid))
    for name in ("cpuset", "memory", "unified", ""):
        groups = HOST.listdir(f"{CGROUP_MOUNT}/{name}".rstrip("/"))
        found[f"groups of {name}"] = str([g for g in groups if g in (NAME_OF_GROUP, OTHERS_GROUP)])
    return found


NAME_OF_GROUP = f"assay-{NAME}"


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder whose path is short enough for a socket in it."""
    with run_folder() as folder:
        yield folder


@pytest.fixture
def env(place: Path, tmp_path: Path, assay_exec: Path, assay_broker: Path) -> Mapping[str, str]:
    """Return environment variables for folders of the test's own."""
    return {
        **os.environ,
        "ASSAY_RUN": str(place),
        "ASSAY_STATE": str(tmp_path / "state"),
        "ASSAY_DB": str(tmp_path / "x.db"),
        "ASSAY_EXEC": str(assay_exec),
        "ASSAY_BROKER": str(assay_broker),
    }


@pytest.fixture(autouse=True)
def as_it_was(env: Mapping[str, str], place: Path, tmp_path: Path) -> Iterator[None]:
    """Check afterwards that the machine is unchanged."""
    before = everything()
    mine = Path("/proc/self/cgroup").read_text()
    try:
        yield
    finally:
        subprocess.run(assay("delete", NAME, "--force"), env=env, capture_output=True, check=False)
    journal = tmp_path / "state" / "journal" / "changes.jsonl"
    end = time.monotonic() + 30
    while _differs(before) and time.monotonic() < end:  # other tests run on this machine too
        time.sleep(0.1)
    assert not _differs(before)
    assert Path("/proc/self/cgroup").read_text() == mine
    assert sorted(os.sched_getaffinity(0)) == ALL
    assert not journal.exists() or journal.read_bytes() == b""
    assert not list((place / "partitions").glob("*/*"))


def _differs(before: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the differences; started and ended threads are left out."""
    after = everything()
    both = before.keys() & after.keys()
    return {key: (before[key], after[key]) for key in both if before[key] != after[key]}


def assay(*words: str) -> list[str]:
    return [sys.executable, "-m", "assay", "partition", *words]


def run(env: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(assay(*words), env=env, capture_output=True, text=True, timeout=120)


def create(env: Mapping[str, str], *words: str) -> dict[str, Any]:
    """Create a partition of the last CPU, as soon as no other test uses it in a group."""
    end = time.monotonic() + 60
    while True:
        done = run(env, "create", NAME, "--cpus", MINE, "--partial", "--json", *words)
        if done.returncode == 0:
            found: dict[str, Any] = json.loads(done.stdout)
            return found
        in_the_way = ("cannot be set apart", "changing system settings")
        assert any(result in done.stderr for result in in_the_way), done.stderr
        if time.monotonic() > end:
            pytest.skip("other tests have these CPUs")
        time.sleep(0.2)


def listed(env: Mapping[str, str], status: int = 0) -> dict[str, Any]:
    done = run(env, "list", NAME, "--json")
    assert done.returncode == status, done.stdout + done.stderr
    (found,) = json.loads(done.stdout)["partitions"]
    assert isinstance(found, dict)
    return found


def socket_of(env: Mapping[str, str]) -> Path:
    return socket_in(partition_folder(NAME, env))


@contextlib.contextmanager
def sleeper(cpus: set[int]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program that may use these CPUs."""
    process = subprocess.Popen(["sleep", "600"], preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.rotating
def test_cpus_are_isolated_and_returned(env: Mapping[str, str]) -> None:
    rest = set(ALL) - {int(MINE)}
    with sleeper(set(ALL)) as free, sleeper({int(MINE)}) as pinned:
        result = create(env, "--mem", "16M")
        assert result["partition"]["cpus"] == MINE
        assert result["partition"]["memory"]["bytes"] == 16 << 20
        assert os.sched_getaffinity(free.pid) == rest
        assert os.sched_getaffinity(pinned.pid) == rest
        assert result["steered"]["threads"]["moved"] > 0
        shown = listed(env)
        assert shown["in_force"] and shown["broker"] == "answers"
        assert shown["free"]["cpus"] == MINE
        done = run(env, "delete", NAME)
        assert done.returncode == 0, done.stderr
        assert os.sched_getaffinity(free.pid) == set(ALL)
        assert os.sched_getaffinity(pinned.pid) == {int(MINE)}


@pytest.mark.rotating
def test_interrupts_and_kernel_threads_are_moved(env: Mapping[str, str]) -> None:
    result = create(env, "--no-broker")
    assert result["partition"]["groups"]
    refused = result["steered"]["interrupts"]["refused"]
    system = read_system(Root())
    for number in system.get(IRQS, "").split():
        where = HOST.read(f"{IRQS}/{number}/smp_affinity_list")
        assert number in refused or where is None or MINE not in where.split(","), number
    for one in kernel_threads(HOST):
        if not one.bound and len(allowed_cpus(HOST, one.tid)) > 1:
            assert str(one.tid) in result["steered"]["threads"]["refused"] or int(
                MINE
            ) not in allowed_cpus(HOST, one.tid), one
    assert listed(env)["broker"] == "none"


@pytest.mark.rotating
def test_partition_in_use_is_deleted_only_by_force(env: Mapping[str, str]) -> None:
    create(env)
    with sleeper(set(ALL)) as process, BrokerClient(socket_of(env)) as broker:
        broker.reserve([int(MINE)])
        broker.move(process.pid)
        assert os.sched_getaffinity(process.pid) == {int(MINE)}
        (share,) = listed(env)["shares"]
        assert (share["cpus"], share["pid"]) == (MINE, os.getpid())
        done = run(env, "delete", NAME)
        assert done.returncode == 3
        assert "is in use: root has CPU" in done.stderr
        assert listed(env)["in_force"]
        done = run(env, "delete", NAME, "--force")
        assert done.returncode == 0, done.stderr
        assert os.sched_getaffinity(process.pid) == set(ALL)
        assert process.poll() is None


@pytest.mark.rotating
def test_killed_broker_is_reported_and_restarted(env: Mapping[str, str]) -> None:
    create(env)
    assert run(env, "start", NAME).returncode == 0  # it runs: no action is needed
    with sleeper(set(ALL)) as process, BrokerClient(socket_of(env)) as broker:
        broker.reserve([int(MINE)])
        broker.move(process.pid)
        end_of_broker(env, signal.SIGKILL)
        assert listed(env, status=1)["broker"] == "silent"
        done = run(env, "delete", NAME)
        assert done.returncode == 3
        assert "1 process still runs" in done.stderr
        started = run(env, "start", NAME)
        assert started.returncode == 0
        assert "assay ended 1 process in shares of the previous broker." in started.stdout
        assert process.wait(20) == -signal.SIGKILL  # nobody knew where it belongs
    assert listed(env)["shares"] == []


def end_of_broker(env: Mapping[str, str], number: int) -> None:
    """End the broker; a killed one leaves its socket."""
    words = os.fsencode(socket_of(env))
    (pid,) = (
        int(place.name)
        for place in Path("/proc").iterdir()
        if place.name.isdecimal() and words in _words(place) and b"partition.json" in _words(place)
    )
    os.kill(pid, number)
    while Path(f"/proc/{pid}").exists() and "Z" not in _state(pid):
        time.sleep(0.01)


def _words(place: Path) -> bytes:
    with contextlib.suppress(OSError):
        return (place / "cmdline").read_bytes()
    return b""


def _state(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return "Z"


@pytest.mark.rotating
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("wait_s", [0.0, 0.3])
def test_interrupted_creation_leaves_no_partition(
    env: Mapping[str, str], number: int, wait_s: float
) -> None:
    folder = partition_folder(NAME, env)
    words = assay("create", NAME, "--cpus", MINE, "--partial")
    process = subprocess.Popen(
        words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        while process.poll() is None and not folder.exists():
            time.sleep(0.005)
        time.sleep(wait_s)
        process.send_signal(number)
        _, result = process.communicate(timeout=60)
    finally:
        process.kill()
    if process.returncode == 3:
        assert "cannot be set apart" in result  # another test has the CPU
        return
    if process.returncode == 0 or active_partitions(env):  # it was done before the signal came
        assert run(env, "delete", NAME).returncode == 0
        return
    assert process.returncode in (128 + number, -number)
    if number == signal.SIGINT and process.returncode != -number:  # else it was still loading
        assert f"interrupted: the partition {NAME} does not exist" in result
    end = time.monotonic() + 60
    while folder.exists():  # the guard is active if the process was killed
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.rotating
def test_machine_restore_deletes_partitions(env: Mapping[str, str]) -> None:
    create(env)
    with sleeper(set(ALL)) as process, BrokerClient(socket_of(env)) as broker:
        broker.reserve([int(MINE)])
        broker.move(process.pid)
        restore = [sys.executable, "-m", "assay", "machine", "restore"]
        result = subprocess.run([*restore, "--dry-run"], env=env, capture_output=True, text=True)
        assert f"The partition {NAME} would be deleted, even while it is in use." in result.stdout
        assert run(env, "list").stdout.startswith(f"partition {NAME}: ")
        done = subprocess.run(restore, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"The partition {NAME} is deleted." in done.stdout
        assert os.sched_getaffinity(process.pid) == set(ALL)
    assert run(env, "list").stdout.startswith("No partition exists")


@pytest.mark.rotating
def test_huge_pages_are_reserved(env: Mapping[str, str]) -> None:
    found = HOST.listdir(f"{NODES}/node0/hugepages/hugepages-2048kB")
    if not found:
        pytest.skip("this kernel has no pools of huge pages by node")
    result = create(env, "--mem", "8M", "--pages", "2M", "--no-broker")["partition"]["memory"]
    assert result["guarantee"] == "pages"
    pool = f"{NODES}/node0/hugepages/hugepages-2048kB/nr_hugepages"
    assert int(HOST.read(pool) or 0) >= result["bytes"] >> 21 > 0


@pytest.mark.rotating
def test_all_cpus_are_refused(env: Mapping[str, str]) -> None:
    done = run(env, "create", NAME, "--cpus", ",".join(map(str, ALL)))
    assert done.returncode == 2
    assert "leaves no CPU for the system" in done.stderr
    assert not partition_folder(NAME, env).exists()


@pytest.mark.rotating
def test_concurrent_creations_never_share_a_cpu(env: Mapping[str, str]) -> None:
    create(env)  # waits until no other test is in the way
    assert run(env, "delete", NAME).returncode == 0
    words = ("--cpus", MINE, "--partial", "-q")
    both = [
        subprocess.Popen(
            assay("create", name, *words),
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in (NAME, f"{NAME}-2")
    ]
    result = [process.communicate(timeout=120)[1] for process in both]
    statuses = [process.returncode for process in both]
    for name, status in zip((NAME, f"{NAME}-2"), statuses, strict=True):
        if status == 0:
            assert run(env, "delete", name).returncode == 0
    if any("cannot be set apart" in text for text in result):
        pytest.skip("other tests have these CPUs")
    assert sorted(statuses) == [0, 3]
    assert any(f"CPU {MINE} belongs to the partition" in text for text in result)


@pytest.mark.rotating
def test_broker_without_partition_is_ended(env: Mapping[str, str], assay_broker: Path) -> None:
    """The broker was started for a deleted folder, as after an immediately killed caller."""
    folder = partition_folder(NAME, env)
    folder.mkdir(parents=True)
    document = {
        "schema": 2,
        "name": NAME,
        "cpus": MINE,
        "hierarchies": [{"controller": "", "mount": str(folder), "folder": f"{folder}/none"}],
    }
    (folder / "partition.json").write_text(json.dumps(document))
    process = subprocess.Popen([assay_broker, folder / "partition.json", socket_in(folder)])
    until(socket_in(folder).exists, "it runs under its own name")
    end_brokers(folder)
    assert process.wait(20) in (0, -signal.SIGTERM)
    assert run(env, "delete", NAME).returncode == 0
    assert not folder.exists()
