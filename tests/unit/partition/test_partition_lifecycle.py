"""Partitions on a recorded host: creation, restart, interruption and complete restoration."""

from __future__ import annotations

import dataclasses
import errno
import functools
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from host.trees import content

from assay.errors import AssayError, InvalidInputError, NotPossibleError
from assay.host.changes import ActionStatus
from assay.host.journal import PARTITIONS_OWNER, STATE_VARIABLE, open_journal, read_entries
from assay.host.system_hold import restore_ended_owners
from assay.host.undo import undo
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.partition import lifecycle
from assay.partition.broker import BrokerClient
from assay.partition.broker_process import broker_state, end_brokers
from assay.partition.cpu_designation import CpuRequest
from assay.partition.folders import partition_folder, socket_in
from assay.partition.lifecycle import (
    PartitionHost,
    PartitionRequest,
    create_partition,
    deactivate_partitions,
    delete_partition,
    plan_partition,
    remove_partitions,
    start_partition,
)
from assay.partition.memory import MemoryRequest
from assay.partition.reconciliation import additional_actions, reconcile
from assay.partition.registry import active_partitions, deactivate, partition_names
from assay.partition.status import fault_of, read_kernel_work, read_partitions
from assay.records import WriteFile
from partition.partition_tree import BOOT, CHECKS, CPU, POOL, V1, V1_MEMORY, V2, place, plant


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv(STATE_VARIABLE, str(folder))
    return folder


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture
def tree(tmp_path: Path, version: int) -> Path:
    base = tmp_path / "tree"
    plant(base, version)
    return base


def asked(
    cpus: str = "3", name: str = "main", *, broker: bool = False, **more: object
) -> PartitionRequest:
    return PartitionRequest(name=name, cpus=CpuRequest(cpus), broker=broker, **more)  # type: ignore[arg-type]


FULL = {
    "memory": MemoryRequest("16M", "2M"),
    "idle": "shallow",
    "checks_machine": False,
}
"""Whatever a partition can ask for."""


def open_entries() -> int:
    with open_journal() as journal:
        return len(journal.entries)


def test_version_1_partition_sets_groups_interrupts_memory_and_idle_states(tmp_path: Path) -> None:
    plant(base := tmp_path / "tree", 1)
    here = place(base, 1)
    read = here.host.read
    made = create_partition(asked("2-3", **FULL), here).partition
    assert (made.version, made.cpus, made.nodes) == (1, "2-3", "1")
    own, others = f"{V1}/assay-main", f"{V1}/assay.others"
    assert read(f"{own}/cpuset.cpus") == "2-3"
    assert read(f"{own}/cpuset.mems") == "1"
    assert read(f"{own}/cpuset.cpu_exclusive") == "1"
    assert read(f"{own}/cpuset.sched_load_balance") == "0"
    assert read(f"{V1}/cpuset.sched_load_balance") == "0"
    assert read(f"{others}/cpuset.cpus") == "0-1"
    assert read(f"{others}/cpuset.sched_load_balance") == "1"
    assert read(f"{others}/tasks") == "1 40 41"  # all programs, and none of the kernel's threads
    assert read("/proc/irq/24/smp_affinity_list") == "0-1"
    assert read("/proc/irq/25/smp_affinity_list") == "0-1"  # it had nowhere else to go
    assert read("/proc/irq/26/smp_affinity_list") == "0"  # never came here
    assert read("/proc/irq/default_smp_affinity") == "3"
    assert read("/sys/devices/virtual/workqueue/cpumask") == "3"
    assert read("/proc/12/affinity") == "0-1"
    assert read("/proc/13/affinity") == "2-3"  # of these CPUs alone: it stays
    assert read("/proc/9/affinity") == "3"
    assert read(POOL) == "12"  # beside the 4 that were there
    assert read(CHECKS) == "0"
    assert read(f"{CPU}/cpu2/cpuidle/state2/disable") == "1"
    assert read(f"{CPU}/cpu2/cpuidle/state1/disable") == "0"
    assert read(f"{CPU}/cpu1/cpuidle/state2/disable") == "0"


