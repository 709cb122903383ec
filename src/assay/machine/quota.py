"""CPU bandwidth quota of control groups, and throttling by it.

Interfaces: ``cpu.max`` and ``cpu.stat`` (``Documentation/admin-guide/cgroup-v2.rst``),
``cpu.cfs_quota_us`` and ``cpu.stat`` (``Documentation/scheduler/sched-bwc.rst``). In each period,
100 ms by default, the tasks of a group run until its quota is used up.
"""

from __future__ import annotations

import math

import msgspec

from assay.machine.cgroup import quota_folder
from assay.machine.root import Root
from assay.units import show_count


class Periods(msgspec.Struct, frozen=True):
    """Periods in which a group had runnable tasks, and those in which it was throttled."""

    periods: int
    throttled: int

    def since(self, before: Periods) -> Periods:
        """Return the difference to an earlier reading."""
        return Periods(self.periods - before.periods, self.throttled - before.throttled)


def quota_stat(root: Root) -> str | None:
    """Return the ``cpu.stat`` of the group with the lowest quota: this one, or an ancestor."""
    folder = quota_folder(root)
    return None if folder is None else f"{folder}/cpu.stat"


def read_periods(root: Root, stat: str | None) -> Periods | None:
    """Return the periods since the creation of the group; ``None`` if unknown."""
    text = root.read_text(stat) if stat is not None else None
    words = (line.split() for line in (text or "").splitlines())
    found = {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}
    if "nr_periods" not in found:
        return None
    return Periods(found["nr_periods"], found.get("nr_throttled", 0))


def describe_quota(cpus: float, periods: Periods | None) -> str:
    """Return a quota in words: ``quota 0.5 CPU, throttled in 38 of 44 periods``."""
    return f"quota {cpus:g} {'CPU' if cpus <= 1 else 'CPUs'}{describe_throttling(periods)}"


def describe_throttling(periods: Periods | None) -> str:
    """Return throttling in words, as a suffix; empty if unknown."""
    if periods is None:
        return ""
    return f", throttled in {periods.throttled} of {show_count(periods.periods, 'period')}"


def cpus_within(quota: float | None, cpus: int) -> int:
    """Return the number of CPUs that a quota can keep busy, rounded up."""
    return cpus if quota is None else max(1, min(cpus, math.ceil(quota)))
