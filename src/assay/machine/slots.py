"""Slots: equal parts of the usable CPUs for parallel launches.

A slot consists of whole cores. All slots have the same shape: the same number of cores of each
kind, with the same number of usable threads, in equivalent parts of the machine. Packages, nodes
and last-level caches belong to one slot if their number permits it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.errors import NotPossibleError
from assay.machine.cpulist import format_list
from assay.machine.document import Cpu, Machine

Slot = tuple[int, ...]
"""CPU numbers, ascending."""

_LEVELS = ("package", "node", "l3")
"""Shared parts, from the outside in."""


def slots(cpus: Sequence[Cpu], count: int) -> tuple[Slot, ...]:
    """Return disjoint slots of equal shape.

    If the cores cannot be divided evenly, some are left out.

    Args:
        cpus: usable CPUs.
        count: number of slots, at least 1.

    Raises:
        NotPossibleError: there are too few whole cores of a kind.
    """
    cores = len({cpu.core for cpu in cpus})
    found = _divided(list(cpus), count) if count <= cores else None
    if found is None:
        raise NotPossibleError(
            f"The {len(cpus)} CPUs that assay may use ({format_list(sorted(c.id for c in cpus))})"
            f" cannot be divided into {count} equal slots: each needs a whole core, and {cores}"
            " are usable.",
            "Reduce --parallel, or remove it to run launches one after another.",
        )
    return tuple(tuple(sorted(cpu.id for cpu in part)) for part in found)


def machine_per_slot(machine: Machine, parallel: int | None) -> list[Machine]:
    """Return the machine as seen by programs in each slot; unchanged without slots.

    Raises:
        NotPossibleError: the machine cannot be divided.
    """
    if parallel is None:
        return [machine]
    found = slots(machine.usable, parallel)
    return [msgspec.structs.replace(machine, allowed_cpus=slot) for slot in found]


def unassigned_cpus(cpus: Sequence[Cpu], taken: Sequence[Slot]) -> Slot:
    """Return the CPUs that are in no slot."""
    used = {cpu for slot in taken for cpu in slot}
    return tuple(sorted(cpu.id for cpu in cpus if cpu.id not in used))


def _divided(cpus: list[Cpu], count: int) -> list[list[Cpu]] | None:
    """Return whole packages, nodes or caches per slot; else equal parts of them or of all cores."""
    if count == 1:
        return [cpus]
    for level in _LEVELS:
        parts = _split(cpus, level)
        if len(parts) == 1 or len({_shape(part) for part in parts}) > 1:
            continue
        if len(parts) % count == 0:
            each = len(parts) // count
            runs = [parts[at * each : (at + 1) * each] for at in range(count)]
            found = [[cpu for part in run for cpu in part] for run in runs]
            if len({_shape(slot) for slot in found}) == 1:
                return found
        if count % len(parts) == 0:
            inner = [_divided(part, count // len(parts)) for part in parts]
            found = [slot for inside in inner for slot in inside or ()]
            if all(inner) and len({_shape(slot) for slot in found}) == 1:
                return found
    return _dealt(cpus, count)


def _dealt(cpus: list[Cpu], count: int) -> list[list[Cpu]] | None:
    """Return the same cores of each place and kind per slot; else slots within one place."""
    classes: dict[object, list[list[Cpu]]] = {}
    for core in _split(cpus, "core"):
        place = tuple(getattr(core[0], level) for level in _LEVELS)
        classes.setdefault((place, _kind(core)), []).append(core)
    found: list[list[Cpu]] = [[] for _ in range(count)]
    for cores in classes.values():
        each = len(cores) // count
        for at, slot in enumerate(found):
            slot += [cpu for core in cores[at * each : (at + 1) * each] for cpu in core]
    return found if found[0] else _packed(list(classes.values()), count)


def _packed(classes: list[list[list[Cpu]]], count: int) -> list[list[Cpu]] | None:
    """Return the largest slots within one place each, with one kind of cores."""
    kinds = dict.fromkeys(_kind(cores[0]) for cores in classes)
    for each in range(max(map(len, classes)), 0, -1):
        for kind in kinds:
            runs = [
                cores[at : at + each]
                for cores in classes
                if _kind(cores[0]) == kind
                for at in range(0, len(cores) - each + 1, each)
            ]
            if len(runs) >= count:
                return [[cpu for core in run for cpu in core] for run in runs[:count]]
    return None


def _split(cpus: list[Cpu], level: str) -> list[list[Cpu]]:
    groups: dict[object, list[Cpu]] = {}
    for cpu in cpus:
        groups.setdefault(getattr(cpu, level), []).append(cpu)
    return list(groups.values())


def _kind(core: list[Cpu]) -> tuple[str, int]:
    """Return the properties by which cores are equal: kind, and number of usable threads."""
    return core[0].kind or "", len(core)


def _shape(cpus: list[Cpu]) -> tuple[object, ...]:
    """Return the properties by which parts of a machine are equal: contents and structure."""
    inner = [
        tuple(sorted(len(group) for group in _split(cpus, level))) for level in (*_LEVELS, "core")
    ]
    return (*inner, tuple(sorted(_kind(core) for core in _split(cpus, "core"))))