def test_version_2_partition_sets_groups_and_memory(tmp_path: Path) -> None:
    plant(base := tmp_path / "tree", 2)
    here = place(base, 2)
    made = create_partition(asked("2-3", memory=MemoryRequest("1G")), here).partition
    own = f"{V2}/assay-main"
    read = here.host.read
    assert read(f"{V2}/cgroup.subtree_control") == "cpuset memory pids"
    assert read(f"{own}/cpuset.cpus.partition") == "isolated"
    assert read(f"{own}/memory.min") == str(1 << 30)
    assert read(f"{own}/cgroup.subtree_control") == "cpuset memory"
    assert made.memory is not None and made.memory.guarantee == "minimum"
    assert [h.folder for h in made.hierarchies] == [own]
    assert not here.host.listdir(f"{V2}/assay.others")
    delete_partition("main", here)
    assert read(f"{V2}/cgroup.subtree_control") == "memory pids"


def test_deletion_restores_every_file(tree: Path, version: int) -> None:
    before = content(tree)
    here = place(tree, version)
    create_partition(asked("2-3", **FULL), here)
    assert content(tree) != before
    delete_partition("main", here)
    assert content(tree) == before
    assert not partition_names(here.env) and not open_entries()


def test_partitions_are_deleted_in_any_order(tree: Path, version: int) -> None:
    before = content(tree)
    here = place(tree, version)
    create_partition(asked("3", "one", **FULL), here)
    alone = content(tree)
    create_partition(asked("2", "two", **FULL), here)
    read = here.host.read
    assert read("/proc/irq/24/smp_affinity_list") == "0-1"
    assert read(POOL) == "20"
    delete_partition("two", here)
    assert content(tree) == alone
    create_partition(asked("2", "two"), here)
    delete_partition("one", here)
    assert read("/proc/irq/24/smp_affinity_list") == "0-1,3"
    assert read(POOL) == "4"
    delete_partition("two", here)
    assert content(tree) == before


def test_drifted_value_is_reported_and_left(tree: Path, version: int) -> None:
    here = place(tree, version)
    create_partition(asked("3", "one", **FULL), here)
    (tree / POOL.lstrip("/")).write_text("20\n")
    (tree / "proc/irq/24/smp_affinity_list").write_text("0\n")
    made = create_partition(asked("2", "two"), here)  # needs neither
    told = {one.action.path: one for one in made.outcomes if one.status is ActionStatus.DRIFTED}
    assert told.keys() == {POOL, "/proc/irq/24/smp_affinity_list"}
    assert told[POOL].reason == "another process set it to 20; assay had set 12"
    assert here.host.read(POOL) == "20"
    kinds = {one.kind: one.drifted for one in read_kernel_work(here.host, here.env)}
    assert kinds["settings"] == {POOL: "20"} and kinds["interrupts"] == {"24": "0"}
    delete_partition("two", here)
    with pytest.raises(NotPossibleError, match="another process set it to 20"):
        create_partition(asked("2", "two", memory=MemoryRequest("8M", "2M")), here)
    assert here.host.read(POOL) == "20"
    assert here.host.read("/proc/irq/24/smp_affinity_list") == "0"
    (tree / POOL.lstrip("/")).write_text("12\n")  # and right again
    create_partition(asked("2", "two", memory=MemoryRequest("8M", "2M")), here)
    assert here.host.read(POOL) == "16"
    delete_partition("two", here)
    undone = {word.note.action.path: word.fate for word in delete_partition("one", here).undone}
    assert undone[POOL] == "undone" and here.host.read(POOL) == "4"
    assert undone["/proc/irq/24/smp_affinity_list"] == "drifted"


def test_second_partition_writes_nothing_of_the_first(tree: Path, version: int) -> None:
    before = content(tree)
    writes: list[tuple[str, str]] = []
    here = place(tree, version, lambda what, path: writes.append((what, path)))
    create_partition(asked("3", "one", **FULL), here)
    held = content(tree)
    for change in (
        lambda: create_partition(asked("2", "two"), here),
        lambda: delete_partition("two", here),
    ):
        writes.clear()
        change()
        done = [path for what, path in writes if what == "write"]
        assert POOL not in done and f"{CPU}/cpu3/cpuidle/state2/disable" not in done
        assert sum("/irq/24/" in path for path in done) == 1
        assert not [path for path in done if "assay-one" in path]
    assert content(tree) == held
    delete_partition("one", here)
    assert content(tree) == before


