"""Caches: levels, sizes, and the CPUs that share them.

Interface: ``Documentation/ABI/testing/sysfs-devices-system-cpu`` (``cache/index*``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from assay.errors import InvalidInputError
from assay.machine.cpulist import parse_list, parse_mask
from assay.machine.document import Cpu
from assay.machine.inventory.document import Cache
from assay.machine.root import Root

_CPU = "/sys/devices/system/cpu"
_FILES = (
    "level",
    "type",
    "size",
    "coherency_line_size",
    "ways_of_associativity",
    "shared_cpu_map",
)
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "": 1}

CacheProperties = tuple[int, str, int | None, int | None, int | None]
"""Level, kind, size, line size and associativity."""


def read_caches(root: Root, cpus: tuple[Cpu, ...]) -> tuple[Cache, ...]:
    """Return the groups of equal caches: the nearest level first, data before instructions.

    Args:
        root: root of the machine.
        cpus: CPUs whose caches are read.
    """
    online = frozenset(cpu.id for cpu in cpus)
    siblings = {cpu.id: cpu.siblings for cpu in cpus}
    found: dict[CacheProperties, set[tuple[int, ...]]] = {}
    names_of: dict[int, list[str]] = {}
    described: dict[str, set[int]] = defaultdict(set)
    """CPUs by name of a directory whose cache another CPU has described already."""
    for cpu in sorted(online):
        folder = f"{_CPU}/cpu{cpu}/cache"
        first = siblings[cpu][0]
        if cpu != first and all(cpu in described[name] for name in names_of.get(first) or [""]):
            continue  # the threads of a core have the same caches
        names = [n for n in root.listdir(folder) if re.fullmatch(r"index\d+", n, re.ASCII)]
        names_of[cpu] = names
        for name in names:
            known = described[name]
            if cpu in known:
                continue
            texts = root.read_texts(f"{folder}/{name}", _FILES)
            properties = _properties(texts)
            if properties is not None:
                # Some Itanium kernels leave the map empty; a cache serves at least its core.
                shared = _shared(root, f"{folder}/{name}", texts, online) or siblings[cpu]
                known.update(shared)
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


def _properties(texts: Mapping[str, str]) -> CacheProperties | None:
    level = _number(texts.get("level"))
    kind = texts.get("type", "").lower()
    if level is None or level < 1 or kind not in ("unified", "data", "instruction"):
        return None
    return (
        level,
        kind,
        _size_bytes(texts.get("size")),
        _number(texts.get("coherency_line_size")) or None,
        _number(texts.get("ways_of_associativity")) or None,
    )


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def _size_bytes(text: str | None) -> int | None:
    match = re.fullmatch(r"(\d+)([KMG]?)", text or "", re.ASCII)
    return int(match[1]) * _UNITS[match[2]] or None if match else None


def _shared(
    root: Root, folder: str, texts: Mapping[str, str], online: frozenset[int]
) -> frozenset[int]:
    mask = texts.get("shared_cpu_map")
    listed = None if mask else root.read_text(f"{folder}/shared_cpu_list")
    try:
        cpus = parse_mask(mask) if mask else parse_list(listed) if listed else ()
    except InvalidInputError:
        cpus = ()
    return online.intersection(cpus)


def _without_overlaps(groups: set[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Return the groups without overlaps, the widest first: contradicting files count once."""
    kept: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for group in sorted(groups, key=lambda group: (-len(group), group)):
        if taken.isdisjoint(group):
            kept.append(group)
            taken.update(group)
    return tuple(sorted(kept))
