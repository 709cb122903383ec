"""Checks of memory: page sizes, swap, background activity of the kernel, and nodes.

Interfaces: ``Documentation/admin-guide/mm/{transhuge,hugetlbpage,ksm}.rst``,
``admin-guide/sysctl/{vm,kernel}.rst``, ``proc_swaps(5)``,
``Documentation/ABI/stable/sysfs-devices-node``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.machine.checks.check_types import (
    Check,
    Measurement,
    NumberCheck,
    RuleCheck,
    RuleResult,
    WordCheck,
)
from assay.machine.checks.finding import Remedy
from assay.machine.checks.host import NODE, Host
from assay.machine.checks.readers import choice_in, number_in, word_in
from assay.machine.checks.remedies import bound_remedy, root_remedy, word_remedy, write_remedy
from assay.machine.damon import KDAMONDS, read_damon
from assay.machine.swaps import SWAPS, swap_areas

_THP = "/sys/kernel/mm/transparent_hugepage"
_KSM = "/sys/kernel/mm/ksm/run"
_VM = "/proc/sys/vm"
_BALANCING = "/proc/sys/kernel/numa_balancing"
_PERCENT = 100
_ENABLED = ("always", "madvise", "never")


def _mthp(host: Host) -> dict[str, str]:
    """Return the modes of sizes between one page and the largest (Linux 6.8)."""
    paths = [f"{_THP}/{name}/enabled" for name in host.names(_THP, r"hugepages-\d+kB")]
    # The smallest size supports only files.
    return {path: host.choice(path) for path in host.present(paths)}


def _mthp_remedy(word: str, places: tuple[str, ...]) -> Remedy:
    sizes = [_kb(place.removeprefix(_THP)) for place in places]
    setting = f"vm.thp.{sizes[0]}k={word}" + (" and others" if len(sizes) > 1 else "")
    path = places[0] if len(places) == 1 else f"{_THP}/hugepages-*kB/enabled"
    return write_remedy(path, word, setting)


def _damon(host: Host) -> dict[str, str]:
    """Return ``off``, ``watch``, or the actions on pages, for each DAMON thread."""
    found = {}
    for watcher in read_damon(host.root):
        if watcher.is_on is None:
            text = host.text(watcher.switch)
            raise host.unread(watcher.switch, f"contains neither on nor off: {text[:40]!r}")
        actions = " and ".join(dict.fromkeys(watcher.actions)) or "watch"
        found[watcher.switch] = actions if watcher.is_on else "off"
    if not found and not host.root.exists(KDAMONDS):
        raise host.unread(KDAMONDS)
    return found or {KDAMONDS: "off"}


def _damon_remedy(_: str, places: tuple[str, ...]) -> Remedy:
    return root_remedy("; ".join(f"echo {_off(place)} > {place}" for place in places))


def _off(switch: str) -> str:
    return "N" if switch.endswith("/enabled") else "off"


def _hugepages(host: Host) -> RuleResult:
    """Check that the pools of huge pages are equal on all nodes with CPUs."""
    uneven = []
    sizes: dict[str, dict[str, int]] = {}
    for node in _nodes_with_cpus(host):
        folder = f"{NODE}/{node}/hugepages"
        for size in host.names(folder, r"hugepages-\d+kB"):
            count = host.number(f"{folder}/{size}/nr_hugepages")
            sizes.setdefault(size, {})[node] = count
    for size, counts in sizes.items():
        if len(set(counts.values())) > 1:
            counted = ", ".join(f"{node} {count}" for node, count in counts.items())
            uneven.append((size, f"{size}: {counted}"))
    location = f"({NODE}/node*/hugepages)"
    if not uneven:
        held = [f"{size} {counts}" for size, counts in _pools(sizes)]
        return RuleResult(f"{', '.join(held) or 'no pages reserved'} {location}")
    size = uneven[0][0]
    least = min(sizes[size], key=lambda node: sizes[size][node])
    most = max(sizes[size].values())
    path = f"{NODE}/{least}/hugepages/{size}/nr_hugepages"
    evidence = f"{'; '.join(counted for _, counted in uneven)} {location}"
    setting = f"vm.hugepages.{_kb(size)}k.{least}={most}"
    return RuleResult(evidence, write_remedy(path, str(most), setting))


def _kb(folder: str) -> str:
    """Return the size in a directory name of sysfs, such as ``hugepages-2048kB``."""
    return re.sub(r"\D", "", folder)


def _pools(sizes: dict[str, dict[str, int]]) -> Iterator[tuple[str, str]]:
    for size, counts in sizes.items():
        (count,) = set(counts.values())
        if count:
            yield size, f"{count} on each node"


def _nodes_with_cpus(host: Host) -> tuple[str, ...]:
    nodes = host.names(NODE, r"node\d+")
    return tuple(node for node in nodes if host.cpus(f"{NODE}/{node}/cpulist")) or nodes


def _swap(host: Host) -> dict[str, str]:
    """Return ``none``, ``unused`` or ``used`` for the swap areas."""
    text = host.text(SWAPS)
    if not text.startswith("Filename"):
        raise host.unread(SWAPS, "is not a table of swap areas")
    areas = swap_areas(text).values()
    used = any(area.used_bytes for area in areas)
    return {SWAPS: "used" if used else ("unused" if areas else "none")}


def _swap_remedy(word: str, _: tuple[str, ...]) -> Remedy:
    command = "swapoff -a" if word == "none" else "swapoff -a && swapon -a"
    return root_remedy(command, "vm.swap=off", "Swapped pages must fit into free memory.")


def _balance(host: Host) -> Measurement:
    """Return the free memory of the fullest node, as a percentage of the mean of all nodes.

    Allocations beyond the free memory of a node go to another one before caches are reclaimed
    (``zone_reclaim_mode`` 0), so caches do not count as free.
    """
    shares = {}
    for node in host.names(NODE, r"node\d+"):
        path = f"{NODE}/{node}/meminfo"
        total, free = host.kilobytes(path, "MemTotal"), host.kilobytes(path, "MemFree")
        if total:
            shares[node] = free / total
    if not shares:
        raise host.unread(NODE, "has no node with memory")
    mean = sum(shares.values()) / len(shares)
    node = min(shares, key=lambda name: shares[name])
    relative = _PERCENT * shares[node] / mean if mean else _PERCENT
    text = f"{node} has {shares[node]:.0%} free, the mean of {len(shares)} nodes is {mean:.0%}"
    if len(shares) == 1:
        text = f"one node, {mean:.0%} free"
    return Measurement(relative, f"{text} ({NODE}/node*/meminfo)")


def _balance_remedy(*_: object) -> Remedy:
    return root_remedy("sync; echo 1 > /proc/sys/vm/drop_caches", note="This drops file caches.")


CHECKS: tuple[Check, ...] = (
    WordCheck(
        "memory.thp",
        "transparent huge pages",
        choice_in(f"{_THP}/enabled"),
        word_remedy(f"{_THP}/enabled", "vm.thp"),
        _ENABLED,
    ),
    WordCheck(
        "memory.thp.defrag",
        "compaction during a page fault",
        choice_in(f"{_THP}/defrag"),
        word_remedy(f"{_THP}/defrag", "vm.thp.defrag"),
        ("always", "defer", "defer+madvise", "madvise", "never"),
    ),
    WordCheck(
        "memory.mthp",
        "transparent huge pages of other sizes",
        _mthp,
        _mthp_remedy,
        (*_ENABLED, "inherit"),
    ),
    RuleCheck("memory.hugepages", "equal pools of huge pages on all nodes", _hugepages),
    WordCheck("memory.swap", "swap areas", _swap, _swap_remedy, ("none", "unused", "used")),
    NumberCheck(
        "memory.swappiness",
        "preference for swapping memory of programs",
        "",
        number_in(f"{_VM}/swappiness"),
        bound_remedy(f"{_VM}/swappiness", "vm.swappiness"),
    ),
    WordCheck(
        "memory.numa_balancing",
        "automatic migration of pages between nodes",
        word_in(_BALANCING),
        word_remedy(_BALANCING, "numa.balancing"),
        ("0", "1", "2", "3"),
    ),
    WordCheck(
        "memory.zone_reclaim",
        "reclaim of a node's cache before remote allocation",
        word_in(f"{_VM}/zone_reclaim_mode"),
        word_remedy(f"{_VM}/zone_reclaim_mode", "vm.zone_reclaim"),
        tuple(map(str, range(8))),
    ),
    WordCheck(
        "memory.ksm",
        "merging of identical pages of programs",
        word_in(_KSM),
        word_remedy(_KSM, "ksm"),
        ("0", "1", "2"),
    ),
    WordCheck(
        "memory.damon",
        "reclaim or sorting of pages while memory is free",
        _damon,
        _damon_remedy,
    ),
    NumberCheck(
        "memory.balance", "balance of free memory between nodes", "%", _balance, _balance_remedy
    ),
)
