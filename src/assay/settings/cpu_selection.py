"""Selection of CPUs for a number of threads: pure functions over a topology.

Every function takes the usable CPUs and returns CPU numbers among them, ascending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from assay.machine.document import Cpu

_Level = Callable[[Cpu], object]

_LEVELS: tuple[_Level, ...] = (
    lambda cpu: cpu.package,
    lambda cpu: cpu.node,
    lambda cpu: cpu.l3,
    lambda cpu: cpu.core,
)


def compact(cpus: Sequence[Cpu], count: int) -> tuple[int, ...]:
    """Return ``count`` CPUs that are as close together as possible.

    They are in one core, cache, node or package if they fit. SMT siblings come first, since they
    are closest. Performance cores come before efficiency cores. If no group is large enough, whole
    groups are used, the largest first.
    """
    return _numbers(_closest(_ranked(cpus), count, _LEVELS))


def scatter(cpus: Sequence[Cpu], count: int) -> tuple[int, ...]:
    """Return ``count`` CPUs that share as little as possible: packages, nodes and caches in turn.

    No core gets a second thread before every core has one.
    """
    spread = [cpu for layer in _sibling_layers(cpus) for cpu in _in_turn(layer, _LEVELS)]
    return _numbers(spread[:count])


def one_per_core(cpus: Sequence[Cpu], count: int | None = None) -> tuple[int, ...]:
    """Return one CPU per core, as close together as possible; of all cores without a count."""
    firsts = _sibling_layers(cpus)[0] if cpus else []
    return _numbers(_closest(_ranked(firsts), len(firsts) if count is None else count, _LEVELS))


def groups(cpus: Sequence[Cpu], level: str) -> tuple[tuple[int, ...], ...]:
    """Return the CPUs by a shared part: ``package``, ``node``, ``l3`` or ``core``."""
    return tuple(_numbers(g) for g in _split(cpus, lambda cpu: getattr(cpu, level)))


def _numbers(cpus: Sequence[Cpu]) -> tuple[int, ...]:
    return tuple(sorted(cpu.id for cpu in cpus))


def _rank(cpu: Cpu) -> tuple[bool, int]:
    return cpu.kind == "efficiency", cpu.id


def _ranked(cpus: Sequence[Cpu]) -> list[Cpu]:
    return sorted(cpus, key=_rank)


def _split(cpus: Sequence[Cpu], *levels: _Level) -> list[list[Cpu]]:
    found: dict[object, list[Cpu]] = {}
    for cpu in cpus:
        found.setdefault(tuple(level(cpu) for level in levels), []).append(cpu)
    return list(found.values())


def _closest(cpus: list[Cpu], count: int, levels: tuple[_Level, ...]) -> list[Cpu]:
    """Return CPUs of the innermost group with ``count`` CPUs, the first of equal groups."""
    for depth in range(len(levels), 0, -1):
        for part in _split(cpus, *levels[:depth]):
            if len(part) >= count:
                return _whole_groups(part, count, levels[depth:])
    return _whole_groups(cpus, count, levels)


def _whole_groups(cpus: list[Cpu], count: int, levels: tuple[_Level, ...]) -> list[Cpu]:
    """Return whole inner groups, the largest first, then a part of one."""
    if not levels or count >= len(cpus):
        return cpus[:count]
    taken: list[Cpu] = []
    for part in sorted(_split(cpus, levels[0]), key=len, reverse=True):
        if len(part) > count - len(taken):
            break
        taken += part
    ids = {cpu.id for cpu in taken}
    left = [cpu for cpu in cpus if cpu.id not in ids]
    return taken + _closest(left, count - len(taken), levels)


def _sibling_layers(cpus: Sequence[Cpu]) -> list[list[Cpu]]:
    """Return the first usable CPU of every core, then the second ones, and so on."""
    cores = _split(_ranked(cpus), lambda cpu: cpu.core)
    return [[cpu for cpu in layer if cpu is not None] for layer in zip_longest(*cores)]


def _in_turn(cpus: list[Cpu], levels: tuple[_Level, ...]) -> list[Cpu]:
    if not levels:
        return cpus
    parts = [_in_turn(part, levels[1:]) for part in _split(cpus, levels[0])]
    return [cpu for turn in zip_longest(*parts) for cpu in turn if cpu is not None]
