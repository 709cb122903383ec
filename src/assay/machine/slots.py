"""Slots: the CPUs that may be used, divided into equal parts for launches side by side.

A slot holds whole cores. All slots have the same shape: as many cores of each kind, with as many
usable threads each, out of equally placed parts of the machine. Packages, nodes and last-level
caches are given to one slot as a whole where their number allows it.
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
"""What is shared, from the outside in."""


def slots(cpus: Sequence[Cpu], count: int) -> tuple[Slot, ...]:
    """Disjoint slots of equal shape.

    Where the cores cannot be shared out without a rest, some are left out.

    Args:
        cpus: that may be used.
        count: of slots, at least 1.

    Raises:
        NotPossibleError: there are too few whole cores of a kind for that.
    """
    cores = len({cpu.core for cpu in cpus})
    found = _divided(list(cpus), count) if count <= cores else None
    if found is None:
        raise NotPossibleError(
            f"The {len(cpus)} CPUs that assay may use ({format_list(sorted(c.id for c in cpus))}) "
            f"cannot be divided into {count} equal slots: each takes a whole core, and there are "
            f"{cores} that may be used.",
            "Give --parallel fewer, or leave it out: launches then run one after another.",
        )
    return tuple(tuple(sorted(cpu.id for cpu in part)) for part in found)


def machine_per_slot(machine: Machine, parallel: int | None) -> list[Machine]:
    """A machine as programs in each of its slots have it; as it is where it has none.

    Raises:
        NotPossibleError: it cannot be divided so.
    """
    if parallel is None:
        return [machine]
    found = slots(machine.usable, parallel)
    return [msgspec.structs.replace(machine, allowed=slot) for slot in found]


def unassigned_cpus(cpus: Sequence[Cpu], taken: Sequence[Slot]) -> Slot:
    """The CPUs that are in no slot."""
    used = {cpu for slot in taken for cpu in slot}
    return tuple(sorted(cpu.id for cpu in cpus if cpu.id not in used))


def _divided(cpus: list[Cpu], count: int) -> list[list[Cpu]] | None:
    """Whole packages, nodes or caches to each; else equal parts of each; else of all cores."""
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
    """As many cores of each place and kind to each; where that is none, slots within one place."""
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
    """Slots that each lie in one place, as large as so many can be; of one kind of cores."""
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
    """What makes cores alike: their kind and how many of their threads may be used."""
    return core[0].kind or "", len(core)


def _shape(cpus: list[Cpu]) -> tuple[object, ...]:
    """What makes parts of a machine alike: what they hold, and how it is placed."""
    inner = [
        tuple(sorted(len(group) for group in _split(cpus, level))) for level in (*_LEVELS, "core")
    ]
    return (*inner, tuple(sorted(_kind(core) for core in _split(cpus, "core"))))
