"""Isolation of CPUs by control groups.

Version 2: a partition of type ``isolated`` below the root group
(``Documentation/admin-guide/cgroup-v2.rst``, Linux 5.18 and later). The kernel balances no load
there and keeps its CPUs from all other groups.

Version 1: an exclusive group without load balancing. Load balancing of the root group is disabled,
since it would include all CPUs, and a sibling group has the other CPUs and all programs
(``cpuset(7)``, ``Documentation/admin-guide/cgroup-v1/cpusets.rst``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from assay.errors import NotPossibleError
from assay.host.control_groups import groups_in
from assay.host.host import Host
from assay.machine.cgroup import Hierarchy, hierarchies
from assay.machine.cpulist import format_list, parse_list
from assay.machine.document import Machine
from assay.machine.root import Root
from assay.partition.isolation_files import GROUP_FILES, ROOT_FILES
from assay.partition.names import OTHERS_GROUP
from assay.partition.registry import BrokerHierarchy, Partition
from assay.records.action import ControlGroup, DelegateController, HostAction, WriteFile

CGROUP_MOUNT = "/sys/fs/cgroup"


@dataclass(frozen=True)
class CgroupTree:
    """Control-group tree of a host for partitions.

    Attributes:
        version: 1 or 2.
        top: folder of the root group with a cpuset.
        memory_top: folder of the root group with memory limits; ``None`` if these are not available
            together.
    """

    version: int
    top: str
    memory_top: str | None = None


def find_tree(root: Root) -> CgroupTree:
    """Return the control groups with a cpuset, preferably of version 2.

    Raises:
        NotPossibleError: there is none, or only that of a container.
    """
    mounted = [hierarchy for hierarchy in hierarchies(root) if "cpuset" in hierarchy.controllers]
    if not mounted:
        raise NotPossibleError(
            "No control groups with a cpuset are mounted.",
            "Mount them (mount -t cgroup2 none /sys/fs/cgroup); the kernel needs CONFIG_CPUSETS.",
        )
    first = mounted[0]
    if not first.is_host_root:
        raise NotPossibleError(
            f"The control groups at {first.point} belong to a container.",
            "Create the partition on the host.",
        )
    if first.point != CGROUP_MOUNT and not first.point.startswith(f"{CGROUP_MOUNT}/"):
        raise NotPossibleError(
            f"Control groups are mounted at {first.point}, but assay uses only {CGROUP_MOUNT}.",
            f"Mount them there too: mount --bind {first.point} {CGROUP_MOUNT}",
        )
    return CgroupTree(first.version, first.point, _memory_top(first, root))


def _memory_top(first: Hierarchy, root: Root) -> str | None:
    """Return the root group with memory limits; those of version 1 are a separate tree."""
    for hierarchy in hierarchies(root):
        same = hierarchy.version == first.version
        if (
            same
            and hierarchy.is_host_root
            and "memory" in hierarchy.controllers
            and hierarchy.point.startswith(CGROUP_MOUNT)
        ):
            return hierarchy.point
    return None


def overlapping_groups(host: Host, top: str, cpus: Collection[int]) -> dict[str, tuple[int, ...]]:
    """Return the groups directly below the root that include some of these CPUs."""
    found = {}
    for path in groups_in(host, top):
        both = set(parse_list(host.read(f"{path}/cpuset.cpus") or "")) & set(cpus)
        if both:
            found[path] = tuple(sorted(both))
    return found


def group_name(name: str) -> str:
    """Return the name of the control groups of a partition."""
    return f"assay-{name}"


def partition_groups(
    tree: CgroupTree,
    name: str,
    cpus: Sequence[int],
    nodes: Sequence[int],
    memory_bytes: int | None,
) -> tuple[ControlGroup, ...]:
    """Return the control groups of a partition, that of the CPUs first.

    Args:
        tree: tree of the groups.
        name: name of the partition.
        cpus, nodes: CPUs and NUMA nodes of the partition.
        memory_bytes: bytes to protect from reclaim; ``None`` if it has no memory of its own.
    """
    path = f"{tree.top}/{group_name(name)}"
    own = (("cpuset.mems", format_list(nodes)), ("cpuset.cpus", format_list(cpus)))
    alone = tuple(GROUP_FILES[tree.version].items())
    if tree.version == 1:
        found = [ControlGroup(path=path, files=(*own, *alone))]
        # Mounted together, both are one group: the broker then counts the memory of shares without
        # a limit.
        if memory_bytes is not None and tree.memory_top not in (None, tree.top):
            found.append(ControlGroup(path=f"{tree.memory_top}/{group_name(name)}", files=()))
        return tuple(found)
    with_memory = memory_bytes is not None
    given = " ".join(
        f"+{controller}" for controller in required_controllers(tree, with_memory=with_memory)
    )
    files = [*own, *alone]
    if memory_bytes:
        files.append(("memory.min", str(memory_bytes)))
    return (ControlGroup(path=path, files=(*files, ("cgroup.subtree_control", given))),)


def required_controllers(tree: CgroupTree, *, with_memory: bool) -> tuple[str, ...]:
    """Return the controllers that groups below the root need."""
    if tree.version == 1:
        return ()
    return ("cpuset", "memory") if with_memory else ("cpuset",)


def broker_hierarchies(
    tree: CgroupTree, groups: Sequence[ControlGroup]
) -> tuple[BrokerHierarchy, ...]:
    """Return the description of the same groups for the broker."""
    if tree.version == 2:
        return (BrokerHierarchy(controller="", mount=tree.top, folder=groups[0].path),)
    tops = (("cpuset", tree.top), ("memory", tree.memory_top or ""))
    return tuple(
        BrokerHierarchy(controller=controller, mount=top, folder=group.path)
        for (controller, top), group in zip(tops, groups, strict=False)
    )


def isolation_actions(partitions: Sequence[Partition], machine: Machine) -> tuple[HostAction, ...]:
    """Return the actions that isolate the CPUs of all partitions, in order."""
    needed = {
        DelegateController(group=partition.root_group, controller=controller): None
        for partition in partitions
        for controller in partition.delegated
    }
    groups = [group for partition in partitions for group in partition.groups]
    return (*needed, *groups, *_actions_for_other_programs(partitions, machine))


def _actions_for_other_programs(
    partitions: Sequence[Partition], machine: Machine
) -> tuple[HostAction, ...]:
    """Return the actions of version 1: the group of other programs, and no global balancing."""
    tops = {partition.root_group for partition in partitions if partition.version == 1}
    if not tops:
        return ()
    top = tops.pop()
    reserved = frozenset[int]().union(*(partition.cpu_set for partition in partitions))
    rest = [cpu.id for cpu in machine.cpus if cpu.id not in reserved]
    nodes = [node.id for node in machine.nodes if node.memory_bytes]
    files = (
        ("cpuset.mems", format_list(nodes or [0])),
        ("cpuset.cpus", format_list(rest)),
    )
    others = ControlGroup(path=f"{top}/{OTHERS_GROUP}", files=files, gathers=True)
    balance = [
        WriteFile(path=f"{top}/{name}", value=text, form="number")
        for name, text in ROOT_FILES[1].items()
    ]
    return (others, *balance)