def test_group_of_other_programs_remains_with_any_partition(tmp_path: Path) -> None:
    plant(base := tmp_path / "tree", 1)
    before, here = content(base), place(base, 1)
    others = f"{V1}/assay.others"
    create_partition(asked("3", "one"), here)
    here.host.mkdir(f"{others}/job")
    here.host.write(f"{others}/job/cpuset.cpus", "0-1")
    here.host.write(f"{others}/job/tasks", "40")
    create_partition(asked("2", "two"), here)
    assert here.host.read(f"{others}/cpuset.cpus") == "0-1"
    delete_partition("two", here)
    assert here.host.read(f"{others}/cpuset.cpus") == "0-2"
    assert here.host.read(f"{others}/job/tasks") == "40"
    assert here.host.read(f"{others}/tasks") == "1 41"
    with pytest.raises(NotPossibleError, match=r"assay\.others/job also includes CPU 1"):
        create_partition(asked("1", "two"), here)
    delete_partition("one", here)
    assert here.host.read("/proc/41/affinity") == "2-3"  # where it wanted to be before
    here.host.write("/proc/40/affinity", "0-3")  # was moved by somebody else
    assert content(base) == before


def killed(work: Callable[[], object]) -> bool:
    """Return whether a forked process that does the work is killed."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


class Killer:
    """Kills its process before or after the nth change."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, what: str, path: str) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def settled(here: PartitionHost) -> None:
    with open_journal() as journal:
        reconcile(here.host, journal, read_machine(here.root), here.env)


@pytest.mark.rotating
def test_creation_killed_at_any_step_is_undone(tree: Path, version: int) -> None:
    before = content(tree)
    calm, steps = place(tree, version), 0
    while True:
        steps += 1
        hurt = place(tree, version, Killer(steps))
        if not killed(functools.partial(create_partition, asked("2-3", **FULL), hurt)):
            break
        assert partition_names(calm.env) == ("main",) and not active_partitions(calm.env)
        settled(calm)
        assert content(tree) == before, steps
        assert not partition_names(calm.env) and not open_entries()
    assert steps > 30
    assert active_partitions(calm.env)
    delete_partition("main", calm)
    assert content(tree) == before


@pytest.mark.rotating
def test_deletion_killed_at_any_step_is_completed(tree: Path, version: int) -> None:
    before = content(tree)
    calm, steps = place(tree, version), 0
    while True:
        steps += 2
        create_partition(asked("2-3", **FULL), calm)
        hurt = place(tree, version, Killer(steps))
        struck = killed(functools.partial(delete_partition, "main", hurt))
        settled(calm)
        assert content(tree) == before, steps
        assert not partition_names(calm.env) and not open_entries()
        if not struck:
            break
    assert steps > 20


@pytest.mark.rotating
def test_killed_creation_leaves_other_partition_intact(tree: Path, version: int) -> None:
    calm, steps = place(tree, version), 0
    create_partition(asked("3", "one", memory=MemoryRequest("16M", "2M")), calm)
    alone = content(tree)
    while True:
        steps += 3
        hurt = place(tree, version, Killer(steps))
        if not killed(functools.partial(create_partition, asked("2", "two", **FULL), hurt)):
            break
        settled(calm)
        assert content(tree) == alone, steps
        assert [made.name for made in active_partitions(calm.env)] == ["one"]
    assert steps > 30


@pytest.mark.rotating
def test_killed_deletion_leaves_other_partition_intact(tree: Path, version: int) -> None:
    calm, steps = place(tree, version), 0
    create_partition(asked("3", "one", memory=MemoryRequest("16M", "2M")), calm)
    alone = content(tree)
    while True:
        steps += 2
        create_partition(asked("2", "two", **FULL), calm)
        hurt = place(tree, version, Killer(steps))
        struck = killed(functools.partial(delete_partition, "two", hurt))
        settled(calm)
        assert content(tree) == alone, steps
        with open_journal() as journal:
            paths = [entry.note.action.path for entry in journal.entries]
        assert len(paths) == len(set(paths))
        if not struck:
            break
    assert steps > 20


class Fault:
    """Fails the nth change."""

    def __init__(self, at: int, number: int) -> None:
        self.left = at
        self.number = number

    def __call__(self, what: str, path: str) -> None:
        if what in ("write", "mkdir", "rmdir", "affinity"):
            self.left -= 1
            if self.left == 0:
                raise OSError(self.number, os.strerror(self.number), path)


