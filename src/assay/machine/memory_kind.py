"""Memory kind: what the memory of a NUMA node is made of, as far as the kernel tells.

It tells it nowhere in one word. A node with CPUs holds what those were built for, ``dram`` (also
where that is high-bandwidth memory alone, which nothing shows). One without CPUs is told by, in
this order:

- the device that its memory came from (``/sys/bus/dax/devices/*/target_node``, Linux 5.1): below a
  CXL region it is ``cxl``, below an NVDIMM bus ``pmem``;
- the read bandwidth that its firmware gives (``Documentation/admin-guide/mm/numaperf.rst``, Linux
  5.2): above that of the best node with CPUs it is ``hbm``, below it ``cxl``;
- its tier (``/sys/devices/virtual/memory_tiering``, Linux 6.1; a higher number is slower):
  before that of a node with CPUs it is ``hbm``, after it ``cxl``.

Memory that is slower and came from no known device may be something else than CXL: the word is a
guess then.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.errors import InvalidInputError
from assay.machine.cpulist import parse_list
from assay.machine.root import Root

_NODE = "/sys/devices/system/node"
_DAX = "/sys/bus/dax/devices"
_TIERS = "/sys/devices/virtual/memory_tiering"


def memory_kinds(root: Root, cpus_of: Mapping[int, tuple[int, ...]]) -> dict[int, str]:
    """Node -> kind of its memory, of those where it can be told.

    Args:
        root: where it is read.
        cpus_of: every node that has memory, with its CPUs.
    """
    ordinary = [node for node, cpus in cpus_of.items() if cpus]
    kinds = dict.fromkeys(ordinary, "dram")
    others = sorted(cpus_of.keys() - kinds.keys())
    devices = _devices(root) if others else {}
    for node in others:
        kind = (
            devices.get(node)
            or _by_speed({n: _bandwidth(root, n) for n in (*ordinary, node)}, node)
            or _by_speed({n: _tier_speed(root, n) for n in (*ordinary, node)}, node)
        )
        if kind:
            kinds[node] = kind
    return kinds


def _devices(root: Root) -> dict[int, str]:
    found: dict[int, str] = {}
    for name in root.listdir(_DAX):
        node = root.read_int(f"{_DAX}/{name}/target_node")
        path = root.real(f"{_DAX}/{name}") or ""
        if node is None or node < 0:
            continue
        if re.search(r"/region\d+/dax_region\d+/", path):
            found[node] = "cxl"
        elif "/ndbus" in path:
            found[node] = "pmem"
    return found


def _by_speed(speeds: Mapping[int, int | None], node: int) -> str | None:
    """Hold a node's speed against the best of the others."""
    own = speeds[node]
    others = [speed for other, speed in speeds.items() if other != node and speed is not None]
    if own is None or not others or own == max(others):
        return None
    return "hbm" if own > max(others) else "cxl"


def _bandwidth(root: Root, node: int) -> int | None:
    """MB/s from the CPUs nearest to it; ``access1`` (Linux 5.10) leaves out other initiators."""
    for access in ("access1", "access0"):
        found = root.read_int(f"{_NODE}/node{node}/{access}/initiators/read_bandwidth")
        if found:
            return found
    return None


def _tier_speed(root: Root, node: int) -> int | None:
    for name in root.listdir(_TIERS):
        match = re.fullmatch(r"memory_tier(\d+)", name, re.ASCII)
        if match is None:
            continue
        try:
            nodes = parse_list(root.read_text(f"{_TIERS}/{name}/nodelist") or "")
        except InvalidInputError:
            continue
        if node in nodes:
            return -int(match[1])
    return None
