"""Division of cores between the instances of a program: pure functions over a topology.

An instance gets whole cores, with all of their usable CPUs. Its cores are in one NUMA node, unless
the requested number exceeds every node.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.machine.document import Cpu
from assay.settings import cpu_selection

CpuGroups = tuple[tuple[int, ...], ...]
"""CPU numbers of each instance, ascending."""


def cores_by_node(cpus: Sequence[Cpu]) -> dict[int, int]:
    """Return the number of cores in ``cpus`` by node."""
    found: dict[int, set[int]] = {}
    for cpu in cpus:
        found.setdefault(cpu.node, set()).add(cpu.core)
    return {node: len(cores) for node, cores in sorted(found.items())}


def count_fitting(cpus: Sequence[Cpu], cores: int) -> int:
    """Return the number of instances with ``cores`` cores each that fit without crossing a node."""
    return sum(size // cores for size in cores_by_node(cpus).values())


def max_cores_each(cpus: Sequence[Cpu], count: int) -> int:
    """Return the maximum number of cores per instance within a node; 0 if ``count`` do not fit."""
    total = sum(cores_by_node(cpus).values())
    return next((n for n in range(total // count, 0, -1) if count_fitting(cpus, n) >= count), 0)


def divide_cores(cpus: Sequence[Cpu], count: int, cores: int) -> CpuGroups:
    """Return ``count`` groups of ``cores`` cores each, which must exist.

    The cores of a group are as close together as possible. Nodes are filled evenly. A group crosses
    nodes only if no node has enough free cores.
    """
    left = list(cpus)
    groups = []
    for _ in range(count):
        group = _closest_cores(_largest_node(left, cores) or left, cores)
        groups.append(group)
        taken = set(group)
        left = [cpu for cpu in left if cpu.id not in taken]
    return tuple(sorted(groups))


def groups_by_node(cpus: Sequence[Cpu], cores: int | None) -> CpuGroups:
    """Return one group per node: all of its cores, or the given number, which must exist."""
    return tuple(
        _closest_cores(own, size if cores is None else cores)
        for node, size in cores_by_node(cpus).items()
        if (own := [cpu for cpu in cpus if cpu.node == node])
    )


def count_cross_node(cpus: Sequence[Cpu], groups: CpuGroups) -> int:
    """Return the number of groups with CPUs of several nodes."""
    node = {cpu.id: cpu.node for cpu in cpus}
    return sum(len({node[number] for number in group}) > 1 for group in groups)


def _largest_node(cpus: Sequence[Cpu], cores: int) -> list[Cpu]:
    """Return the CPUs of the node with most cores, if it has enough; the first of equal nodes."""
    sizes = cores_by_node(cpus)
    node = max(sizes, key=lambda n: (sizes[n], -n), default=None)
    if node is None or sizes[node] < cores:
        return []
    return [cpu for cpu in cpus if cpu.node == node]


def _closest_cores(cpus: Sequence[Cpu], count: int) -> tuple[int, ...]:
    """Return all CPUs of ``count`` cores that are close together."""
    firsts = set(cpu_selection.one_per_core(cpus, count))
    cores = {cpu.core for cpu in cpus if cpu.id in firsts}
    return tuple(sorted(cpu.id for cpu in cpus if cpu.core in cores))