@pytest.mark.rotating
@pytest.mark.parametrize("number", [errno.EBUSY, errno.EINVAL])
def test_creation_with_one_fault_succeeds_or_is_undone(
    tree: Path, version: int, number: int
) -> None:
    before = content(tree)
    calm, at, refused = place(tree, version), 0, 0
    while True:
        at += 1
        fault = Fault(at, number)
        hurt = place(tree, version, fault)
        try:
            create_partition(asked("2-3", **FULL), hurt)
        except AssayError as error:
            refused += 1
            assert error.exit_status == 3
            assert content(tree) == before, at
            assert not partition_names(calm.env)
        else:
            delete_partition("main", calm)
            assert content(tree) == before, at
        assert not open_entries()
        if fault.left > 0:
            break
    assert at > 15


def test_lasting_refusal_is_reported(tree: Path, version: int) -> None:
    def fault_hook(operation: str, path: str) -> None:
        if operation == "write" and path == "/proc/irq/24/smp_affinity_list":
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    here = place(tree, version, fault_hook)
    create_partition(asked("3"), here)
    interrupts = next(
        one for one in read_kernel_work(here.host, here.env) if one.kind == "interrupts"
    )
    assert interrupts.refused.keys() == {"24"}
    assert "its driver manages" in interrupts.refused["24"]
    assert interrupts.moved == 2
    (tree / "proc/irq/25/smp_affinity_list").write_text("1\n")
    interrupts = next(
        one for one in read_kernel_work(here.host, here.env) if one.kind == "interrupts"
    )
    assert interrupts.drifted == {"25": "1"}


@pytest.mark.parametrize("group", ["docker", "kubepods.slice"])
def test_overlapping_group_is_refused(tree: Path, version: int, group: str) -> None:
    here = place(tree, version)
    top = V1 if version == 1 else V2
    here.host.mkdir(f"{top}/{group}")
    here.host.write(f"{top}/{group}/cpuset.cpus", "1-3")
    before = content(tree)
    with pytest.raises(NotPossibleError, match="cannot be isolated") as error:
        create_partition(asked("3"), here)
    assert f"{top}/{group}" in str(error.value)
    if version == 2:
        assert "not exclusive" in error.value.cause
    assert content(tree) == before
    assert not partition_names(here.env)


def test_broken_isolation_is_reported(tree: Path, version: int) -> None:
    here = place(tree, version)
    made = create_partition(asked("3"), here).partition
    assert fault_of(made, here.host) is None
    group = tree / made.groups[0].path.lstrip("/")
    if version == 2:
        (group / "cpuset.cpus.partition").write_text("isolated invalid (something)\n")
        told = "reads isolated invalid"
    else:
        (tree / f"{V1}/cpuset.sched_load_balance".lstrip("/")).write_text("1\n")
        told = "load is balanced"
    (seen,) = read_partitions(here.host, here.env)
    assert told in str(seen.fault)
    delete_partition("main", here)
    assert not group.exists()


def test_inner_groups_do_not_prevent_forced_deletion(tree: Path, version: int) -> None:
    before = content(tree)
    here = place(tree, version)
    made = create_partition(asked("3"), here).partition
    inner = f"{made.groups[0].path}/lease.1"
    here.host.mkdir(inner)
    here.host.mkdir(f"{inner}/deeper")
    name = "tasks" if version == 1 else "cgroup.procs"
    here.host.write(f"{inner}/deeper/{name}", "40")
    with pytest.raises(NotPossibleError, match="1 process still runs"):
        delete_partition("main", here)
    here.host.write(f"{inner}/{name}", "41")
    with pytest.raises(NotPossibleError, match="2 processes still run"):
        delete_partition("main", here)
    delete_partition("main", here, force=True)
    # Whoever was moved by somebody else is where it was put.
    (tree / "proc/40/affinity").write_text("0-3\n")
    (tree / "proc/41/affinity").write_text("2-3\n")
    assert content(tree) == before


def test_processes_of_deleted_partition_get_its_cpus_back(tmp_path: Path) -> None:
    plant(base := tmp_path / "tree", 2)
    told: list[tuple[str, str]] = []
    here = place(base, 2, lambda what, path: told.append((what, path)))
    create_partition(asked("3", "one"), here)
    group = create_partition(asked("2", "two"), here).partition.groups[0].path
    here.host.write(f"{group}/cgroup.procs", "40")
    here.host.set_affinity(40, (2,))
    told.clear()
    delete_partition("two", here, force=True)
    assert here.host.read("/proc/40/affinity") == "0-2"  # CPU 2 is back, and 3 is another's
    given_back = told.index(("written", f"{group}/cpuset.cpus.partition"))
    assert given_back < told.index(("write", f"{V2}/cgroup.procs"))


