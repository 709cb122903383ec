"""Topology: CPUs, cores, packages, shared caches and NUMA nodes.

Interfaces: ``Documentation/ABI/stable/sysfs-devices-{system-cpu,node}``,
``Documentation/admin-guide/cputopology.rst``. Inconsistent trees are read as by hwloc.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from itertools import pairwise

import msgspec

from assay.errors import InvalidInputError
from assay.machine.cpulist import parse_list, parse_mask, read_list
from assay.machine.document import Cpu, Node
from assay.machine.frequency_domains import CPUFREQ, domain_texts
from assay.machine.memory_kind import memory_kinds
from assay.machine.root import Root

_CPU = "/sys/devices/system/cpu"
_NODE = "/sys/devices/system/node"

_INTEL_KINDS = {
    "cpu_core": "performance",
    "cpu_atom": "efficiency",
    "cpu_lowpower": "efficiency",
}
"""Event sources of the core kinds of hybrid Intel processors (since Linux 5.13)."""

_NEAR = 0.9
"""Ratio above which capacities or frequencies are of one kind: favoured cores differ by less."""


class Topology(msgspec.Struct, frozen=True):
    """Every online CPU, and every NUMA node with CPUs or memory, both ascending."""

    cpus: tuple[Cpu, ...]
    nodes: tuple[Node, ...]


def read_topology(root: Root, memory_bytes: int = 0) -> Topology:
    """Return the topology of a machine.

    Args:
        root: root of the machine.
        memory_bytes: memory of the host, for the single node of a machine without NUMA files.
    """
    online = _online(root)
    nodes = _nodes(root, online) or (Node(id=0, cpus=online, memory_bytes=memory_bytes),)
    node_of = {cpu: node.id for node in nodes for cpu in node.cpus}
    siblings = _groups(online, lambda cpu: _core_cpus(root, cpu))
    packages = _packages(root, online)
    caches = _last_caches(root, siblings)
    dies = _dies(root, siblings)
    max_khz = _max_khz(root, online)
    kinds = _kinds(root, online, max_khz)
    cpus = tuple(
        Cpu(
            id=cpu,
            core=siblings[cpu][0],
            siblings=siblings[cpu],
            package=packages[cpu],
            die=dies[cpu],
            node=node_of[cpu],
            l3=caches.get(cpu),
            max_khz=max_khz.get(cpu),
            kind=kinds.get(cpu),
        )
        for cpu in online
    )
    return Topology(cpus=cpus, nodes=nodes)


def _numbered(names: Iterable[str], stem: str) -> tuple[int, ...]:
    matches = (re.fullmatch(rf"{stem}(\d+)", name, re.ASCII) for name in names)
    return tuple(sorted(int(match[1]) for match in matches if match))


def _cpus(root: Root, folder: str, *names: str) -> tuple[int, ...] | None:
    """Return the CPUs of the first existing file: a list if its name says so, else a mask."""
    for name in names:
        text = root.read_text(f"{folder}/{name}")
        if not text:
            continue
        try:
            return parse_list(text) if name.endswith("list") else parse_mask(text)
        except InvalidInputError:
            continue
    return None


def _online(root: Root) -> tuple[int, ...]:
    listed = read_list(root, f"{_CPU}/online")
    if listed:
        return listed
    known = _numbered(root.listdir(_CPU), "cpu")
    # Before 2.6.28 an offline CPU is visible only in its own file, or by its missing topology.
    described = {cpu for cpu in known if root.exists(f"{_CPU}/cpu{cpu}/topology")}
    on = tuple(
        cpu
        for cpu in known
        if root.read_int(f"{_CPU}/cpu{cpu}/online") != 0 and (cpu in described or not described)
    )
    return on or _without_sysfs(root)


def _without_sysfs(root: Root) -> tuple[int, ...]:
    text = root.read_text("/proc/cpuinfo") or ""
    found = {int(number) for number in re.findall(r"^processor\s*:\s*(\d+)$", text, re.M)}
    if not found and root.live:
        found = os.sched_getaffinity(0)
    return tuple(sorted(found)) or (0,)


def _groups(
    online: tuple[int, ...], members: Callable[[int], tuple[int, ...] | None]
) -> dict[int, tuple[int, ...]]:
    """Return the group of each CPU, ascending: always a partition of the online CPUs."""
    found: dict[int, tuple[int, ...]] = {}
    known = set(online)
    for cpu in online:
        if cpu in found:
            continue
        named = set(members(cpu) or ())
        fresh = {other for other in named if other in known and other not in found}
        group = tuple(sorted(fresh | {cpu}))
        found.update(dict.fromkeys(group, group))
    return found


def _core_cpus(root: Root, cpu: int) -> tuple[int, ...] | None:
    # core_cpus was added in Linux 5.3, lists in 2.6.26; masks are older.
    return _cpus(
        root,
        f"{_CPU}/cpu{cpu}/topology",
        "core_cpus_list",
        "thread_siblings_list",
        "core_cpus",
        "thread_siblings",
    )


def _packages(root: Root, online: tuple[int, ...]) -> dict[int, int]:
    """Return the package by CPU: the kernel's number if unique, else the smallest CPU."""
    groups = _groups(online, lambda cpu: _package_cpus(root, cpu) or online)
    firsts = sorted({group[0] for group in groups.values()})
    numbers = {
        first: root.read_int(f"{_CPU}/cpu{first}/topology/physical_package_id") for first in firsts
    }
    if len(firsts) == 1 and numbers[firsts[0]] in (None, -1):
        return dict.fromkeys(online, 0)
    named = [number for number in numbers.values() if number is not None and number >= 0]
    distinct = len(set(named)) == len(firsts)
    return {
        cpu: (numbers[group[0]] or 0) if distinct else group[0] for cpu, group in groups.items()
    }


