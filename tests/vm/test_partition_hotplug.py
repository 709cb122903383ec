"""CPUs of a partition go offline and come back, as the kernel does it; Linux 6.1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.partition.rendering import unmet_needs
from assay.host.journal import STATE_VARIABLE, open_journal
from assay.host.threads import allowed_cpus, kernel_threads
from assay.machine.tunables import IRQS, WORKQUEUES
from assay.partition.cpu_designation import CpuRequest
from assay.partition.lifecycle import (
    PartitionHost,
    PartitionRequest,
    create_partition,
    delete_partition,
    start_partition,
)
from assay.partition.status import read_kernel_work, read_partitions

from .alive import Alive, alive
from .guest import CgroupMode, Guest
from .trees import WHAT_CHECKS_READ, gather, plant, tree_files
from .trees import look as look_again

pytestmark = [pytest.mark.vm, pytest.mark.rotating("small guests", together="partition_hotplug")]

CPU = "/sys/devices/system/cpu"
ONLINE = f"{CPU}/cpu1/online"
READ = (*WHAT_CHECKS_READ, "/sys/fs/cgroup/*/*", f"{CPU}/present")


@pytest.fixture(params=["v1", pytest.param("v2", marks=pytest.mark.slow)])
def running(
    request: pytest.FixtureRequest, guest_kernel: Path, tree_program: Path
) -> Iterator[Alive]:
    mode: CgroupMode = request.param
    described = Guest(kernel=guest_kernel, cpus=3, cgroup=mode)
    with alive(described, tree_files(tree_program), [["sh", "-c", gather()]]) as guest:
        yield guest


class Partition:
    """Create the partition on CPU 1 of a guest."""

    def __init__(self, guest: Alive, folder: Path) -> None:
        self.guest = guest
        (gathered,) = guest.results
        self.base = folder / "tree"
        self.root = plant(gathered.files["/out/tree"], folder / "tree")
        env = {"ASSAY_RUN": str(folder / "run")}
        self.place = PartitionHost(
            env=env, wait_s=0.0, host=guest.host, root=self.root, guarded=False
        )

    def turn(self, text: str) -> None:
        """Take CPU 1 offline, or online."""
        self.guest.host.write(ONLINE, text)
        look_again(self.guest, READ, self.base)

    def masks(self) -> dict[str, object]:
        """Return the masks of the kernel, without those that come and go with CPUs."""
        host = self.guest.host
        found: dict[str, object] = {
            f"{one.name}": allowed_cpus(host, one.tid)
            for one in kernel_threads(host)
            if not one.bound and not one.name.startswith("kworker")
        }
        for number in host.listdir(IRQS):
            path = f"{IRQS}/{number}/smp_affinity_list"
            found[path] = host.read(path)
        for path in (f"{IRQS}/default_smp_affinity", f"{WORKQUEUES}/cpumask"):
            found[path] = host.read(path)
        return found

    @property
    def told(self) -> list[str]:
        """Return the faults and drifts that `partition list` shows."""
        host, env = self.guest.host, self.place.env
        faults = [seen.fault for seen in read_partitions(host, env) if seen.fault]
        for one in read_kernel_work(host, env):
            faults += [f"{one.kind} {name}: {text}" for name, text in one.drifted.items()]
        return faults


@pytest.fixture
def partition(
    running: Alive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Partition]:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    found = Partition(running, tmp_path)
    look_again(running, READ, found.base)
    yield found


def asked(cpus: str, name: str) -> PartitionRequest:
    return PartitionRequest(name=name, cpus=CpuRequest(cpus), broker=False)


def test_partition_survives_cpu_hotplug(partition: Partition) -> None:
    place, before = partition.place, partition.masks()
    create_partition(asked("1", "main"), place)
    held = partition.masks()
    assert held != before and not partition.told

    partition.turn("0")
    assert partition.told == ["CPU 1 is offline"]
    update = start_partition("main", place).update
    assert {one.reason for one in unmet_needs(update)} <= {"CPU 1 is offline"}
    assert not update.left
    partition.turn("1")
    assert not [line for line in partition.told if line.startswith(("threads", "interrupts"))]
    update = start_partition("main", place).update
    assert not unmet_needs(update) and not update.left
    assert not partition.told
    assert partition.masks() == held

    partition.turn("0")
    left = delete_partition("main", place).left
    assert {one.fate for one in left} <= {"failed"}
    assert all("CPU 1 is offline" in (one.reason or "") for one in left)
    partition.turn("1")
    create_partition(asked("2", "other"), place)  # the next change of partitions puts the rest back
    assert not delete_partition("other", place).left
    assert partition.masks() == before
    with open_journal() as journal:
        assert not journal.entries
