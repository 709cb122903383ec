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

Make = tuple[int, str, int | None, int | None, int | None]
"""Level, kind, size, line and ways: the common properties of caches of one make."""


def read_caches(root: Root, cpus: tuple[Cpu, ...]) -> tuple[Cache, ...]:
    """Return all caches by make: the nearest level first, data before instructions.

    Args:
        root: root of the machine.
        cpus: CPUs whose caches are read.
    """
    online = tuple(cpu.id for cpu in cpus)
    siblings = {cpu.id: cpu.siblings for cpu in cpus}
    found: dict[Make, set[tuple[int, ...]]] = {}
    for cpu in online:
        folder = f"{_CPU}/cpu{cpu}/cache"
        for name in root.listdir(folder):
            if not re.fullmatch(r"index\d+", name, re.ASCII):
                continue
            make = _model_of(root, f"{folder}/{name}")
            if make is not None:
                # Some Itanium kernels leave the map empty; a cache serves at least its core.
                shared = _shared(root, f"{folder}/{name}", online) or siblings[cpu]
                found.setdefault(make, set()).add(tuple(sorted({cpu, *shared})))
    return tuple(
        Cache(
            level=make[0],
            kind=make[1],
            size_bytes=make[2],
            line_bytes=make[3],
            associativity=make[4],
            shared_by=_without_overlaps(found[make]),
        )
        for make in sorted(found, key=lambda make: (make[0], make[1], make[2] or 0, str(make)))
    )


def _model_of(root: Root, folder: str) -> Make | None:
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
