"""Kind of the memory of a NUMA node, as far as the kernel reports it.

No single file contains it. A node with CPUs has their ordinary memory, ``dram`` (also if it has
only high-bandwidth memory, which is not visible). The kind of a node without CPUs is derived in
this order from:

- the device of its memory (``/sys/bus/dax/devices/*/target_node``, Linux 5.1): below a CXL region
  it is ``cxl``, below an NVDIMM bus ``pmem``;
- its read bandwidth by the firmware (``Documentation/admin-guide/mm/numaperf.rst``, Linux 5.2):
  above that of the best node with CPUs it is ``hbm``, below it ``cxl``;
- its tier (``/sys/devices/virtual/memory_tiering``, Linux 6.1; a higher number is slower): before
  that of a node with CPUs it is ``hbm``, after it ``cxl``.

Slower memory without a known device may not be CXL: in that case, the kind is a guess.
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
    """Return the kind of memory by node, for nodes whose kind is known.

    Args:
        root: root of the machine.
        cpus_of: every node with memory, with its CPUs.
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
    """Compare a node's speed with the best of the other nodes."""
    own = speeds[node]
    others = [speed for other, speed in speeds.items() if other != node and speed is not None]
    if own is None or not others or own == max(others):
        return None
    return "hbm" if own > max(others) else "cxl"


def _bandwidth(root: Root, node: int) -> int | None:
    """Return MB/s from the nearest CPUs; ``access1`` (Linux 5.10) excludes other initiators."""
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
