"""Machine of a benchmark, and its load."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.machine.reader import read_machine

PARTS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""Columns of the first line of /proc/stat (proc(5))."""


def machine() -> dict[str, Any]:
    """Return a description of this machine."""
    found = read_machine()
    return {
        "model": found.model,
        "cpus": len(found.allowed_cpus),
        "kernel": platform.release().split("-")[0],
        "distribution": platform.freedesktop_os_release().get("PRETTY_NAME", ""),
        "cgroup": str(found.cgroup),
        "python": platform.python_version(),
    }


Load = tuple[float, float, float]
WATCHED_S = 2.0
"""Duration of one measurement of the CPU use before a part, in seconds. The load average is not
used, since it includes ended processes."""
MAX_LOOKS = 5
"""Largest number of such measurements."""
QUIET_SHARE = 0.05
"""CPU use below which no further measurement follows, as a share."""
AUTOGROUP = Path("/proc/self/autogroup")


@contextmanager
def favoured(nice: int) -> Iterator[None]:
    """Change the niceness of this process, its children and its session; restore the session.

    With autogroups (sched(7)), the niceness of a process applies within its session only.

    Raises:
        OSError: not allowed.
    """
    if not nice:
        yield
        return
    os.nice(nice)
    before = re.search(r"nice (-?\d+)", AUTOGROUP.read_text()) if AUTOGROUP.exists() else None
    if before is None:
        yield
        return
    AUTOGROUP.write_text(str(nice))
    try:
        yield
    finally:
        AUTOGROUP.write_text(before[1])


@dataclass
class Disturbance:
    """Load during a run, from the creation of this object on, and the ``busy_share`` before it.

    The load includes the launches of the benchmark. Only the CPU use before the run is that of
    other processes; the load before may stem from the previous part.
    """

    before: Load = field(default_factory=os.getloadavg)
    busy_share: float | None = None
    began_s: float = field(default_factory=time.time)
    rounds: list[float] = field(default_factory=list)
    _ticks: dict[str, int] = field(default_factory=lambda: _ticks())
    _waited_us: int | None = field(default_factory=lambda: _waited_us())

    def note(self) -> None:
        """Record the load at the start of a round."""
        self.rounds.append(round(os.getloadavg()[0], 2))

    def document(self) -> dict[str, Any]:
        """Return the load for JSON; figures that the kernel does not provide have no key."""
        took_s = time.time() - self.began_s
        ticks = {name: count - self._ticks.get(name, 0) for name, count in _ticks().items()}
        found: dict[str, Any] = {
            "load_before": self.before,
            "load_1min": self.rounds,
            "took_s": round(took_s, 1),
        }
        if self.busy_share is not None:
            found["busy_before_share"] = round(self.busy_share, 4)
        if total := sum(ticks.values()):
            found["steal_share"] = round(ticks["steal"] / total, 4)
            found["idle_share"] = round((ticks["idle"] + ticks["iowait"]) / total, 4)
        now_us = _waited_us()
        if now_us is not None and self._waited_us is not None:
            found["cpu_pressure_share"] = round((now_us - self._waited_us) / 1e6 / took_s, 4)
        return found


def busy_share() -> float | None:
    """Return the share of the CPU time that other processes use while no part runs.

    It is the smallest of several measurements, since processes of the benchmark may still end.
    """
    found: list[float] = []
    for _ in range(MAX_LOOKS):
        share = _used_share()
        if share is None:
            return None
        found.append(share)
        if share <= QUIET_SHARE:
            break
    return min(found)


def _used_share() -> float | None:
    before = _ticks()
    time.sleep(WATCHED_S)
    used = {name: count - before.get(name, 0) for name, count in _ticks().items()}
    total = sum(used.values())
    return 1.0 - (used["idle"] + used["iowait"]) / total if total else None


def _ticks() -> dict[str, int]:
    try:
        line = Path("/proc/stat").read_text().splitlines()[0]
    except OSError:
        return {}
    return dict(zip(PARTS, map(int, line.split()[1:]), strict=False))  # guest time is in user time


def _waited_us() -> int | None:
    """Return the time in which a process waited for a CPU (Documentation/accounting/psi.rst)."""
    try:
        match = re.search(r"some .*total=(\d+)", Path("/proc/pressure/cpu").read_text())
    except OSError:
        return None
    return int(match[1]) if match else None