def _package_cpus(root: Root, cpu: int) -> tuple[int, ...] | None:
    return _cpus(
        root,
        f"{_CPU}/cpu{cpu}/topology",
        "package_cpus_list",
        "core_siblings_list",
        "package_cpus",
        "core_siblings",
    )


def _dies(root: Root, siblings: dict[int, tuple[int, ...]]) -> dict[int, int]:
    """Return the number of the die by CPU, unique within a package only; 0 if it is unknown."""
    # die_cpus_list was added in Linux 5.3, with die_id; both are missing before 5.2.
    groups = _groups(
        tuple(siblings),
        lambda cpu: _cpus(root, f"{_CPU}/cpu{cpu}/topology", "die_cpus_list") or siblings[cpu],
    )
    numbers = {
        first: max(0, root.read_int(f"{_CPU}/cpu{first}/topology/die_id") or 0)
        for first in {group[0] for group in groups.values()}
    }
    return {cpu: numbers[group[0]] for cpu, group in groups.items()}


def _last_caches(root: Root, siblings: dict[int, tuple[int, ...]]) -> dict[int, int]:
    """Return the smallest CPU that shares the last-level cache, by CPU, if known."""
    undescribed: set[int] = set()

    def members(cpu: int) -> tuple[int, ...]:
        shared = _last_cache_cpus(root, cpu)
        if shared is None:
            undescribed.add(cpu)
            return ()
        # Some Itanium kernels leave the map empty; a cache serves at least its whole core.
        return (*shared, *siblings[cpu])

    groups = _groups(tuple(siblings), members)
    return {cpu: group[0] for cpu, group in groups.items() if cpu not in undescribed}


def _last_cache_cpus(root: Root, cpu: int) -> tuple[int, ...] | None:
    folder = f"{_CPU}/cpu{cpu}/cache"
    levels = [
        (root.read_int(f"{folder}/index{index}/level") or 0, index)
        for index in _numbered(root.listdir(folder), "index")
        if root.read_text(f"{folder}/index{index}/type") != "Instruction"
    ]
    if not levels:
        return None
    return _cpus(root, f"{folder}/index{max(levels)[1]}", "shared_cpu_map", "shared_cpu_list")


def _kinds(root: Root, online: tuple[int, ...], max_khz: dict[int, int]) -> dict[int, str]:
    """Return the kind by CPU; empty if all are equal.

    Args:
        root: root of the machine.
        online: its CPUs.
        max_khz: highest frequency by CPU, if known.
    """
    found: dict[int, str] = {}
    for name, kind in _INTEL_KINDS.items():
        for cpu in read_list(root, f"/sys/devices/{name}/cpus") or ():
            found[cpu] = kind
    # The kernel creates this file for all CPUs or for none (drivers/base/arch_topology.c).
    if not found and root.exists(f"{_CPU}/cpu{online[0]}/cpu_capacity"):
        found = _tiers(_of_each(root, online, "cpu_capacity"))
    found = found or _kinds_by_clock(root, online, max_khz)
    found = {cpu: kind for cpu, kind in found.items() if cpu in online}
    return found if len(set(found.values())) > 1 else {}


def _kinds_by_clock(root: Root, online: tuple[int, ...], max_khz: dict[int, int]) -> dict[int, str]:
    """Return kinds by the highest frequency, if the base frequency, when known, agrees.

    hwloc ranks them the same way. One of them is not sufficient: favoured cores have a higher
    turbo, and with Speed Select some cores of one design have a higher base frequency.
    """
    kinds = _tiers(max_khz)
    if not kinds:
        return {}
    base_khz = _of_each(root, online, "cpufreq/base_frequency")
    return kinds if not base_khz or _tiers(base_khz) == kinds else {}


