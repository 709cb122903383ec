"""Bounds: the CPUs that this process was confined to, beside what partitions took out.

A batch system, a container or ``taskset`` gives a process a part of the host; a share must lie
within it. An isolated partition of version 2 takes its CPUs out of the effective cpuset of all
others, so that those alone cannot tell (cgroup-v2.rst, "Cpuset Interface Files").
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
    """CPUs that a share may be made of.

    Attributes:
        cpus: their numbers.
        reason: who set them, as in "its affinity".
    """

    cpus: frozenset[int]
    reason: str

    def __str__(self) -> str:
        return f"{self.reason} has {show_numbers('CPU', self.cpus)}"


def read_bounds(root: Root, affinity: Collection[int], online: Collection[int]) -> CpuBounds | None:
    """What confines this process; ``None`` where nothing does.

    Args:
        root: where its control groups are read.
        affinity: of this process, as the kernel gives it.
        online: all CPUs.
    """
    everything = frozenset(online)
    effective = frozenset(own_cpuset(root) or everything) & everything
    if effective - frozenset(affinity):  # narrower than its group: by taskset, or a batch system
        return CpuBounds(frozenset(affinity), "its affinity (`taskset -p $$`)")
    asked = requested_cpuset(root, OTHERS_GROUP)
    if asked is None:
        return None
    group, cpus = asked
    if everything <= set(cpus):
        return None
    return CpuBounds(frozenset(cpus) & everything, f"its control group {group}")
