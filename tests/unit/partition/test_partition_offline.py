"""CPUs of a partition go offline and come back, on a recorded host."""

from __future__ import annotations

from pathlib import Path

import pytest
from host.trees import content

from assay.api.leftovers import leftover_lines
from assay.cli.partition.rendering import steering_lines, unmet_needs
from assay.host.journal import STATE_VARIABLE, open_journal
from assay.partition.cpu_designation import CpuRequest
from assay.partition.lifecycle import (
    PartitionHost,
    PartitionRequest,
    create_partition,
    delete_partition,
    start_partition,
)
from assay.partition.status import read_kernel_work, read_partitions
from assay.testing.recorded_groups import RecordedGroups
from partition.partition_tree import V1, V2, place, plant


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture
def tree(tmp_path: Path, version: int) -> Path:
    base = tmp_path / "tree"
    plant(base, version)
    return base


def host_of(here: PartitionHost) -> RecordedGroups:
    assert isinstance(here.host, RecordedGroups)
    return here.host


def asked(cpus: str = "3", name: str = "main") -> PartitionRequest:
    return PartitionRequest(name=name, cpus=CpuRequest(cpus), broker=False)


def faults(here: PartitionHost) -> list[str]:
    return [seen.fault for seen in read_partitions(here.host, here.env) if seen.fault is not None]


def drifts(here: PartitionHost) -> dict[str, str]:
    return {k: v for one in read_kernel_work(here.host, here.env) for k, v in one.drifted.items()}


def entries() -> int:
    with open_journal() as journal:
        return len(journal.entries)


@pytest.mark.parametrize("started_offline", [True, False])
def test_start_restores_isolation_after_cpu_returns(
    tree: Path, version: int, started_offline: bool
) -> None:
    before = content(tree)
    here = place(tree, version)
    create_partition(asked(), here)
    host_of(here).forgetting = {"12"}
    host_of(here).take_offline(3)
    assert faults(here) == ["CPU 3 is offline"] and not drifts(here)
    if started_offline:
        update = start_partition("main", here).update
        (lacks,) = unmet_needs(update)
        assert lacks.reason == "CPU 3 is offline"
        assert lacks.action.path.endswith("/assay-main")
        assert not update.left
    host_of(here).bring_online(3)
    assert here.host.read("/proc/12/affinity") == "0-3"
    assert not drifts(here)
    lapsed = "1 may use all CPUs again, for instance after a CPU came online"
    assert any(
        lapsed in line
        for line in steering_lines(read_kernel_work(here.host, here.env), verbose=True)
    )
    update = start_partition("main", here).update
    assert not unmet_needs(update) and not update.left
    assert not faults(here) and not drifts(here)
    own = f"{V1 if version == 1 else V2}/assay-main"
    assert here.host.read(f"{own}/cpuset.cpus") == "3"
    if version == 2:
        assert here.host.read(f"{own}/cpuset.cpus.partition") == "isolated"
    assert here.host.read("/proc/12/affinity") == "0-2"
    assert not any(one.status == "drifted" for one in start_partition("main", here).update.outcomes)
    assert not delete_partition("main", here).left
    assert content(tree) == before
    assert not entries()


def test_masks_are_restored_after_deletion_while_offline(tree: Path, version: int) -> None:
    """Linux 6.1 removes an offline CPU from masks that are restored."""
    before = content(tree)
    here = place(tree, version)
    create_partition(asked(), here)
    host_of(here).take_offline(3)
    left = delete_partition("main", here).left
    assert {(one.fate, one.reason and one.reason[-16:]) for one in left} == {
        ("failed", "CPU 3 is offline")
    }
    pinned = "/proc/irq/25/smp_affinity_list"
    assert pinned in {one.note.action.path for one in left}
    told = "\n".join(leftover_lines(left))
    assert "CPU 3 is offline" in told and "assay machine restore" in told
    assert len(told.splitlines()) == 1
    host_of(here).bring_online(3)
    create_partition(asked("2", "other"), here)
    assert not delete_partition("other", here).left
    assert content(tree) == before
    assert not entries()


def test_masks_recorded_while_offline_regain_the_cpu(tree: Path, version: int) -> None:
    """The kernel omits an offline CPU from the masks of threads."""
    here = place(tree, version)
    host_of(here).take_offline(1)
    create_partition(asked(), here)
    assert here.host.read("/proc/12/affinity") == "0,2"
    assert not drifts(here)
    host_of(here).bring_online(1)
    assert not drifts(here)
    start_partition("main", here)
    assert here.host.read("/proc/12/affinity") == "0-2"
    assert not delete_partition("main", here).left
    assert here.host.read("/proc/12/affinity") == "0-3"
    assert here.host.read("/proc/irq/24/smp_affinity_list") == "0-3"


def test_thread_confined_by_user_has_drifted(tree: Path, version: int) -> None:
    here = place(tree, version)
    create_partition(asked(), here)
    here.host.set_affinity(12, (1, 2))
    assert drifts(here) == {"12": "1-2"}
    assert "drifted" in {one.status for one in start_partition("main", here).update.outcomes}
    assert here.host.read("/proc/12/affinity") == "1-2"
