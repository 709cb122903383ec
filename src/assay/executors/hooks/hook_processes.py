"""Processes that hooks have left running, such as the server of a measured client.

Their work belongs to the study: their CPU time is subtracted from that of other processes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.machine.process_stat import parse_process_stat

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_INIT = 1
_ENDED = ("Z", "X")
"""States of a process that has ended but is not reaped."""


@dataclass(frozen=True)
class _Stat:
    """State of a process that is alive.

    Attributes:
        pid: process id.
        parent: process id of the parent.
        start_ticks: start time in clock ticks since boot.
        cpu_ticks: CPU time in clock ticks, with that of the children that it has waited for.
    """

    pid: int
    parent: int
    start_ticks: int
    cpu_ticks: int


class HookProcesses:
    """Tracks the processes that the hooks of a study have left running.

    Such a process is a child of init or of another subreaper. It is identified by its start time
    and by its control group, which it inherits from assay. A process that a service manager started
    in another control group is not found.

    Args:
        proc: mount point of ``/proc``.
    """

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._roots: dict[int, int] = {}

    def begin(self) -> int:
        """Return the start time of a hook, in ticks since the boot."""
        return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS_PER_S)

    def end(self, since_ticks: int) -> None:
        """Register the processes that a finished hook has left running.

        Args:
            since_ticks: start time of the hook.
        """
        processes = {process.pid: process for process in self._all_processes()}
        own_group = self._group(os.getpid())
        new = {
            pid
            for pid, one in processes.items()
            if one.start_ticks >= since_ticks and self._group(pid) == own_group
        }
        for pid in new:
            parent = processes[pid].parent
            adopted = parent == _INIT or self._group(parent) != own_group
            if adopted and pid != os.getpid():
                self._roots[pid] = processes[pid].start_ticks

    def cpu_s(self) -> float:
        """Return the CPU time of all tracked processes so far, in seconds."""
        return sum(process.cpu_ticks for process in self._running_processes()) / _TICKS_PER_S

    def pids(self) -> set[int]:
        """Return the process ids of the tracked processes that are alive."""
        return {process.pid for process in self._running_processes()}

    def _running_processes(self) -> Iterator[_Stat]:
        queue = []
        for pid, start_ticks in self._roots.items():
            one = self._stat(pid)
            if one is not None and one.start_ticks == start_ticks:
                queue.append(one)
        while queue:
            one = queue.pop()
            yield one
            children = (self._stat(child) for child in self._children(one.pid))
            queue += [child for child in children if child is not None]

    def _all_processes(self) -> Iterator[_Stat]:
        for folder in self._proc.iterdir():
            if folder.name.isdecimal() and (found := self._stat(int(folder.name))) is not None:
                yield found

    def _stat(self, pid: int) -> _Stat | None:
        try:
            text = (self._proc / str(pid) / "stat").read_bytes()
        except OSError:
            return None
        stat = parse_process_stat(text)
        if stat is None or stat.state in _ENDED:
            return None
        cpu_ticks = stat.user_ticks + stat.sys_ticks + stat.children_ticks
        return _Stat(pid, stat.parent, stat.started_ticks, cpu_ticks)

    def _children(self, pid: int) -> Iterable[int]:
        found: list[int] = []
        for tasks in (self._proc / str(pid) / "task").glob("*/children"):
            try:
                found += map(int, tasks.read_bytes().split())
            except OSError:
                continue
        return found

    def _group(self, pid: int) -> bytes | None:
        try:
            return (self._proc / str(pid) / "cgroup").read_bytes()
        except OSError:
            return None