def test_machine_restore_deletes_partitions(tree: Path, version: int) -> None:
    before = content(tree)
    here = place(tree, version)
    create_partition(asked("2-3", **FULL), here)
    with open_journal() as journal:
        deactivate_partitions(here.env)
        words = undo(here.host, journal, journal.entries)
        remove_partitions(here.env)
    assert {word.fate for word in words} == {"undone"}
    assert content(tree) == before
    assert not partition_names(here.env)


def test_partition_requirements_are_not_leftovers(tree: Path, version: int) -> None:
    here = place(tree, version)
    create_partition(asked("3"), here)
    held = content(tree)
    with open_journal() as journal:
        assert restore_ended_owners(here.host, journal) == ()
    assert content(tree) == held


def test_entries_of_earlier_boot_are_closed(tmp_path: Path) -> None:
    plant(base := tmp_path / "tree", 1)
    here = place(base, 1)
    create_partition(asked("3"), here)
    for made in partition_names(here.env):  # /run is empty
        for file in (tmp_path / "run/partitions" / made).iterdir():
            file.unlink()
        (tmp_path / "run/partitions" / made).rmdir()
    plant(base, 1)
    for group in ("assay-main", "assay.others"):
        for file in (base / V1.lstrip("/") / group).iterdir():
            file.unlink()
        (base / V1.lstrip("/") / group).rmdir()
    (base / BOOT.lstrip("/")).write_text("99999999\n")
    fresh = content(base)
    with open_journal() as journal:
        assert {word.fate for word in restore_ended_owners(here.host, journal)} == {"gone"}
    assert content(base) == fresh
    assert not open_entries()
    create_partition(asked("3"), here)


def test_ended_thread_is_gone(tree: Path, version: int) -> None:
    here = place(tree, version)
    create_partition(asked("3"), here)
    (tree / "proc/12/stat").unlink()
    words = delete_partition("main", here).undone
    assert {word.fate for word in words} == {"undone", "gone"}
    assert not open_entries()


def test_drifted_value_is_left_at_deletion(tree: Path, version: int) -> None:
    here = place(tree, version)
    create_partition(asked("3"), here)
    here.host.write("/proc/irq/24/smp_affinity_list", "1")
    (drifted,) = [word for word in delete_partition("main", here).undone if word.fate != "undone"]
    assert (drifted.fate, drifted.note.action.path) == ("drifted", "/proc/irq/24/smp_affinity_list")
    assert here.host.read("/proc/irq/24/smp_affinity_list") == "1"


@pytest.mark.parametrize(
    ("cpus", "kind", "told"),
    [
        (CpuRequest("0-3"), InvalidInputError, "leaves no CPU for the system"),
        (CpuRequest("9"), InvalidInputError, "not online"),
        (CpuRequest(""), InvalidInputError, "names no CPU"),
        (CpuRequest("x"), InvalidInputError, "Invalid CPU list"),
        (CpuRequest(cores=3), InvalidInputError, "2 are left"),
        (CpuRequest(cores=0), InvalidInputError, "--cores 0: too few"),
    ],
)
def test_impossible_cpus_are_refused(
    tree: Path, version: int, cpus: CpuRequest, kind: type[AssayError], told: str
) -> None:
    before = content(tree)
    with pytest.raises(kind, match=told):
        create_partition(PartitionRequest("main", cpus, broker=False), place(tree, version))
    assert content(tree) == before


def test_resources_of_other_partitions_are_refused(tree: Path, version: int) -> None:
    here = place(tree, version)
    create_partition(asked("3", "one", memory=MemoryRequest("6G")), here)
    with pytest.raises(NotPossibleError, match="The partition one already exists"):
        create_partition(asked("2", "one"), here)
    with pytest.raises(NotPossibleError, match="CPU 3 belongs to the partition one"):
        create_partition(asked("2-3", "two"), here)
    with pytest.raises(NotPossibleError, match="of which partitions use"):
        create_partition(asked("2", "two", memory=MemoryRequest("4G")), here)
    with pytest.raises(InvalidInputError, match="no visible GPU"):
        create_partition(asked("2", "two", gpus="0"), here)
    with pytest.raises(InvalidInputError, match="leaves no CPU"):
        create_partition(asked("0-2", "two"), here)
    with pytest.raises(InvalidInputError, match="Unknown partition: tow"):
        delete_partition("tow", here)