def _max_khz(root: Root, online: tuple[int, ...]) -> dict[int, int]:
    """Return the highest frequency by CPU, if known, from the files that other readers need too."""
    policies = frozenset(root.listdir(CPUFREQ))
    # A domain has the number of its first CPU (cpufreq_policy_alloc); old kernels have no domains.
    folders = {
        cpu: f"{CPUFREQ}/policy{cpu}" if f"policy{cpu}" in policies else f"{_CPU}/cpu{cpu}/cpufreq"
        for cpu in online
    }
    texts = {
        cpu: domain_texts(root, folder).get("cpuinfo_max_freq", "")
        for cpu, folder in folders.items()
    }
    found = {cpu: int(text) for cpu, text in texts.items() if text.isascii() and text.isdigit()}
    return {cpu: value for cpu, value in found.items() if value}


def _of_each(root: Root, online: tuple[int, ...], name: str) -> dict[int, int]:
    """Return the positive number in each CPU's file."""
    found = {cpu: root.read_int(f"{_CPU}/cpu{cpu}/{name}") for cpu in online}
    return {cpu: value for cpu, value in found.items() if value}


def _tiers(values: dict[int, int]) -> dict[int, str]:
    """Return kinds by a number that is higher for faster CPUs; empty if all are close."""
    jumps = [high for low, high in pairwise(sorted(set(values.values()))) if low < high * _NEAR]
    if not jumps:
        return {}
    # With three tiers (little, big, prime) only the lowest is for efficiency.
    return {
        cpu: "efficiency" if value < jumps[0] else "performance" for cpu, value in values.items()
    }


def _nodes(root: Root, online: tuple[int, ...]) -> tuple[Node, ...]:
    """Return the NUMA nodes; an empty tuple without any, or if the files are inconsistent.

    Left out are nodes with neither CPU nor memory (initiators such as accelerators), and the memory
    of NVIDIA GPUs, which the driver shows as nodes but programs cannot allocate.
    """
    listed = _numbered(root.listdir(_NODE), "node")
    own = _node_cpus(root, listed, online)
    claimed = {cpu for cpus in own.values() for cpu in cpus}
    if not claimed:
        return ()
    gpus = _gpu_nodes(root)
    memory = {node: _node_memory_bytes(root, node) for node in listed}
    kept = [node for node in listed if own[node] or (memory[node] and node not in gpus)]
    # CPUs of an offline node allocate memory from another one.
    own[kept[0]] = tuple(sorted({*own[kept[0]], *(set(online) - claimed)}))
    kinds = memory_kinds(root, {node: own[node] for node in kept if memory[node]})
    return tuple(
        Node(
            id=node,
            cpus=own[node],
            memory_bytes=memory[node],
            distances=_distances(root, node, listed, kept),
            kind=kinds.get(node),
        )
        for node in kept
    )


def _node_cpus(
    root: Root, listed: tuple[int, ...], online: tuple[int, ...]
) -> dict[int, tuple[int, ...]]:
    """Return the online CPUs by node, each CPU in one node at most.

    The result is empty if two nodes list the same CPUs: then the firmware's tables are wrong.
    """
    found: dict[int, tuple[int, ...]] = {}
    free = set(online)
    for node in listed:
        named = set(_cpus(root, f"{_NODE}/node{node}", "cpumap", "cpulist") or ()) & set(online)
        if named and any(named == set(cpus) for cpus in found.values()):
            return {}
        found[node] = tuple(sorted(named & free))
        free -= named
    return found


def _node_memory_bytes(root: Root, node: int) -> int:
    text = root.read_text(f"{_NODE}/node{node}/meminfo") or ""
    match = re.search(r"MemTotal:\s*(\d+) kB", text)
    return int(match[1]) * 1024 if match else 0


def _distances(root: Root, node: int, listed: tuple[int, ...], nodes: list[int]) -> tuple[int, ...]:
    """Return the distances to the kept nodes, in order; the file has one per listed node."""
    words = (root.read_text(f"{_NODE}/node{node}/distance") or "").split()
    if len(words) != len(listed) or not all(word.isdigit() for word in words):
        return ()
    by_node = dict(zip(listed, map(int, words), strict=True))
    return tuple(by_node[other] for other in nodes)


def _gpu_nodes(root: Root) -> frozenset[int]:
    folder = "/proc/driver/nvidia/gpus"
    texts = (root.read_text(f"{folder}/{gpu}/numa_status") or "" for gpu in root.listdir(folder))
    matches = (re.search(r"^Node:\s*(\d+)", text, re.M) for text in texts)
    return frozenset(int(match[1]) for match in matches if match)
