"""Bounds: the CPUs to which this process is confined, partitions excluded.

A batch system, a container or ``taskset`` confines a process to a part of the host, and a share
must lie within it. An isolated partition of version 2 removes its CPUs from the effective cpuset of
all other groups, so that the effective cpuset alone is not sufficient (cgroup-v2.rst, "Cpuset
Interface Files").
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from assay.machine.cgroup import own_cpuset, requested_cpuset
from assay.machine.cpulist import show_numbers
from assay.machine.root import Root
from assay.partition.names import OTHERS_GROUP


@dataclass(frozen=True)
class CpuBounds:
    """CPUs from which a share may be taken.

    Attributes:
        cpus: CPU numbers.
        reason: source of the bounds, such as "its affinity".
    """

    cpus: frozenset[int]
    reason: str

    def __str__(self) -> str:
        return f"{self.reason} has {show_numbers('CPU', self.cpus)}"


def read_bounds(root: Root, affinity: Collection[int], online: Collection[int]) -> CpuBounds | None:
    """Return the bounds of this process; ``None`` if it is not confined.

    Args:
        root: file system from which its control groups are read.
        affinity: affinity of this process, from the kernel.
        online: all online CPUs.
    """
    everything = frozenset(online)
    effective = frozenset(own_cpuset(root) or everything) & everything
    if effective - frozenset(affinity):  # narrower than its group: by taskset, or a batch system
        return CpuBounds(frozenset(affinity), "its affinity (`taskset -p $$`)")
    requested = requested_cpuset(root, OTHERS_GROUP)
    if requested is None:
        return None
    group, cpus = requested
    if everything <= set(cpus):
        return None
    return CpuBounds(frozenset(cpus) & everything, f"its control group {group}")
