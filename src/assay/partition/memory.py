"""Memory of a partition: how much, from which nodes, and what keeps it.

A limit keeps no memory: others may have taken it before. Huge pages of a node's pool are taken out
of what others can have (``Documentation/admin-guide/mm/hugetlbpage.rst``), and only programs that
ask for huge pages get them. ``memory.min`` (``admin-guide/cgroup-v2.rst``) is not reclaimed while
it is in use; it does not wait for somebody. With version 1 there is neither: the broker alone
counts, among the runs on the partition.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from assay.errors import InvalidInputError, NotPossibleError
from assay.host.host import Host
from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.tunables import HUGETLB, NODES
from assay.partition.initial_state import InitialState
from assay.partition.isolation import CGROUP_MOUNT, CgroupTree
from assay.partition.registry import Memory, MemoryGuarantee, Partition
from assay.records.action import HostAction, WriteFile
from assay.units import parse_bytes, show_bytes

AUTO = "auto"
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_GRAIN_BYTES = 2 << 20
_BY_NODE = re.compile(r"(\d{1,5}):(.+)", re.ASCII)


@dataclass(frozen=True)
class MemoryRequest:
    """What is asked for.

    Attributes:
        text: a size, ``auto``, or sizes by node as in ``0:4G,1:4G``.
        pages: size of the huge pages that it is to be taken as; any memory where it is ``None``.
    """

    text: str
    pages: str | None = None


def plan_memory(
    request: MemoryRequest,
    machine: Machine,
    cpus: Sequence[int],
    nodes: Sequence[int],
    host: Host,
    tree: CgroupTree,
    others: Iterable[Partition],
) -> Memory:
    """The memory of a new partition.

    Args:
        wish: what is asked for.
        machine: of the host.
        cpus, nodes: of the partition.
        host: whose nodes are asked what is free.
        tree: control groups that the partition is made of.
        others: partitions that stand.

    Raises:
        InvalidInputError: no such size, nodes or pages.
        NotPossibleError: the nodes have less.
    """
    _demand_limits(tree)
    by_node = _by_node(request.text, machine, cpus, nodes, host)
    asked = sum(by_node.values())
    _demand_there(by_node, machine, others)
    if request.pages is None:
        ground: MemoryGuarantee = "minimum" if tree.version == 2 else "admission"
        whole = asked // _PAGE_BYTES * _PAGE_BYTES
        if not whole:
            raise InvalidInputError(
                f"--mem {request.text} is less than a page of {show_bytes(_PAGE_BYTES)}.",
                "Ask for more, as in --mem 8G.",
            )
        return Memory(bytes=whole, asked_bytes=asked, ground=ground, by_node=by_node)
    page_bytes = parse_bytes(request.pages)
    _demand_pool(page_bytes, sorted(by_node), host)
    pages = {node: -(-size // page_bytes) for node, size in by_node.items() if size}
    whole = sum(pages.values()) * page_bytes
    return Memory(
        bytes=whole, asked_bytes=asked, ground="pages", page_bytes=page_bytes, pages=pages
    )


def pool_actions(
    made: Iterable[Partition], before: InitialState, host: Host
) -> tuple[HostAction, ...]:
    """The pools of huge pages that all partitions need, beside what there was before."""
    wanted: dict[str, int] = {}
    for one in made:
        if one.memory is not None:
            for node, pages in one.memory.pages.items():
                path = _pool(node, one.memory.page_bytes, host)
                wanted[path] = wanted.get(path, 0) + pages
    return tuple(
        WriteFile(path=path, value=str(pages + int(before.read(path) or 0)), form="number")
        for path, pages in wanted.items()
    )


def protected_bytes(memory: Memory | None) -> int | None:
    """What a control group keeps from being reclaimed; ``None`` where no memory is shared out."""
    if memory is None:
        return None
    return memory.bytes if memory.ground == "minimum" else 0


def granted_memory(memory: Memory, missing: Mapping[str, int], host: Host) -> Memory:
    """The memory that a partition has of what it asked for.

    Args:
        memory: as planned.
        missing: by path of a pool: how many pages of those that were asked for last are not there.
        host: says which pool is whose.
    """
    if memory.ground != "pages":
        return memory
    pages = {
        node: max(0, count - missing.get(_pool(node, memory.page_bytes, host), 0))
        for node, count in memory.pages.items()
    }
    return replace(memory, bytes=sum(pages.values()) * memory.page_bytes, pages=pages)


def _demand_limits(tree: CgroupTree) -> None:
    """Refuse memory of which no share could be limited to its part.

    Raises:
        NotPossibleError: no control groups with memory go with those of the cpuset.
    """
    if tree.memory_top is not None:
        return
    mount = (
        " Or mount them, where the kernel has them (/proc/cgroups): "
        f"mount -t cgroup -o memory none {CGROUP_MOUNT}/memory."
    )
    raise NotPossibleError(
        "--mem cannot be had: the control groups that have the cpuset here, those of version "
        f"{tree.version}, have no memory, and shares could not be limited.",
        "Leave it out; cgroup_no_v1=all at boot gives version 2 both."
        + (mount if tree.version == 1 else ""),
    )


def _by_node(
    text: str, machine: Machine, cpus: Sequence[int], nodes: Sequence[int], host: Host
) -> dict[int, int]:
    if text == AUTO:
        return {node: _share_of(node, machine, cpus, host) for node in nodes}
    if ":" not in text:
        each, rest = divmod(parse_bytes(text), len(nodes))
        if each == 0:
            raise InvalidInputError(f"--mem {text} is nothing.", "Leave it out, or ask for more.")
        return {node: each + (rest if place == 0 else 0) for place, node in enumerate(nodes)}
    found: dict[int, int] = {}
    for part in text.split(","):
        match = _BY_NODE.fullmatch(part)
        if match is None:
            raise InvalidInputError(f"--mem cannot read {part!r}.", "Write as in 8G, or 0:4G,1:4G.")
        if int(match[1]) in found:
            raise InvalidInputError(
                f"--mem {text} has node {int(match[1])} twice.", "Write it once."
            )
        if int(match[1]) not in nodes:
            raise InvalidInputError(
                f"--mem {part}: the CPUs are near to node {format_list(nodes)}.",
                "Name one of these, or other CPUs.",
            )
        found[int(match[1])] = parse_bytes(match[2])
    if not all(found.values()):
        raise InvalidInputError(f"--mem {text} asks for nothing of a node.", "Leave that node out.")
    return found


def _share_of(node: int, machine: Machine, cpus: Sequence[int], host: Host) -> int:
    """Of what a node has free, as much as of its CPUs; of one without CPUs as of all CPUs."""
    own = next((one.cpus for one in machine.nodes if one.id == node), ())
    all_cpus = own or tuple(cpu.id for cpu in machine.cpus)
    share = len(set(all_cpus) & set(cpus)), len(all_cpus)
    text = host.read(f"{NODES}/node{node}/meminfo") or host.read("/proc/meminfo") or ""
    free = sum(_kilobytes(text, name) for name in ("MemFree", "Inactive(file)")) * 1024
    return free * share[0] // share[1] // _GRAIN_BYTES * _GRAIN_BYTES


def _kilobytes(text: str, name: str) -> int:
    match = re.search(rf"\b{re.escape(name)}:\s*(\d+) kB", text, re.ASCII)
    return int(match[1]) if match else 0


def _demand_there(
    by_node: Mapping[int, int], machine: Machine, others: Iterable[Partition]
) -> None:
    """Refuse more than a node has: what is counted as one's own must be there.

    Raises:
        NotPossibleError: there is less; names the first such node.
    """
    if not any(by_node.values()):
        raise NotPossibleError("No memory is free for --mem auto.", "Ask for a size.")
    has = {node.id: node.memory_bytes for node in machine.nodes}
    promised: dict[int, int] = {}
    for one in others:
        for node, size in _taken(one).items():
            promised[node] = promised.get(node, 0) + size
    for node, asked in sorted(by_node.items()):
        total = has.get(node) or machine.memory_bytes
        taken = promised.get(node, 0)
        if asked > total - taken:
            apart = f", of which partitions have {show_bytes(taken)}" if taken else ""
            raise NotPossibleError(
                f"{show_bytes(asked)} of node {node} were asked for, and it has "
                f"{show_bytes(total)}{apart}.",
                "Ask for less, or say how much of which node: --mem 0:4G,1:2G.",
            )


def _taken(made: Partition) -> dict[int, int]:
    """What a partition has of each node."""
    memory = made.memory
    if memory is None:
        return {}
    if memory.ground == "pages":
        return {node: pages * memory.page_bytes for node, pages in memory.pages.items()}
    return memory.by_node


def _demand_pool(page_bytes: int, nodes: Sequence[int], host: Host) -> None:
    """Refuse pages of a size that the kernel has no pool for.

    Raises:
        InvalidInputError: names the sizes that there are.
    """
    if all(host.read(_pool(node, page_bytes, host)) is not None for node in nodes):
        return
    names = (re.fullmatch(r"hugepages-(\d+)kB", name) for name in host.listdir(HUGETLB))
    sizes = sorted(int(match[1]) << 10 for match in names if match)
    told = ", ".join(map(show_bytes, sizes))
    raise InvalidInputError(
        f"This machine has no huge pages of {show_bytes(page_bytes)}.",
        f"It has {told}." if told else "Leave --pages out.",
    )


def _pool(node: int, page_bytes: int, host: Host) -> str:
    """The pool of a node; that of the whole host where the kernel knows no nodes."""
    name = f"hugepages-{page_bytes >> 10}kB"
    if host.listdir(f"{NODES}/node{node}/hugepages"):
        return f"{NODES}/node{node}/hugepages/{name}/nr_hugepages"
    return f"{HUGETLB}/{name}/nr_hugepages"
