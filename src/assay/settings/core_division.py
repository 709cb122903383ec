"""How the instances of a program share the cores: pure functions over a topology.

A core goes to one instance with all of its CPUs that may be used. No instance gets cores of two
NUMA nodes unless so many cores were asked for that it must.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.machine.document import Cpu
from assay.settings import cpu_selection

CpuGroups = tuple[tuple[int, ...], ...]
"""CPU numbers of each instance, ascending."""


def cores_by_node(cpus: Sequence[Cpu]) -> dict[int, int]:
    """How many cores of each node there are among ``cpus``."""
    found: dict[int, set[int]] = {}
    for cpu in cpus:
        found.setdefault(cpu.node, set()).add(cpu.core)
    return {node: len(cores) for node, cores in sorted(found.items())}


def count_fitting(cpus: Sequence[Cpu], cores: int) -> int:
    """How many instances of so many cores fit without one that crosses a node."""
    return sum(size // cores for size in cores_by_node(cpus).values())


def max_cores_each(cpus: Sequence[Cpu], count: int) -> int:
    """The most cores that each of ``count`` instances can have within a node; 0: none fits."""
    total = sum(cores_by_node(cpus).values())
    return next((n for n in range(total // count, 0, -1) if count_fitting(cpus, n) >= count), 0)


def divide_cores(cpus: Sequence[Cpu], count: int, cores: int) -> CpuGroups:
    """``count`` groups of ``cores`` cores each, which must be there.

    Each lies as close together as it can. Nodes are filled evenly. Only what fits into no node any
    more takes cores of several.
    """
    left = list(cpus)
    groups = []
    for _ in range(count):
        group = _closest_cores(_roomiest(left, cores) or left, cores)
        groups.append(group)
        taken = set(group)
        left = [cpu for cpu in left if cpu.id not in taken]
    return tuple(sorted(groups))


def groups_by_node(cpus: Sequence[Cpu], cores: int | None) -> CpuGroups:
    """One group in each node: all of its cores, or so many, which it must have."""
    return tuple(
        _closest_cores(own, size if cores is None else cores)
        for node, size in cores_by_node(cpus).items()
        if (own := [cpu for cpu in cpus if cpu.node == node])
    )


def count_cross_node(cpus: Sequence[Cpu], groups: CpuGroups) -> int:
    """How many of the groups have CPUs of several nodes."""
    node = {cpu.id: cpu.node for cpu in cpus}
    return sum(len({node[number] for number in group}) > 1 for group in groups)


def _roomiest(cpus: Sequence[Cpu], cores: int) -> list[Cpu]:
    """The CPUs of the node with most cores, where it has enough; the first of equals."""
    sizes = cores_by_node(cpus)
    node = max(sizes, key=lambda n: (sizes[n], -n), default=None)
    if node is None or sizes[node] < cores:
        return []
    return [cpu for cpu in cpus if cpu.node == node]


def _closest_cores(cpus: Sequence[Cpu], count: int) -> tuple[int, ...]:
    """All CPUs of so many cores that lie close together."""
    firsts = set(cpu_selection.one_per_core(cpus, count))
    cores = {cpu.core for cpu in cpus if cpu.id in firsts}
    return tuple(sorted(cpu.id for cpu in cpus if cpu.core in cores))
