"""Caches: levels, sizes, and the CPUs that share them.

Interface: ``Documentation/ABI/testing/sysfs-devices-system-cpu`` (``cache/index*``).
"""

from __future__ import annotations

import re

from assay.errors import InvalidInputError
from assay.machine.cpulist import parse_list, parse_mask
from assay.machine.document import Cpu
from assay.machine.inventory.document import Cache
from assay.machine.root import Root

_CPU = "/sys/devices/system/cpu"
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "": 1}

CacheProperties = tuple[int, str, int | None, int | None, int | None]
"""Level, kind, size, line size and associativity."""


def read_caches(root: Root, cpus: tuple[Cpu, ...]) -> tuple[Cache, ...]:
    """Return the groups of equal caches: the nearest level first, data before instructions.

    Args:
        root: root of the machine.
        cpus: CPUs whose caches are read.
    """
    online = tuple(cpu.id for cpu in cpus)
    siblings = {cpu.id: cpu.siblings for cpu in cpus}
    found: dict[CacheProperties, set[tuple[int, ...]]] = {}
    for cpu in online:
        folder = f"{_CPU}/cpu{cpu}/cache"
        for name in root.listdir(folder):
            if not re.fullmatch(r"index\d+", name, re.ASCII):
                continue
            properties = _properties(root, f"{folder}/{name}")
            if properties is not None:
                # Some Itanium kernels leave the map empty; a cache serves at least its core.
                shared = _shared(root, f"{folder}/{name}", online) or siblings[cpu]
                found.setdefault(properties, set()).add(tuple(sorted({cpu, *shared})))
    return tuple(
        Cache(
            level=properties[0],
            kind=properties[1],
            size_bytes=properties[2],
            line_bytes=properties[3],
            associativity=properties[4],
            shared_by=_without_overlaps(found[properties]),
        )
        for properties in sorted(found, key=lambda each: (*each[:2], each[2] or 0, str(each)))
    )


def _properties(root: Root, folder: str) -> CacheProperties | None:
    level = root.read_int(f"{folder}/level")
    kind = (root.read_text(f"{folder}/type") or "").lower()
    if level is None or level < 1 or kind not in ("unified", "data", "instruction"):
        return None
    return (
        level,
        kind,
        _size_bytes(root.read_text(f"{folder}/size")),
        root.read_int(f"{folder}/coherency_line_size") or None,
        root.read_int(f"{folder}/ways_of_associativity") or None,
    )


def _size_bytes(text: str | None) -> int | None:
    match = re.fullmatch(r"(\d+)([KMG]?)", text or "", re.ASCII)
    return int(match[1]) * _UNITS[match[2]] or None if match else None


def _shared(root: Root, folder: str, online: tuple[int, ...]) -> set[int]:
    mask, listed = (root.read_text(f"{folder}/shared_cpu_{form}") for form in ("map", "list"))
    try:
        cpus = parse_mask(mask) if mask else parse_list(listed) if listed else ()
    except InvalidInputError:
        cpus = ()
    return set(cpus) & set(online)


def _without_overlaps(groups: set[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Return the groups without overlaps, the widest first: contradicting files count once."""
    kept: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for group in sorted(groups, key=lambda group: (-len(group), group)):
        if taken.isdisjoint(group):
            kept.append(group)
            taken.update(group)
    return tuple(sorted(kept))
