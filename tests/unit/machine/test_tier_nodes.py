"""NUMA nodes for the frames of the pager, on recorded and synthetic file trees."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.machine.reader import read_machine
from assay.machine.root import Root
from native_build import compiled

HERE = Path(__file__).resolve()
RECORDED = HERE.parents[2] / "fixtures" / "hwloc"
SOURCES = (
    "checks/nodes.cpp",
    "numa/nodes.cpp",
    "numa/thread_locator.cpp",
    "../common/cpulist.cpp",
    "../common/files.cpp",
)
TOP = "/sys/devices/system/node"
STATUS = "/proc/self/status"
TOLD = {"online": "0-2", "has_memory": "0-2", "has_cpu": "0-1"}
NODES = {
    "node0/cpulist": "0-1",
    "node1/cpulist": "2-3",
    "node2/cpulist": "",
    "node0/distance": "10 20 17",
    "node1/distance": "20 10 28",
    "node2/distance": "17 28 10",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the program that prints the nodes."""
    return compiled(tmp_path_factory.mktemp("nodes") / "nodes", SOURCES)


Tree = Callable[[Mapping[str, str]], Root]
Shown = Callable[[Root], dict[str, Any]]


@pytest.fixture
def shown(program: Path) -> Shown:
    def show(root: Root) -> dict[str, Any]:
        done = subprocess.run([program, root.path], capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return show


def written(tree: Tree, more: Mapping[str, str] = {}) -> Root:
    files = {**TOLD, **NODES, **more}
    # Files outside of nodes have paths of their own.
    return tree({(n if n[0] == "/" else f"{TOP}/{n}"): f"{text}\n" for n, text in files.items()})


def allowed(nodes: str) -> dict[str, str]:
    return {STATUS: f"Name:\tx\nMems_allowed:\t7\nMems_allowed_list:\t{nodes}\n"}


CONTRADICTORY = ("48amd64-4pa2n6c-sparse", "8em64t-2s2ca2c-buggynuma")
"""Node directories were renamed manually; the firmware lists each CPU on every node."""
MACHINES = [
    one for one in sorted(RECORDED.glob("*.tar.bz2")) if not one.name.startswith(CONTRADICTORY)
]


@pytest.mark.rotating
@pytest.mark.parametrize("archive", MACHINES, ids=lambda one: one.name)
def test_recorded_machines_have_expected_nodes(
    shown: Shown, unpacked: Callable[[Path], Root], archive: Path
) -> None:
    root = unpacked(archive)
    found = shown(root)
    # The oldest recordings lack memory information, and no pager runs on such kernels.
    if not any((root.path / TOP[1:]).glob("has_*memory")):
        assert found["nodes"] == [0] and found["nearest"] == {}
        return
    nodes = [one for one in read_machine(root).nodes if one.memory_bytes and one.cpus]
    if len(nodes) < 2:
        assert found["nodes"] == [0]
        return
    assert found["nodes"] == [one.id for one in nodes]
    for node in nodes:
        assert {found["nearest"][str(cpu)] for cpu in node.cpus} == {node.id}


def test_nodes_without_cpus_are_skipped(shown: Shown, tree: Tree) -> None:
    found = shown(written(tree))
    assert found["nodes"] == [0, 1]
    assert found["nearest"] == {"0": 0, "1": 0, "2": 1, "3": 1}


def test_cpu_without_local_memory_has_nearest_node(shown: Shown, tree: Tree) -> None:
    more = {"has_memory": "0,2", "has_cpu": "0-2", "node2/cpulist": "4"}
    found = shown(written(tree, more))
    assert found["nodes"] == [0, 2]
    assert found["nearest"] == {"0": 0, "1": 0, "2": 0, "3": 0, "4": 2}


@pytest.mark.parametrize(
    ("mems", "nodes"),
    [
        ("0-2", [0, 1]),
        ("0-1", [0, 1]),
        ("1", [0]),
        ("0,2", [0]),
        ("0-1023", [0, 1]),
        ("no", [0, 1]),
    ],
)
def test_cpuset_limits_nodes(shown: Shown, tree: Tree, mems: str, nodes: list[int]) -> None:
    """A single node leaves no choice, and its number does not matter."""
    assert shown(written(tree, allowed(mems)))["nodes"] == nodes


def test_nodes_without_cpus_are_used_if_no_other_exists(shown: Shown, tree: Tree) -> None:
    more = {"has_memory": "0-3", "online": "0-3", "node3/distance": "10 20 20 10", **allowed("2-3")}
    found = shown(written(tree, more))
    assert found["nodes"] == [2, 3]
    assert found["nearest"]["0"] == 2


@pytest.mark.parametrize("more", [{"has_memory": ""}, {"has_memory": "x"}, {"has_memory": "0"}])
def test_missing_sysfs_yields_single_node(shown: Shown, tree: Tree, more: dict[str, str]) -> None:
    assert shown(written(tree, more)) | {"cpu": 0} == {"nodes": [0], "nearest": {}, "cpu": 0}


def test_thread_locator_finds_current_cpu(program: Path) -> None:
    """Requires restartable sequences registered by the C library: glibc 2.35 or newer."""
    for cpu in sorted(os.sched_getaffinity(0))[:4]:
        done = subprocess.run(
            [program],
            capture_output=True,
            text=True,
            check=True,
            preexec_fn=lambda cpu=cpu: os.sched_setaffinity(0, [cpu]),
        )
        assert json.loads(done.stdout)["cpu"] in (cpu, -1)
