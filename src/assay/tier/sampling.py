"""Look: what the processes of a session have done, again and again while they run.

A session is what setsid(2) begins: a program and all that it starts, unless they begin others.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.tier.meter import THREAD_NAME, Counts, read_meters
from assay.tier.prediction import ActivitySnapshot

SAMPLING_INTERVAL_S = 0.25
_LOOKS = 8
"""About so many at least, however short the time is."""
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
"""In a second."""
_SUMS = ("first", "demand", "late", "staged", "read_bytes", "written_bytes", "stall_s")


class _Done(NamedTuple):
    """Of a process.

    Attributes:
        cpu_s: that all its threads computed, those that have ended too, but for the pager's.
        thread_s: the same of each thread that there is, by its number.
        counts: what became of its large memory.
    """

    cpu_s: float
    thread_s: Mapping[int, float]
    counts: Counts


def sample_session(
    session: int, for_s: float, runs: Callable[[], bool], proc: Path = _PROC
) -> Iterator[ActivitySnapshot]:
    """From the first that shows large memory on, until the time is over or the program.

    Args:
        session: process id of its leader.
        for_s: how long it is looked at.
        runs: whether the program still does.
        proc: proc(5) of this host.
    """
    end = time.monotonic() + for_s
    seen: dict[int, _Done] = {}
    while time.monotonic() < end and runs():
        # What a process had done that has ended meanwhile stays done.
        seen |= _looked(session, proc)
        if seen:
            yield _sum(tuple(seen.values()))
        time.sleep(min(SAMPLING_INTERVAL_S, for_s / _LOOKS))


def _looked(session: int, proc: Path) -> dict[int, _Done]:
    """By process: those that have large memory, or had some."""
    found = {}
    for one in read_meters(proc):
        process = proc / str(one.pid)
        stat = _stat(process)
        # One that has ended between two reads is as it was seen last.
        if one.counts.first and stat and int(stat[3]) == session:
            found[one.pid] = _Done(*_computed(process, stat), one.counts)
    return found


def _sum(done: Sequence[_Done]) -> ActivitySnapshot:
    return ActivitySnapshot(
        at_s=time.monotonic(),
        cpu_s=sum(one.cpu_s for one in done),
        thread_s={thread: cpu_s for one in done for thread, cpu_s in one.thread_s.items()},
        **{name: sum(getattr(one.counts, name) for one in done) for name in _SUMS},
    )


def _computed(process: Path, stat: Sequence[str]) -> tuple[float, dict[int, float]]:
    """Seconds of all threads but the pager's, and of each that there is."""
    ticks, of_threads = _ticks(stat), {}
    for thread in _threads(process):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if (thread / "comm").read_text().strip() == THREAD_NAME:
                ticks -= _ticks(_stat(thread))
            else:
                of_threads[int(thread.name)] = _ticks(_stat(thread)) / _TICKS
    return ticks / _TICKS, of_threads


def _ticks(stat: Sequence[str]) -> int:
    """In user mode and in the kernel."""
    return sum(map(int, stat[11:13]))


def _threads(process: Path) -> list[Path]:
    try:
        return list((process / "task").iterdir())
    except OSError:
        return []


def _stat(folder: Path) -> list[str]:
    """Fields of proc_pid_stat(5) from the third on, behind the name in brackets."""
    try:
        return (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
