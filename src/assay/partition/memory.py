"""Memory of a partition: size, NUMA nodes and guarantee.

A limit reserves no memory: other processes may have used it before. Huge pages of a node's pool are
removed from the memory of all others (``Documentation/admin-guide/mm/hugetlbpage.rst``), but only
programs that request huge pages get them. ``memory.min`` (``admin-guide/cgroup-v2.rst``) protects
used memory from reclaim; it does not reserve free memory. Version 1 has neither: only the broker
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
_ROUNDING_BYTES = 2 << 20
_BY_NODE = re.compile(r"(\d{1,5}):(.+)", re.ASCII)


@dataclass(frozen=True)
class MemoryRequest:
    """Requested memory.

    Attributes:
        text: size, ``auto``, or sizes by node as in ``0:4G,1:4G``.
        pages: size of huge pages; ``None`` for ordinary memory.
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
    """Return the memory of a new partition.

    Args:
        request: requested memory.
        machine: description of the host.
        cpus, nodes: CPUs and NUMA nodes of the partition.
        host: source of the free memory of nodes.
        tree: control-group tree of the partition.
        others: active partitions.

    Raises:
        InvalidInputError: the size, nodes or page size are invalid.
        NotPossibleError: the nodes have less memory.
    """
    _demand_limits(tree)
    by_node = _by_node(request.text, machine, cpus, nodes, host)
    requested_bytes = sum(by_node.values())
    _demand_existing_memory(by_node, machine, others)
    if request.pages is None:
        guarantee: MemoryGuarantee = "minimum" if tree.version == 2 else "admission"
        whole = requested_bytes // _PAGE_BYTES * _PAGE_BYTES
        if not whole:
            raise InvalidInputError(
                f"--mem {request.text} is less than a page of {show_bytes(_PAGE_BYTES)}.",
                "Request more, for example --mem 8G.",
            )
        return Memory(
            bytes=whole, requested_bytes=requested_bytes, guarantee=guarantee, bytes_by_node=by_node
        )
    page_bytes = parse_bytes(request.pages)
    _demand_pool(page_bytes, sorted(by_node), host)
    pages = {node: -(-size // page_bytes) for node, size in by_node.items() if size}
    whole = sum(pages.values()) * page_bytes
    return Memory(
        bytes=whole,
        requested_bytes=requested_bytes,
        guarantee="pages",
        page_bytes=page_bytes,
        pages=pages,
    )


def pool_actions(
    partitions: Iterable[Partition], before: InitialState, host: Host
) -> tuple[HostAction, ...]:
    """Return the actions that enlarge huge-page pools for all partitions."""
    wanted: dict[str, int] = {}
    for partition in partitions:
        if partition.memory is not None:
            for node, pages in partition.memory.pages.items():
                path = _pool(node, partition.memory.page_bytes, host)
                wanted[path] = wanted.get(path, 0) + pages
    return tuple(
        WriteFile(path=path, value=str(pages + int(before.read(path) or 0)), form="number")
        for path, pages in wanted.items()
    )


def protected_bytes(memory: Memory | None) -> int | None:
    """Return the bytes that a control group protects; ``None`` without memory of its own."""
    if memory is None:
        return None
    return memory.bytes if memory.guarantee == "minimum" else 0


def granted_memory(memory: Memory, missing: Mapping[str, int], host: Host) -> Memory:
    """Return the actual memory of a partition.

    Args:
        memory: planned memory.
        missing: number of missing pages of the last request, by path of the pool.
        host: source of the pools by node.
    """
    if memory.guarantee != "pages":
        return memory
    pages = {
        node: max(0, count - missing.get(_pool(node, memory.page_bytes, host), 0))
        for node, count in memory.pages.items()
    }
    return replace(memory, bytes=sum(pages.values()) * memory.page_bytes, pages=pages)


def _demand_limits(tree: CgroupTree) -> None:
    """Refuse memory if the memory of shares could not be limited.

    Raises:
        NotPossibleError: memory and cpuset controllers are not available together.
    """
    if tree.memory_top is not None:
        return
    mount = (
        " Or mount them, if the kernel supports them (/proc/cgroups): "
        f"mount -t cgroup -o memory none {CGROUP_MOUNT}/memory."
    )
    raise NotPossibleError(
        f"--mem is not supported: the control groups with the cpuset (version {tree.version}) have "
        "no memory controller to limit shares.",
        "Omit the option, or boot with cgroup_no_v1=all to get both in version 2."
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
            raise InvalidInputError(
                f"--mem {text} is too small.", "Omit the option, or request more."
            )
        return {node: each + (rest if place == 0 else 0) for place, node in enumerate(nodes)}
    found: dict[int, int] = {}
    for part in text.split(","):
        match = _BY_NODE.fullmatch(part)
        if match is None:
            raise InvalidInputError(f"--mem: invalid size {part!r}.", "Examples: 8G, or 0:4G,1:4G.")
        if int(match[1]) in found:
            raise InvalidInputError(
                f"--mem {text} names node {int(match[1])} twice.", "Name it once."
            )
        if int(match[1]) not in nodes:
            raise InvalidInputError(
                f"--mem {part}: the CPUs belong to node {format_list(nodes)}.",
                "Choose one of these, or other CPUs.",
            )
        found[int(match[1])] = parse_bytes(match[2])
    if not all(found.values()):
        raise InvalidInputError(f"--mem {text} requests zero bytes of a node.", "Omit that node.")
    return found


def _share_of(node: int, machine: Machine, cpus: Sequence[int], host: Host) -> int:
    """Return the share of a node's free memory that corresponds to the share of its CPUs."""
    own = next((numa_node.cpus for numa_node in machine.nodes if numa_node.id == node), ())
    all_cpus = own or tuple(cpu.id for cpu in machine.cpus)
    share = len(set(all_cpus) & set(cpus)), len(all_cpus)
    text = host.read(f"{NODES}/node{node}/meminfo") or host.read("/proc/meminfo") or ""
    free = sum(_kilobytes(text, name) for name in ("MemFree", "Inactive(file)")) * 1024
    return free * share[0] // share[1] // _ROUNDING_BYTES * _ROUNDING_BYTES


def _kilobytes(text: str, name: str) -> int:
    match = re.search(rf"\b{re.escape(name)}:\s*(\d+) kB", text, re.ASCII)
    return int(match[1]) if match else 0


def _demand_existing_memory(
    by_node: Mapping[int, int], machine: Machine, others: Iterable[Partition]
) -> None:
    """Refuse more memory than a node has: reserved memory must exist.

    Raises:
        NotPossibleError: a node has less; the message names the first one.
    """
    if not any(by_node.values()):
        raise NotPossibleError("No memory is free for --mem auto.", "Request a size.")
    has = {node.id: node.memory_bytes for node in machine.nodes}
    promised: dict[int, int] = {}
    for other in others:
        for node, size in _used_bytes(other).items():
            promised[node] = promised.get(node, 0) + size
    for node, requested_bytes in sorted(by_node.items()):
        total = has.get(node) or machine.memory_bytes
        taken = promised.get(node, 0)
        if requested_bytes > total - taken:
            usage = f", of which partitions use {show_bytes(taken)}" if taken else ""
            raise NotPossibleError(
                f"{show_bytes(requested_bytes)} of node {node} were requested, but it has "
                f"{show_bytes(total)}{usage}.",
                "Request less, or specify sizes by node: --mem 0:4G,1:2G.",
            )


def _used_bytes(partition: Partition) -> dict[int, int]:
    """Return the bytes that a partition uses of each node."""
    memory = partition.memory
    if memory is None:
        return {}
    if memory.guarantee == "pages":
        return {node: pages * memory.page_bytes for node, pages in memory.pages.items()}
    return memory.bytes_by_node


def _demand_pool(page_bytes: int, nodes: Sequence[int], host: Host) -> None:
    """Refuse a page size without a pool in the kernel.

    Raises:
        InvalidInputError: there is no such pool; the message lists the supported sizes.
    """
    if all(host.read(_pool(node, page_bytes, host)) is not None for node in nodes):
        return
    names = (re.fullmatch(r"hugepages-(\d+)kB", name) for name in host.listdir(HUGETLB))
    sizes = sorted(int(match[1]) << 10 for match in names if match)
    sizes_text = ", ".join(map(show_bytes, sizes))
    raise InvalidInputError(
        f"This machine has no huge pages of {show_bytes(page_bytes)}.",
        f"Supported sizes: {sizes_text}." if sizes_text else "Omit --pages.",
    )


def _pool(node: int, page_bytes: int, host: Host) -> str:
    """Return the pool of a node, or that of the whole host without NUMA support."""
    name = f"hugepages-{page_bytes >> 10}kB"
    if host.listdir(f"{NODES}/node{node}/hugepages"):
        return f"{NODES}/node{node}/hugepages/{name}/nr_hugepages"
    return f"{HUGETLB}/{name}/nr_hugepages"
