"""Look: what the processes of a session have done, again and again while they run.

A session is what setsid(2) begins: a program and all that it starts, unless they begin others.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assay.tier.meter import THREAD, Counts, meters
from assay.tier.prediction import Look

EVERY_S = 0.25
_LOOKS = 8
"""About so many at least, however short the time is."""
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
"""In a second."""
_SUMS = ("first", "demand", "late", "staged", "read_bytes", "written_bytes", "stall_s")

_Done = tuple[float, Counts]
"""Of a process: seconds that it computed, and what became of its large memory."""


def looks(
    session: int, for_s: float, runs: Callable[[], bool], proc: Path = _PROC
) -> Iterator[Look]:
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
        time.sleep(min(EVERY_S, for_s / _LOOKS))


def _looked(session: int, proc: Path) -> dict[int, _Done]:
    """By process: those that have large memory, or had some."""
    mine = [one for one in meters(proc) if _session(proc / str(one.pid)) == session]
    return {one.pid: (_cpu_s(proc / str(one.pid)), one.counts) for one in mine if one.counts.first}


def _sum(done: Sequence[_Done]) -> Look:
    return Look(
        at_s=time.monotonic(),
        cpu_s=sum(cpu_s for cpu_s, _ in done),
        **{name: sum(getattr(counts, name) for _, counts in done) for name in _SUMS},
    )


def _session(process: Path) -> int | None:
    fields = _stat(process)
    return int(fields[3]) if fields else None


def _cpu_s(process: Path) -> float:
    """Of all threads, those that have ended too, without the pager's."""
    ticks = _ticks(_stat(process))
    for thread in _threads(process):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if (thread / "comm").read_text().strip() == THREAD:
                ticks -= _ticks(_stat(thread))
    return ticks / _TICKS


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