def test_gpus_of_several_vendors_are_refused(tree: Path, version: int) -> None:
    here = place(tree, version)
    (tree / "proc/driver/nvidia/gpus/0000:01:00.0").mkdir(parents=True)
    assert create_partition(asked("3", "one", gpus="0"), here).partition.gpus == "0"
    (tree / "sys/bus/pci/drivers/i915").mkdir(parents=True)
    (device := tree / "sys/devices/pci0000:00/0000:00:02.0").mkdir(parents=True)
    (device / "driver").symlink_to("../../../bus/pci/drivers/i915")
    (card := tree / "sys/class/drm/card0").mkdir(parents=True)
    (card / "device").symlink_to("../../../devices/pci0000:00/0000:00:02.0")
    with pytest.raises(
        NotPossibleError, match="GPUs of intel and nvidia, which are numbered separately"
    ):
        create_partition(asked("2", "two", gpus="0"), here)


def test_auto_leaves_one_core_of_each_socket(tree: Path, version: int) -> None:
    here = place(tree, version)
    assert create_partition(asked("auto"), here).partition.cpus == "1,3"
    with pytest.raises(NotPossibleError, match="no other core is free"):
        create_partition(asked("auto", "two"), here)


def test_memory_is_counted_per_node(tree: Path, version: int) -> None:
    """Each of the two nodes has 8 GiB."""
    here = place(tree, version)
    create_partition(asked("3", "one", memory=MemoryRequest("6G")), here)  # of node 1
    create_partition(
        asked("1", "two", memory=MemoryRequest("5G")), here
    )  # of node 0, which has them
    with pytest.raises(
        NotPossibleError, match=r"3\.00 GiB of node 1 were requested, but it has 8\.00 GiB"
    ):
        create_partition(asked("2", "more", memory=MemoryRequest("3G")), here)
    delete_partition("two", here)
    delete_partition("one", here)
    create_partition(asked("1,3", "one", memory=MemoryRequest("0:1G,1:6G")), here)
    with pytest.raises(NotPossibleError, match="of node 1 were requested"):
        create_partition(asked("2", "two", memory=MemoryRequest("3G")), here)
    create_partition(asked("2", "two", memory=MemoryRequest("2G")), here)
    delete_partition("two", here)
    delete_partition("one", here)
    with pytest.raises(NotPossibleError, match=r"9\.00 GiB of node 0 were requested"):
        create_partition(asked("0,2", "more", memory=MemoryRequest("0:9G,1:1G")), here)


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        (MemoryRequest("0"), "is too small"),
        (MemoryRequest("5"), "--mem 5 is less than a page"),
        (MemoryRequest("1:1G,1:1G"), "names node 1 twice"),
        (MemoryRequest("7:1G"), "belong to node 1"),
        (MemoryRequest("1:1G,x"), "invalid size"),
        (MemoryRequest("1G", "1G"), "Supported sizes: 2.00 MiB"),
    ],
)
def test_invalid_memory_is_refused(
    tree: Path, version: int, memory: MemoryRequest, told: str
) -> None:
    with pytest.raises(InvalidInputError) as error:
        create_partition(asked("3", memory=memory), place(tree, version))
    assert told in str(error.value)


def test_partial_pool_is_accepted_unless_precise(tree: Path, version: int) -> None:
    before = content(tree)
    here = place(tree, version)

    def less(host: object, path: str, text: str) -> str:
        return str(min(int(text), 7))

    here.host._effects[POOL] = less  # type: ignore[attr-defined]
    with pytest.raises(NotPossibleError, match=r"the kernel found only 6\.00 MiB"):
        create_partition(asked("3", memory=MemoryRequest("16M", "2M"), precise=True), here)
    assert content(tree) == before
    made = create_partition(asked("3", memory=MemoryRequest("16M", "2M")), here).partition
    assert made.memory is not None
    assert (made.memory.bytes, made.memory.requested_bytes) == (3 << 21, 8 << 21)
    here.host._effects[POOL] = lambda host, path, text: str(min(int(text), 9))  # type: ignore[attr-defined]
    second = create_partition(asked("2", "two", memory=MemoryRequest("4M", "2M")), here).partition
    assert second.memory is not None and second.memory.bytes == 2 << 21
    assert here.host.read(POOL) == "9"  # 4 that were there, 3 that were found before, and 2
    delete_partition("two", here)
    assert here.host.read(POOL) == "7"
    delete_partition("main", here)
    assert content(tree) == before


