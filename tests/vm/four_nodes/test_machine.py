"""Readings of `assay machine` in the guest, compared with the configuration of QEMU."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from assay.cli.machine.profile_file import read_profile
from assay.machine.checks import Host, Status, examine
from assay.machine.document import Machine
from assay.machine.inventory.document import Inventory, Part
from assay.machine.inventory.reader import read_inventory
from assay.machine.root import Root

from .machine import DISTANCES, HUGE_ON_NODE_1, MEMORY_ONLY, NODES, SPEEDS, WITH_CPUS

pytestmark = pytest.mark.vm

MIB = 1 << 20
GIB = 1 << 30


@pytest.fixture(scope="module")
def inventory(known: Machine, root: Root) -> Inventory:
    """Without hwloc, which is not everywhere."""
    return read_inventory(known, root, env={"PATH": "/nowhere"})


def parts(part: Part) -> Iterator[Part]:
    yield part
    for inner in (*part.children, *part.memory):
        yield from parts(inner)


def test_nodes_have_cpus_distances_and_kinds(known: Machine) -> None:
    assert [node.cpus for node in known.nodes] == [(0, 1), (2, 3), (4, 5), (6, 7), ()]
    assert tuple(node.distances for node in known.nodes) == DISTANCES
    assert [node.kind for node in known.nodes] == ["dram"] * 4 + ["cxl"]
    for node, result in zip(known.nodes, NODES, strict=True):
        # The kernel's image and its tables are not counted.
        assert 0.75 * result.memory_mib * MIB < node.memory_bytes <= result.memory_mib * MIB


def test_packages_cores_and_threads_are_read(known: Machine) -> None:
    assert [cpu.package for cpu in known.cpus] == [0] * 4 + [1] * 4
    assert [cpu.siblings for cpu in known.cpus[::2]] == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert [cpu.node for cpu in known.cpus] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert {cpu.l3 for cpu in known.cpus} == {0, 4}
    assert known.hypervisor is not None and known.cgroup == "v2"


def test_speeds_match_firmware(inventory: Inventory) -> None:
    assert [speed.node for speed in inventory.speeds] == [*WITH_CPUS, MEMORY_ONLY]
    for speed in inventory.speeds:
        nearest = NODES[speed.node].initiator
        result = SPEEDS[speed.node if nearest is None else nearest, speed.node]
        assert speed.read_latency_ns == speed.write_latency_ns == result.latency_ns
        assert speed.read_mb_s == speed.write_mb_s == result.gib_s * 1024


def test_huge_page_pools_are_read_by_size_and_node(inventory: Inventory) -> None:
    pages = {(pool.size_bytes, pool.node): pool.pages for pool in inventory.pools}
    assert pages[2 * MIB, None] == pages[2 * MIB, 1] == HUGE_ON_NODE_1
    assert pages[GIB, None] == pages[GIB, 3] == 1
    assert sum(count for (_, node), count in pages.items() if node is not None) == 4


def test_machine_parts_are_read(inventory: Inventory) -> None:
    found = list(parts(inventory.topology))
    packages = [part.cpus for part in found if part.kind == "package"]
    assert packages == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert [p.cpus for p in found if p.kind == "core"] == [(0, 1), (2, 3), (4, 5), (6, 7)]
    memory = {part.id: part.cpus for part in found if part.kind == "node"}
    assert memory == {0: (0, 1), 1: (2, 3), 2: (4, 5), 3: (6, 7), MEMORY_ONLY: ()}


def test_hwloc_agrees(known: Machine, root: Root) -> None:
    inventory = read_inventory(known, root)
    if not inventory.topology_source.startswith("hwloc"):
        pytest.skip("lstopo is not installed (Debian package hwloc-nox)")
    found = list(parts(inventory.topology))
    assert {p.id for p in found if p.kind == "node"} == set(range(len(NODES)))
    assert [p.cpus for p in found if p.kind == "core"] == [(0, 1), (2, 3), (4, 5), (6, 7)]


def test_command_line_shows_machine(root: Root) -> None:
    command = [sys.executable, "-m", "assay", "machine", "show", "--root", str(root.path)]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)["machine"]
    assert [node.get("kind") for node in shown["nodes"]] == ["dram"] * 4 + ["cxl"]


def test_missing_boot_arguments_isolate_no_cpu(root: Root) -> None:
    result = {one.id: one for one in examine(Host(root), read_profile("latency"))}
    assert result["isolation.cmdline"].status is Status.OK
    assert "isolates no CPU" in result["isolation.cmdline"].evidence
    assert result["isolation.cpus"].status is not Status.OK
    remedy = result["isolation.cpus"].remedy
    assert remedy is not None and "isolcpus=managed_irq,domain" in remedy.text
    for name in ("nohz_full", "rcu_nocbs", "irqs", "workqueues", "online"):
        assert result[f"isolation.{name}"].status is Status.OK, result[f"isolation.{name}"]
