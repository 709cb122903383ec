"""Counters of the running host over an interval.

Interfaces: ``proc_stat(5)``, ``Documentation/ABI/testing/sysfs-devices-system-cpu``
(``thermal_throttle``).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assay.machine.root import Root

_CPU = "/sys/devices/system/cpu"
_THROTTLES = ("core_throttle_count", "package_throttle_count")
_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""First fields of the line ``cpu``; the first two include guest time."""

SAMPLE_S = 1.0
"""Length of the interval, in seconds: a hundred clock ticks of every CPU."""


@dataclass(frozen=True)
class CounterReading:
    """Counters at one point in time.

    Attributes:
        ticks: ticks of all CPUs since boot, by kind; empty if they cannot be read.
        throttles: number of throttling events of a core or package, by path.
    """

    ticks: Mapping[str, int]
    throttles: Mapping[str, int]


@dataclass(frozen=True)
class Interval:
    """Counters before and after an interval."""

    before: CounterReading
    after: CounterReading

    @property
    def shares(self) -> dict[str, float] | None:
        """Share of the time of all CPUs by kind; ``None`` if the clock did not advance."""
        passed = {
            kind: self.after.ticks[kind] - ticks
            for kind, ticks in self.before.ticks.items()
            if kind in self.after.ticks
        }
        # idle and iowait may decrease (proc_stat(5)).
        passed = {kind: max(0, ticks) for kind, ticks in passed.items()}
        total = sum(passed.values())
        return {kind: ticks / total for kind, ticks in passed.items()} if total else None

    @property
    def throttled(self) -> dict[str, int]:
        """Throttling events in the interval by path, if both readings exist."""
        return {
            path: self.after.throttles[path] - count
            for path, count in self.before.throttles.items()
            if path in self.after.throttles
        }


def sample_interval(
    root: Root, seconds: float = SAMPLE_S, wait: Callable[[float], None] = time.sleep
) -> Interval:
    """Read the counters, wait, and read them again."""
    before = read_counters(root)
    wait(seconds)
    return Interval(before, read_counters(root))


def read_counters(root: Root) -> CounterReading:
    """Read the counters."""
    match = re.search(r"^cpu +([\d ]{1,400})$", root.read_text("/proc/stat") or "", re.M | re.ASCII)
    numbers = [int(word) for word in match[1].split()] if match else []
    paths = (
        f"{_CPU}/{cpu}/thermal_throttle/{name}"
        for cpu in root.listdir(_CPU)
        if re.fullmatch(r"cpu\d+", cpu)
        for name in _THROTTLES
    )
    counts = {path: root.read_int(path) for path in paths}
    return CounterReading(
        ticks=dict(zip(_TICKS, numbers, strict=False)),
        throttles={path: count for path, count in counts.items() if count is not None},
    )