def test_huge_pages_still_delegate_the_memory_controller(tmp_path: Path) -> None:
    plant(base := tmp_path / "tree", 2)
    here = place(base, 2)
    made = create_partition(asked("3", memory=MemoryRequest("16M", "2M")), here).partition
    assert made.delegated == ("cpuset", "memory")  # a share is limited too
    assert here.host.read(f"{V2}/assay-main/memory.min") == "0"
    delete_partition("main", here)
    (base / f"{V2}/cgroup.controllers".lstrip("/")).write_text("cpuset cpu\n")
    with pytest.raises(NotPossibleError, match="have no memory"):
        create_partition(asked("3", memory=MemoryRequest("16M")), here)


def test_version_1_memory_needs_a_memory_hierarchy(tmp_path: Path) -> None:
    plant(base := tmp_path / "tree", 1)
    here = place(base, 1)
    made = create_partition(asked("3", memory=MemoryRequest("16M")), here).partition
    assert [h.folder for h in made.hierarchies] == [f"{V1}/assay-main", f"{V1_MEMORY}/assay-main"]
    delete_partition("main", here)
    mounts = base / "proc/self/mountinfo"
    (cpuset, _) = mounts.read_text().splitlines()
    of_version_2 = f"32 1 0:32 / {V2}/unified rw - cgroup2 cgroup2 rw"
    (base / f"{V2}/unified".lstrip("/")).mkdir()
    (base / f"{V2}/unified/cgroup.controllers".lstrip("/")).write_text("memory\n")
    for text in (cpuset, f"{cpuset}\n{of_version_2}"):
        mounts.write_text(f"{text}\n")
        with pytest.raises(NotPossibleError, match=r"\(version 1\) have no memory") as error:
            create_partition(asked("3", memory=MemoryRequest("16M")), here)
        assert "-o memory" in str(error.value.remedy)


def test_memory_comes_from_the_nodes_of_the_cpus(tmp_path: Path) -> None:
    plant(base := tmp_path / "tree", 2)
    here = place(base, 2)
    made = create_partition(asked("auto", memory=MemoryRequest("0:1G,1:2G")), here).partition
    assert (made.cpus, made.nodes) == ("1,3", "0-1")
    assert made.memory is not None and made.memory.bytes == 3 << 30
    delete_partition("main", here)
    made = create_partition(asked("3", memory=MemoryRequest("auto")), here).partition
    assert made.memory is not None
    assert made.memory.bytes == 2 << 30  # of 4 GiB that are free, as much as of its CPUs


def test_missing_idle_states_are_refused(tree: Path, version: int) -> None:
    for state in (tree / CPU.lstrip("/")).glob("cpu*/cpuidle/*/*"):
        state.unlink()
    (tree / CHECKS.lstrip("/")).unlink()
    with pytest.raises(NotPossibleError, match="reports no idle states"):
        create_partition(asked("3", idle="shallow"), place(tree, version))
    with pytest.raises(NotPossibleError, match="no-machine-checks is not supported"):
        create_partition(asked("3", checks_machine=False), place(tree, version))


def test_idle_states_of_requested_cpus_decide(tree: Path, version: int) -> None:
    states = tree / CPU.lstrip("/") / "cpu3/cpuidle"
    (states / "state0/latency").write_text("1\n")
    with pytest.raises(NotPossibleError, match="no idle state polls"):
        create_partition(asked("3", idle="poll"), place(tree, version))
    create_partition(asked("2", idle="poll"), place(tree, version))
    delete_partition("main", place(tree, version))
    (states / "state1/latency").write_text("40\n")
    create_partition(asked("2-3", idle="shallow"), place(tree, version))
    disabled = [(tree / f"{CPU}/cpu{n}/cpuidle/state1/disable".lstrip("/")) for n in (2, 3)]
    assert [file.read_text().strip() for file in disabled] == ["0", "1"]
    delete_partition("main", place(tree, version))


def test_unprivileged_user_is_refused(tree: Path, version: int) -> None:
    (tree / "proc/self/status").write_text("Name:\tassay\nUid:\t1000\t1000\t1000\t1000\n")
    with pytest.raises(NotPossibleError, match="Only root") as error:
        create_partition(asked("3"), place(tree, version))
    assert error.value.exit_status == 3
    assert "sudo" in str(error.value.remedy)


