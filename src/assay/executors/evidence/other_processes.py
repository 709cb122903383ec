"""Other processes that used the CPUs while a launch was disturbed.

Reading all of ``/proc`` takes milliseconds and is a disturbance of its own. Therefore it happens
only between launches, after a disturbed launch, and in a small share of the time. Processor time is
the difference of two readings. The first reading of a study names no process, and neither does one
long after the previous reading: the load in between may not have met the launch.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from assay.executors.hooks.left_running import is_started_by_hook
from assay.records import Evidence, Sample

if TYPE_CHECKING:
    from assay.noise.driver import KernelCounters, ProcessUsage

KIND = "other_process"
"""Kind of the evidence of one process: its name in ``note``, its CPU usage in ``value``."""
DISTURBED_SHARE = 0.05
"""Share of the CPUs above which other processes disturb a launch enough to be named."""
COUNT_ERROR_S = 0.015
"""Error in seconds of the busy time of one CPU over one launch (``MAX_ERROR_TICKS`` in
``search.history.disturbance``)."""
MIN_CPUS = 0.05
"""Smallest CPU usage of a named process, in CPUs."""
MAX_PROCESSES = 3
MIN_INTERVAL_S = 0.3
"""Shortest interval of two readings, in seconds: the kernel counts in steps of 10 ms."""
MAX_AGE_FACTOR = 3.0
"""Largest age of the previous reading, relative to the length of the launch."""
MAX_COST_SHARE = 0.01
"""Largest share of the time for these readings."""


class OtherProcesses:
    """Names the processes that disturb launches.

    Args:
        read: reads the counters of all processes; reads ``/proc`` if absent.
        clock: returns monotonic time in seconds.
        spent: returns the processor time of assay in seconds, to measure the cost of readings.
    """

    def __init__(
        self,
        read: Callable[[], KernelCounters] | None = None,
        clock: Callable[[], float] = time.monotonic,
        spent: Callable[[], float] = time.process_time,
    ) -> None:
        self._read = read
        self._clock = clock
        self._spent = spent
        self._before: KernelCounters | None = None
        self._pause_s = MIN_INTERVAL_S
        self._due_s = -math.inf

    def evidence(
        self, sample: Sample, ignored: Callable[[], Collection[int]] = tuple
    ) -> tuple[Evidence, ...]:
        """Return evidence of the processes that disturbed a launch.

        Args:
            sample: sample of a launch that has just ended.
            ignored: returns processes to ignore.
        """
        if self._clock() < self._due_s or not is_disturbed(sample):
            return ()
        before, after = self._before, self._read_counters()
        self._before = after
        if before is None:
            return ()
        passed_s = after.at_s - before.at_s
        if passed_s > MAX_AGE_FACTOR * max(sample.wall_s or 0.0, self._pause_s):
            return ()
        from assay.noise.driver import busiest_processes, descendants_of

        # Parallel launches have their own CPUs and do not disturb this one.
        excluded = descendants_of(after, os.getpid()) | set(ignored())
        found = busiest_processes(before, after, excluded)
        shares = [(process, process.busy_s / passed_s) for process in found[:MAX_PROCESSES]]
        return tuple(
            Evidence(kind=KIND, value=cpus, unit="CPUs", external=True, note=describe_process(one))
            for one, cpus in shares
            if cpus >= MIN_CPUS
        )

    def _read_counters(self) -> KernelCounters:
        if self._read is None:
            from assay.noise.driver import read_counters

            self._read = read_counters
        began_s = self._spent()
        found = self._read()
        # The second reading is the first that can name a process: it needs no pause.
        pause_s = (self._spent() - began_s) / MAX_COST_SHARE if self._before is not None else 0.0
        self._pause_s = max(MIN_INTERVAL_S, pause_s)
        self._due_s = self._clock() + self._pause_s
        return found


def is_disturbed(sample: Sample) -> bool:
    """Return whether other processes used enough CPU time to be named."""
    figures = {piece.kind: piece.value for piece in sample.evidence}
    foreign_s, cpus = figures.get("foreign_load"), figures.get("host_cpus")
    if not foreign_s or not cpus or not sample.wall_s:
        return False
    return foreign_s - COUNT_ERROR_S * math.sqrt(cpus) > DISTURBED_SHARE * sample.wall_s * cpus


def describe_process(process: ProcessUsage) -> str:
    """Describe a process: ``burn (process 812 of another user)``."""
    whose = " of another user" if _is_foreign(process.pid) else ""
    if is_started_by_hook(process.pid):
        whose += ", started by a hook"
    return f"{process.name} (process {process.pid}{whose})"


def _is_foreign(pid: int) -> bool:
    """Return whether a process belongs to another user; false if it has ended."""
    try:
        return Path(f"/proc/{pid}").stat().st_uid != os.getuid()
    except OSError:
        return False
