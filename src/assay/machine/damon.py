"""DAMON: the kernel monitors memory accesses, and acts on idle pages.

Interfaces: ``Documentation/admin-guide/mm/damon/usage.rst`` (sysfs, Linux 5.18, readable only by
root) and ``{reclaim,lru_sort,stat}.rst`` (modules of Linux 5.16, 6.0 and 6.17).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.machine.root import Root

KDAMONDS = "/sys/kernel/mm/damon/admin/kdamonds"
_MODULES = {"damon_reclaim": "pageout", "damon_lru_sort": "lru_prio", "damon_stat": "stat"}
"""Module -> action on pages (``lru_prio`` stands for both kinds of sorting)."""
_IS_ON = {"on": True, "off": False, "Y": True, "N": False}


@dataclass(frozen=True, slots=True)
class DamonThread:
    """A kernel thread that monitors memory accesses.

    Attributes:
        switch: path of the file that starts and stops it.
        is_on: true if it runs; ``None`` if that file cannot be read, or contains another word.
        actions: actions on pages, one per scheme; empty if it only monitors.
        periods_us: sampling and aggregation intervals, in microseconds.
    """

    switch: str
    is_on: bool | None
    actions: tuple[str, ...]
    periods_us: tuple[int, ...]


def read_damon(root: Root) -> tuple[DamonThread, ...]:
    """Return all threads, running or not; an empty tuple if DAMON is missing or not configured."""
    modules = (_module(root, *each) for each in _MODULES.items() if _has(root, each[0]))
    return (*modules, *(_kdamond(root, folder) for folder in _numbered(root, KDAMONDS)))


def _has(root: Root, module: str) -> bool:
    return root.exists(f"/sys/module/{module}/parameters/enabled")


def _module(root: Root, name: str, action: str) -> DamonThread:
    folder = f"/sys/module/{name}/parameters"
    periods = (f"{folder}/{each}_interval" for each in ("sample", "aggr"))
    switch = f"{folder}/enabled"
    return DamonThread(switch, _is_on(root, switch), (action,), _numbers(root, periods))


def _kdamond(root: Root, folder: str) -> DamonThread:
    contexts = tuple(_numbered(root, f"{folder}/contexts"))
    schemes = (path for context in contexts for path in _numbered(root, f"{context}/schemes"))
    actions = (root.read_text(f"{scheme}/action") for scheme in schemes)
    periods = (
        f"{context}/monitoring_attrs/intervals/{each}_us"
        for context in contexts
        for each in ("sample", "aggr")
    )
    switch = f"{folder}/state"
    known = tuple(filter(None, actions))
    return DamonThread(switch, _is_on(root, switch), known, _numbers(root, periods))


def _is_on(root: Root, switch: str) -> bool | None:
    return _IS_ON.get(root.read_text(switch) or "")


def _numbered(root: Root, folder: str) -> Iterator[str]:
    names = (name for name in root.listdir(folder) if name.isdecimal())
    return (f"{folder}/{name}" for name in sorted(names, key=int))


def _numbers(root: Root, paths: Iterator[str]) -> tuple[int, ...]:
    return tuple(filter(None, map(root.read_int, paths)))