def test_start_reports_refused_and_drifted_values(tmp_path: Path, assay_broker: Path) -> None:
    """These are a value that the kernel refuses now, and one that another user changed."""
    plant(base := tmp_path / "t", 1)
    refused = f"{CPU}/cpu3/cpuidle/state2/disable"
    there = place(base, 1)
    env = {**there.env, "ASSAY_BROKER": str(assay_broker)}
    folder = partition_folder("main", env)
    create_partition(asked("3", idle="shallow", broker=True), dataclasses.replace(there, env=env))
    end_brokers(folder)
    with open_journal() as journal:
        (entry,) = (e for e in journal.entries if e.note.action.path == refused)
        journal.end({entry.note.id: "undone"})
    (base / refused.lstrip("/")).write_text("0\n")
    (base / f"{V1}/cpuset.sched_load_balance".lstrip("/")).write_text("1\n")

    def fault_hook(what: str, path: str) -> None:
        if what == "write" and path == refused:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    here = dataclasses.replace(place(base, 1, fault_hook), env=env)
    started = start_partition("main", here)
    told = {one.action.path: one.status for one in started.update.missing}
    assert told == {
        refused: ActionStatus.REFUSED,
        f"{V1}/cpuset.sched_load_balance": ActionStatus.DRIFTED,
    }
    assert started.broker_started and broker_state(folder) and not started.update.left
    delete_partition("main", here)


def test_start_adds_no_broker(tmp_path: Path) -> None:
    plant(base := tmp_path / "t", 1)
    there = place(base, 1)
    here = dataclasses.replace(there, env={**there.env, "ASSAY_BROKER": "/nowhere"})
    create_partition(asked("3"), here)
    started = start_partition("main", here)
    assert not started.broker_started and not started.partition.broker
    assert active_partitions(here.env) == (started.partition,)
    assert not socket_in(partition_folder("main", here.env)).exists()


def test_additional_partition_lists_its_changes(tree: Path, version: int) -> None:
    here, machine = place(tree, version), read_machine(Root(tree))
    one = create_partition(asked("3", "one", **FULL), here).partition
    two = plan_partition(asked("2", "two"), machine, here)
    with open_journal() as journal:
        found = {
            action.path
            for action in additional_actions(here.host, two, (one,), journal.entries, machine)
        }
    assert POOL not in found and CHECKS not in found
    assert "/proc/irq/24/smp_affinity_list" in found  # from 0-2 to 0-1
    assert not [path for path in found if "assay-one" in path or "cpuidle" in path]


def test_entries_are_readable_while_journal_is_locked(tmp_path: Path) -> None:
    assert read_entries() == ()
    plant(base := tmp_path / "t", 1)
    create_partition(asked("3"), place(base, 1))
    with open_journal() as journal:
        assert journal.entries and read_entries() == journal.entries


def test_no_share_is_reserved_during_deletion(
    tmp_path: Path, assay_broker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check for users of a partition and its deletion."""
    plant(base := tmp_path / "t", 1)
    here = place(base, 1)
    here = dataclasses.replace(here, env={**here.env, "ASSAY_BROKER": str(assay_broker)})
    create_partition(asked("3", broker=True), here)
    asked_then = []

    def late(folder: Path) -> None:
        with BrokerClient(socket_in(folder)) as broker:
            with pytest.raises(NotPossibleError, match="the partition is being deleted"):
                broker.reserve([3])
            asked_then.append(folder)
        deactivate(folder)

    monkeypatch.setattr(lifecycle, "deactivate", late)
    delete_partition("main", here)
    assert len(asked_then) == 1 and not partition_names(here.env)


def test_changes_of_two_owners_are_undone_in_order(tree: Path, version: int) -> None:
    from assay.host.changes import HostChanges
    from assay.host.journal import APPLY_OWNER

    before = content(tree)
    here = place(tree, version)
    path = "/proc/irq/24/smp_affinity_list"
    with open_journal() as journal:
        HostChanges(here.host, journal, APPLY_OWNER).hold(
            [WriteFile(path=path, value="1-3", form="cpulist")]
        )
    create_partition(asked("3"), here)
    assert here.host.read(path) == "1-2"
    delete_partition("main", here)
    assert here.host.read(path) == "1-3"
    with open_journal() as journal:
        assert all(entry.note.owner != PARTITIONS_OWNER for entry in journal.entries)
        undo(here.host, journal, journal.entries)
    assert content(tree) == before
