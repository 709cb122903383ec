"""Designate: CPUs set apart by control groups.

Version 2: a partition ``isolated`` below the first group (``Documentation/admin-guide/
cgroup-v2.rst``, Linux 5.18 and later): the kernel balances no load there and keeps its CPUs from
all other groups. Version 1: a group with CPUs of its own and no load balancing; since the first
group would go on balancing over all CPUs, it stops to, and a group beside has the other CPUs and
all programs (``cpuset(7)``, ``Documentation/admin-guide/cgroup-v1/cpusets.rst``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
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
    """The control groups of a host that partitions are made of.

    Attributes:
        version: 1 or 2.
        top: folder of the first group with a cpuset.
        memory_top: the same with limits on memory; ``None`` where those cannot be set beside it.
    """

    version: int
    top: str
    memory_top: str | None = None


def find_tree(root: Root) -> CgroupTree:
    """The control groups with a cpuset, version 2 where it has one.

    Raises:
        NotPossibleError: there are none, or only those of a container.
    """
    mounted = [one for one in hierarchies(root) if "cpuset" in one.controllers]
    if not mounted:
        raise NotPossibleError(
            "No control groups with a cpuset are mounted here.",
            "Mount them (mount -t cgroup2 none /sys/fs/cgroup); the kernel needs CONFIG_CPUSETS.",
        )
    first = mounted[0]
    if not first.whole:
        raise NotPossibleError(
            f"The control groups at {first.point} are those of a container.",
            "Make the partition on the host.",
        )
    if first.point != CGROUP_MOUNT and not first.point.startswith(f"{CGROUP_MOUNT}/"):
        raise NotPossibleError(
            f"Control groups are mounted at {first.point}, and assay looks below {CGROUP_MOUNT} alone.",
            f"Mount them there too: mount --bind {first.point} {CGROUP_MOUNT}",
        )
    return CgroupTree(first.version, first.point, _memory_top(first, root))


def _memory_top(first: Hierarchy, root: Root) -> str | None:
    """Limits of version 2 are in the same group; those of version 1 in a tree of their own."""
    for one in hierarchies(root):
        same = one.version == first.version
        if (
            same
            and one.whole
            and "memory" in one.controllers
            and one.point.startswith(CGROUP_MOUNT)
        ):
            return one.point
    return None


def overlapping_groups(host: Host, top: str, cpus: Collection[int]) -> dict[str, tuple[int, ...]]:
    """Groups right below the first one that name some of these CPUs, and which."""
    found = {}
    for path in groups_in(host, top):
        both = set(parse_list(host.read(f"{path}/cpuset.cpus") or "")) & set(cpus)
        if both:
            found[path] = tuple(sorted(both))
    return found


def group_name(name: str) -> str:
    """Of the control groups of a partition."""
    return f"assay-{name}"


def partition_groups(
    tree: CgroupTree,
    name: str,
    cpus: Sequence[int],
    nodes: Sequence[int],
    memory_bytes: int | None,
) -> tuple[ControlGroup, ...]:
    """The control groups of a partition, that of the CPUs first.

    Args:
        tree: that they are made in.
        name: of the partition.
        cpus, nodes: of it.
        memory_bytes: that are not to be reclaimed; ``None`` where it shares out no memory.
    """
    path = f"{tree.top}/{group_name(name)}"
    own = (("cpuset.mems", format_list(nodes)), ("cpuset.cpus", format_list(cpus)))
    alone = tuple(GROUP_FILES[tree.version].items())
    if tree.version == 1:
        found = [ControlGroup(path=path, files=(*own, *alone))]
        # Mounted together both are one group; the broker counts the memory of shares there, and
        # does not limit it.
        if memory_bytes is not None and tree.memory_top not in (None, tree.top):
            found.append(ControlGroup(path=f"{tree.memory_top}/{group_name(name)}", files=()))
        return tuple(found)
    with_memory = memory_bytes is not None
    given = " ".join(f"+{one}" for one in required_controllers(tree, with_memory=with_memory))
    files = [*own, *alone]
    if memory_bytes:
        files.append(("memory.min", str(memory_bytes)))
    return (ControlGroup(path=path, files=(*files, ("cgroup.subtree_control", given))),)


def required_controllers(tree: CgroupTree, *, with_memory: bool) -> tuple[str, ...]:
    """Controllers that groups below the first one need."""
    if tree.version == 1:
        return ()
    return ("cpuset", "memory") if with_memory else ("cpuset",)


def broker_hierarchies(
    tree: CgroupTree, groups: Sequence[ControlGroup]
) -> tuple[BrokerHierarchy, ...]:
    """The same groups as the broker is told of them."""
    if tree.version == 2:
        return (BrokerHierarchy(controller="", mount=tree.top, folder=groups[0].path),)
    tops = (("cpuset", tree.top), ("memory", tree.memory_top or ""))
    return tuple(
        BrokerHierarchy(controller=controller, mount=top, folder=group.path)
        for (controller, top), group in zip(tops, groups, strict=False)
    )


def isolation_actions(made: Iterable[Partition], machine: Machine) -> tuple[HostAction, ...]:
    """What sets the CPUs of all partitions apart, in the order in which it is done."""
    partitions = tuple(made)
    needed = {
        DelegateController(group=one.top, controller=controller): None
        for one in partitions
        for controller in one.delegated
    }
    groups = [group for one in partitions for group in one.groups]
    return (*needed, *groups, *_beside(partitions, machine))


def _beside(partitions: Sequence[Partition], machine: Machine) -> tuple[HostAction, ...]:
    """With version 1: the group of all others, and no load balancing over all CPUs."""
    tops = {one.top for one in partitions if one.version == 1}
    if not tops:
        return ()
    top = tops.pop()
    apart = frozenset[int]().union(*(one.cpu_set for one in partitions))
    rest = [cpu.id for cpu in machine.cpus if cpu.id not in apart]
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
