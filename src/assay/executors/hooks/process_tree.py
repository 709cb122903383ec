"""Process tree: a process and its descendants, ended together."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from assay.machine.process_stat import parse_process_stat

_PROC = Path("/proc")
_MAX_ROUNDS = 100
"""Largest number of searches for new children; each search stops all known processes."""
_STOP_DELAY_S = 0.001


def kill_process_tree(pid: int) -> None:
    """Kill a child of this process and its descendants; the caller reaps the child.

    The processes are stopped first, parents before children, so that none starts a child or is
    reparented during the search. Daemons that were reparented earlier, and processes of other
    users, are not ended.
    """
    known: set[int] = set()
    for _ in range(_MAX_ROUNDS):
        new = {pid, *_descendants(pid)} - known
        if not new:
            break
        _signal(new, signal.SIGSTOP)
        known |= new
        time.sleep(_STOP_DELAY_S)  # a stop takes effect when the process next leaves the kernel
    _signal(known, signal.SIGKILL)


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for other, parent in _parents():
        children.setdefault(parent, []).append(other)
    found = [pid]
    for process in found:
        found += children.get(process, ())
    return found[1:]


def _parents() -> Iterable[tuple[int, int]]:
    """Yield the id of each process with that of its parent."""
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            stat = parse_process_stat((folder / "stat").read_bytes())
            if stat is not None:
                yield int(folder.name), stat.parent
