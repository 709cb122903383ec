"""Memory performance by the firmware, and pools of huge pages.

Interfaces: ``Documentation/admin-guide/mm/numaperf.rst`` (Linux 5.2),
``admin-guide/mm/hugetlbpage.rst``, ``admin-guide/mm/transhuge.rst``.
"""

from __future__ import annotations

import re

from assay.machine.inventory.document import NodeSpeed, Pool
from assay.machine.root import Root
from assay.machine.state import read_thp_sizes

_NODE = "/sys/devices/system/node"
_POOLS = "/sys/kernel/mm/hugepages"


def read_speeds(root: Root, nodes: tuple[int, ...]) -> tuple[NodeSpeed, ...]:
    """Return bandwidth, latency and memory-side caches of nodes with any of them."""
    found = (_speed(root, node) for node in nodes)
    return tuple(speed for speed in found if speed != NodeSpeed(node=speed.node))


def _speed(root: Root, node: int) -> NodeSpeed:
    return NodeSpeed(
        node=node,
        read_mb_s=_attribute(root, node, "read_bandwidth"),
        write_mb_s=_attribute(root, node, "write_bandwidth"),
        read_latency_ns=_attribute(root, node, "read_latency"),
        write_latency_ns=_attribute(root, node, "write_latency"),
        side_cache_bytes=_side_cache_bytes(root, node),
    )


def _attribute(root: Root, node: int, name: str) -> int | None:
    # access1 (Linux 5.10) is for the nearest CPUs, access0 for the nearest initiator of any kind.
    for access in ("access1", "access0"):
        found = root.read_int(f"{_NODE}/node{node}/{access}/initiators/{name}")
        if found:
            return found
    return None


def _side_cache_bytes(root: Root, node: int) -> int | None:
    folder = f"{_NODE}/node{node}/memory_side_cache"
    sizes = (root.read_int(f"{folder}/{name}/size") for name in root.listdir(folder))
    return sum(size for size in sizes if size) or None


def read_pools(root: Root, nodes: tuple[int, ...]) -> tuple[Pool, ...]:
    """Return the pools of huge pages: for each size that of the host, then those of its nodes."""
    found: list[Pool] = []
    for size_bytes, name in _sizes(root):
        found.append(_pool(root, f"{_POOLS}/{name}", size_bytes, None))
        for node in nodes:
            folder = f"{_NODE}/node{node}/hugepages/{name}"
            if root.exists(folder):
                found.append(_pool(root, folder, size_bytes, node))
    return tuple(found)


def _sizes(root: Root) -> list[tuple[int, str]]:
    matches = (re.fullmatch(r"hugepages-(\d+)kB", n, re.ASCII) for n in root.listdir(_POOLS))
    return sorted((int(match[1]) * 1024, match[0]) for match in matches if match)


def _pool(root: Root, folder: str, size_bytes: int, node: int | None) -> Pool:
    return Pool(
        size_bytes=size_bytes,
        node=node,
        pages=root.read_int(f"{folder}/nr_hugepages") or 0,
        free=root.read_int(f"{folder}/free_hugepages") or 0,
        overcommit=root.read_int(f"{folder}/nr_overcommit_hugepages"),
    )


def read_mthp(root: Root) -> dict[str, str]:
    """Return the modes of transparent huge pages by size in bytes (Linux 6.8)."""
    return {str(kib * 1024): word for kib, word in read_thp_sizes(root).items()}
