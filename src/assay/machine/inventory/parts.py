"""Topology as a tree of parts, built from CPUs, caches and nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from assay.machine.document import Machine, Node
from assay.machine.inventory.document import Cache, NodeSpeed, Part
from assay.machine.root import Root

_CPU = "/sys/devices/system/cpu"


@dataclass(eq=False)
class _PartBuilder:
    """A part during the construction of the tree.

    Attributes:
        part: the part itself.
        inner: its children, which share no CPU.
        child_of: child by CPU.
        memory: memory next to it.
    """

    part: Part
    inner: list[_PartBuilder] = field(default_factory=list)
    child_of: dict[int, _PartBuilder] = field(default_factory=dict)
    memory: list[Part] = field(default_factory=list)

    def build(self) -> Part:
        """Return the part with all parts that were inserted."""
        inner = sorted(self.inner, key=lambda child: child.part.cpus)
        return replace(
            self.part, memory=tuple(self.memory), children=tuple(child.build() for child in inner)
        )


def parts_of(
    root: Root, machine: Machine, caches: Iterable[Cache], speeds: Iterable[NodeSpeed] = ()
) -> Part:
    """Return the topology of a machine: packages, dies, caches, cores and CPUs, nested.

    Parts that cross the bounds of a larger part (a cache over two packages, as in some firmware
    tables) are left out.

    Args:
        root: root of the files with core numbers.
        machine: the machine, with its CPUs and nodes.
        caches: result of :func:`assay.machine.inventory.caches.read_caches`.
        speeds: source of caches before memory.
    """
    everything = tuple(cpu.id for cpu in machine.cpus)
    top = _PartBuilder(Part(kind="machine", cpus=everything))
    for part in (
        *_packages(machine),
        *_groups(machine),
        *_dies(machine),
        *_caches(caches),
        *_cores(root, machine),
        *(Part(kind="cpu", id=cpu, cpus=(cpu,)) for cpu in everything),
    ):
        _insert(top, part)
    before = {speed.node: speed.side_cache_bytes for speed in speeds}
    for node in machine.nodes:
        home = _home(top, _near(root, machine.nodes, node))
        home.memory.append(_memory(node, before.get(node.id)))
    return top.build()


def _packages(machine: Machine) -> list[Part]:
    found: dict[int, list[int]] = {}
    for cpu in machine.cpus:
        found.setdefault(cpu.package, []).append(cpu.id)
    return [
        Part(kind="package", id=number, cpus=tuple(cpus)) for number, cpus in sorted(found.items())
    ]


def _groups(machine: Machine) -> list[Part]:
    """Return the CPUs of nodes as groups; a group equal to its parent is dropped later."""
    return [
        Part(kind="group", cpus=node.cpus)
        for node in sorted(machine.nodes, key=lambda node: -len(node.cpus))
        if node.cpus
    ]


def _dies(machine: Machine) -> list[Part]:
    found: dict[tuple[int, int], list[int]] = {}
    for cpu in machine.cpus:
        found.setdefault((cpu.package, cpu.die), []).append(cpu.id)
    several = len(found) > len({package for package, _ in found})
    return [
        Part(kind="die", id=die, cpus=tuple(cpus))
        for (_, die), cpus in sorted(found.items())
        if several
    ]


def _caches(caches: Iterable[Cache]) -> list[Part]:
    ordered = sorted(caches, key=lambda cache: (-cache.level, cache.kind == "instruction"))
    return [
        Part(
            kind=f"l{cache.level}{'i' if cache.kind == 'instruction' else ''}",
            cpus=cpus,
            size_bytes=cache.size_bytes,
        )
        for cache in ordered
        for cpus in cache.shared_by
    ]


def _cores(root: Root, machine: Machine) -> list[Part]:
    siblings = dict.fromkeys(cpu.siblings for cpu in machine.cpus)
    return [
        Part(
            kind="core",
            id=root.read_int(f"{_CPU}/cpu{cpus[0]}/topology/core_id"),
            cpus=cpus,
        )
        for cpus in siblings
    ]


def _insert(here: _PartBuilder, part: Part) -> None:
    """Insert a part into the smallest part that contains it; larger kinds come first."""
    if not part.cpus or (part.kind == "group" and part.cpus == here.part.cpus):
        return
    children = [here.child_of.get(cpu) for cpu in part.cpus]
    first = children[0]
    if first is not None and all(child is first for child in children):
        _insert(first, part)
        return
    held = list({id(child): child for child in children if child is not None}.values())
    wanted = frozenset(part.cpus)
    if any(not wanted.issuperset(child.part.cpus) for child in held):
        return
    inner_of = {cpu: child for cpu, child in zip(part.cpus, children, strict=True) if child}
    fresh = _PartBuilder(part, held, inner_of)
    if held:
        here.inner = [child for child in here.inner if child not in held]
    here.inner.append(fresh)
    here.child_of.update(dict.fromkeys(part.cpus, fresh))


def _near(root: Root, nodes: tuple[Node, ...], node: Node) -> tuple[int, ...]:
    """Return the CPUs of a node, else the nearest ones by firmware, else those of the nearest node.

    The result is empty if several nodes are equally near.
    """
    if node.cpus:
        return node.cpus
    cpus_of = {other.id: other.cpus for other in nodes if other.cpus}
    nearest = {cpu for other in _initiators(root, node.id) for cpu in cpus_of.get(other, ())}
    if nearest or len(node.distances) != len(nodes):
        return tuple(sorted(nearest))
    others = sorted(
        (distance, other.id)
        for other, distance in zip(nodes, node.distances, strict=True)
        if other.cpus
    )
    alone = len(others) == 1 or (len(others) > 1 and others[0][0] < others[1][0])
    return cpus_of[others[0][1]] if alone else ()


def _initiators(root: Root, node: int) -> list[int]:
    """Return the nodes whose CPUs are nearest to a node's memory (ACPI HMAT; Linux 5.2)."""
    for access in ("access1", "access0"):
        names = root.listdir(f"/sys/devices/system/node/node{node}/{access}/initiators")
        matches = (re.fullmatch(r"node(\d+)", name, re.ASCII) for name in names)
        found = [int(match[1]) for match in matches if match]
        if found:
            return found
    return []


def _home(top: _PartBuilder, cpus: tuple[int, ...]) -> _PartBuilder:
    """Return the outermost part below the top with these CPUs; the top if there is none."""
    here = top
    while cpus:
        inner = next((child for child in here.inner if set(cpus) <= set(child.part.cpus)), None)
        if inner is None or set(inner.part.cpus) == set(cpus):
            return inner or here
        here = inner
    return top


def _memory(node: Node, side_cache_bytes: int | None) -> Part:
    memory = Part(
        kind="node", id=node.id, name=node.kind, cpus=node.cpus, size_bytes=node.memory_bytes
    )
    if not side_cache_bytes:
        return memory
    return Part(kind="memcache", cpus=node.cpus, size_bytes=side_cache_bytes, memory=(memory,))
