"""Features of newer kernels: weighted interleaving (6.9), and a list of isolated CPUs (6.8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.machine.profile_file import read_profile
from assay.host.changes import ActionStatus, HostChanges
from assay.host.journal import STATE_VARIABLE, open_journal
from assay.machine.checks import Finding, Host, Status, examine
from assay.machine.document import Machine
from assay.machine.tunables import INTERLEAVE
from assay.records import GrantStatus
from vm.alive import Alive
from vm.trees import WHAT_CHECKS_READ, look
from vm.trial import attempt, plan_on

pytestmark = pytest.mark.vm

MIB = 4
PAGES = MIB * 256
SLACK = 8
"""Pages beside it that take a turn in interleaving."""
SEEN_S = 1.6
TOP = "/sys/fs/cgroup"
GROUP, SIBLING = f"{TOP}/assay-test", f"{TOP}/sibling"
PARTITION = f"{GROUP}/cpuset.cpus.partition"


@pytest.fixture
def changes(guest: Alive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostChanges]:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    with open_journal() as journal:
        made = HostChanges(guest.host, journal, "test")
        yield made
        made.restore()
        assert journal.entries == ()


@pytest.fixture
def partition(guest: Alive) -> Iterator[None]:
    guest.host.mkdir(GROUP)
    try:
        guest.host.write(f"{GROUP}/cpuset.cpus", "2-3")
        guest.host.write(PARTITION, "isolated")
        assert guest.host.read(PARTITION) == "isolated"
        yield
    finally:
        guest.host.write(PARTITION, "member")
        for folder in (SIBLING, GROUP):
            if guest.host.listdir(folder):
                guest.host.rmdir(folder)


def findings(guest: Alive, folder: Path) -> dict[str, Finding]:
    root = look(guest, WHAT_CHECKS_READ, folder)
    return {one.id: one for one in examine(Host(root), read_profile("latency"))}


def weights(guest: Alive) -> list[bytes | None]:
    return [guest.host.bytes_of(f"{INTERLEAVE}/node{node}") for node in range(3)]


def test_memory_is_described_by_speed(known: Machine) -> None:
    assert known.kernel_version >= (6, 9)
    assert [node.kind for node in known.nodes] == ["dram", "dram", "cxl"]


def test_interleave_weights_distribute_pages(
    guest: Alive, known: Machine, changes: HostChanges
) -> None:
    before = weights(guest)
    planned = plan_on(known, {"numa.weights": "4:1:3"})
    assert not planned.refused
    result = changes.hold(planned.system)
    assert {outcome.status for outcome in result} <= {ActionStatus.GRANTED, ActionStatus.KEPT}
    assert weights(guest) == [b"4\n", b"1\n", b"3\n"]
    trial = attempt(
        guest, known, {"mem.policy": "weighted:all"}, ["place", "main", str(MIB), str(SEEN_S)]
    )
    pages = json.loads(trial.stdout)
    assert pages["move_pages"] == pages["numa_maps"]
    for node, weight in enumerate((4, 1, 3)):
        assert abs(pages["move_pages"][str(node)] - PAGES * weight / 8) <= SLACK, pages
    assert trial.grants["mem.policy"].status is GrantStatus.GRANTED, trial.grants
    changes.restore()
    assert weights(guest) == before


def test_isolated_cpus_are_read_and_free_of_kernel_work(
    guest: Alive, partition: None, tmp_path: Path
) -> None:
    assert guest.host.read(PARTITION) == "isolated"
    assert guest.host.read(f"{TOP}/cpuset.cpus.isolated") == "2-3"
    found = findings(guest, tmp_path)
    assert found["isolation.partition"].status is Status.OK
    assert "active partitions: 1" in found["isolation.partition"].evidence
    assert found["isolation.workqueues"].status is Status.OK, "the kernel sees to it itself"
    assert "none on 2-3" in found["isolation.workqueues"].evidence
    assert found["isolation.irqs"].status is not Status.OK, "of interrupts it does not"
    assert found["isolation.rcu_nocbs"].status is not Status.OK


def test_sibling_naming_its_cpus_invalidates_partition(
    guest: Alive, partition: None, tmp_path: Path
) -> None:
    """It makes the partition invalid; the remedy named by the check repairs it."""
    guest.host.mkdir(SIBLING)
    guest.host.write(f"{SIBLING}/cpuset.cpus", "3")
    assert guest.host.read(PARTITION) == "isolated invalid", "6.12 says no reason here"
    found = findings(guest, tmp_path)["isolation.partition"]
    assert found.status is not Status.OK and found.remedy is not None
    guest.host.write(f"{SIBLING}/cpuset.cpus", "0")
    guest.output(found.remedy.text)
    assert guest.host.read(PARTITION) == "isolated"
    assert guest.host.read(f"{TOP}/cpuset.cpus.isolated") == "2-3"
