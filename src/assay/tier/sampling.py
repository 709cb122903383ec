"""Sampling: activity of the processes of a session while they run.

A session (setsid(2)) contains a program and all its descendants that do not start another session.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.machine.process_stat import ProcessStat, parse_process_stat
from assay.tier.counts import Counts
from assay.tier.meter import THREAD_NAME, read_meters
from assay.tier.prediction import ActivitySnapshot

SAMPLING_INTERVAL_S = 0.25
_MIN_SAMPLES = 8
"""Approximate minimum number of samples."""
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
"""Clock ticks per second."""
_SUMS = (
    *("zero_fill_faults", "demand_faults", "in_flight_faults", "prefetch_hits"),
    *("read_bytes", "written_bytes", "stall_s"),
)


class _ProcessActivity(NamedTuple):
    """Activity of a process.

    Attributes:
        cpu_s: CPU time of all threads except those of the pager, ended ones included, in seconds.
        thread_s: CPU time of each existing thread, by thread id.
        counts: counters of its pager.
    """

    cpu_s: float
    thread_s: Mapping[int, float]
    counts: Counts


def sample_session(
    session: int, for_s: float, runs: Callable[[], bool], proc: Path = _PROC
) -> Iterator[ActivitySnapshot]:
    """Yield samples from the first use of large memory to the time limit or the end of the program.

    Args:
        session: process id of the session leader.
        for_s: time limit in seconds.
        runs: returns whether the program is running.
        proc: proc(5) of this host.
    """
    end = time.monotonic() + for_s
    seen: dict[int, _ProcessActivity] = {}
    while time.monotonic() < end and runs():
        # Keep the activity of processes that have ended.
        seen |= _sample_processes(session, proc)
        if seen:
            yield _sum(tuple(seen.values()))
        time.sleep(min(SAMPLING_INTERVAL_S, for_s / _MIN_SAMPLES))


def _sample_processes(session: int, proc: Path) -> dict[int, _ProcessActivity]:
    """Return the activity of processes with large memory, by process id."""
    found = {}
    for meter in read_meters(proc):
        process = proc / str(meter.pid)
        stat = _read_stat(process)
        # A process that ends between two reads keeps its last values.
        if meter.counts.zero_fill_faults and stat and stat.session == session:
            found[meter.pid] = _ProcessActivity(*_computed(process, stat), meter.counts)
    return found


def _sum(done: Sequence[_ProcessActivity]) -> ActivitySnapshot:
    return ActivitySnapshot(
        at_s=time.monotonic(),
        cpu_s=sum(process.cpu_s for process in done),
        thread_s={thread: cpu_s for process in done for thread, cpu_s in process.thread_s.items()},
        **{name: sum(getattr(process.counts, name) for process in done) for name in _SUMS},
    )


def _computed(process: Path, stat: ProcessStat) -> tuple[float, dict[int, float]]:
    """Return the CPU time of all threads except the pager's, and of each existing thread."""
    ticks, of_threads = _ticks(stat), {}
    for thread in _threads(process):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            thread_ticks = _ticks(_read_stat(thread))
            if (thread / "comm").read_text().strip() == THREAD_NAME:
                ticks -= thread_ticks
            else:
                of_threads[int(thread.name)] = thread_ticks / _TICKS
    return ticks / _TICKS, of_threads


def _ticks(stat: ProcessStat | None) -> int:
    """Return the clock ticks in user and kernel mode; 0 for a thread that has ended."""
    return stat.user_ticks + stat.sys_ticks if stat else 0


def _threads(process: Path) -> list[Path]:
    try:
        return list((process / "task").iterdir())
    except OSError:
        return []


def _read_stat(folder: Path) -> ProcessStat | None:
    try:
        return parse_process_stat((folder / "stat").read_bytes())
    except OSError:
        return None
