"""Marks: how tests find all processes of a launch, even those that tried to escape."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

MARK = "ASSAY_TEST_MARK"
"""Environment variable that all descendants of a program inherit."""
IN_EXEC_S = 0.05
"""Longest time until an exec shows the new environment, in seconds."""


def marked(mark: str) -> dict[int, str]:
    """Return the command lines of living processes with a mark, by process id."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in _environment(folder):
                words = (folder / "cmdline").read_bytes()
                found[int(folder.name)] = words.replace(b"\0", b" ").decode(errors="replace")
    return found


def _environment(folder: Path) -> bytes:
    """Return the environment of one process. During exec(2) it is empty: the new memory is not yet
    filled.

    Kernel threads and ended processes, which have no executable, and processes started with an
    empty environment also have none.
    """
    end = time.monotonic() + IN_EXEC_S
    while True:
        found = (folder / "environ").read_bytes()
        if found or time.monotonic() > end:
            return found
        (folder / "exe").readlink()
        time.sleep(0.001)


def gone(mark: str, within_s: float = 5.0) -> dict[int, str]:
    """Return the marked processes once none is left or the time is over."""
    end = time.monotonic() + within_s
    while (left := marked(mark)) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def end_marked(mark: str) -> None:
    """End the processes with a mark; the user of these tests may do so even where assay may not."""
    end = time.monotonic() + 10
    while left := marked(mark):
        assert time.monotonic() < end, left
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
