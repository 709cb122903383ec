"""Descent: a process with all that it started, ended as one."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

_PROC = Path("/proc")
_ROUNDS = 100
"""Looks for children that were begun meanwhile: each round stops all that are known."""
_AFTER_S = 0.001


def kill_process_tree(pid: int) -> None:
    """Kill a child of this process and its descendants; the child is left to be waited for.

    They are stopped first, parents before children, so that none begins another or is handed to
    init while the others are looked for. What handed itself to init before (a daemon) is no
    descendant any more, and what another user runs cannot be ended.
    """
    known: set[int] = set()
    for _ in range(_ROUNDS):
        new = {pid, *_descendants(pid)} - known
        if not new:
            break
        _signal(new, signal.SIGSTOP)
        known |= new
        time.sleep(_AFTER_S)  # a stop takes effect when the process next leaves the kernel
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
    for one in found:
        found += children.get(one, ())
    return found[1:]


def _parents() -> Iterable[tuple[int, int]]:
    """Every process and its parent, by proc_pid_stat(5); a name may hold blanks and brackets."""
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = (folder / "stat").read_bytes().rpartition(b")")[2]
            yield int(folder.name), int(text.split()[1])
