"""Time from the time limit of a process tree to the end of its last process.

The tree holds the writing end of a named pipe. So its reader sees the exact moment of that end,
without polling, with any tool, and even if processes escaped.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import tools
from .bench import Bench
from .reading import Key, Reading
from .schedule import Unusable, Visit

NAME = "killing"
MODES = {
    "sleep": "sleeps",
    "busy": "four processes compute",
    "daemon": "ignores SIGTERM, leaves a daemon",
    "bomb": "forks to 200 processes",
}
ASSAY = "assay"
SETTLE_S = 0.3
"""Time after the end of a tool in which its tree may still end, in seconds."""
PATIENCE_S = 20.0


def key(case: str, tool: str, quantity: str) -> Key:
    """Return the key of a figure of this part."""
    return Key(NAME, case, tool, quantity)


@dataclass(frozen=True)
class Limiter:
    """Tool with a time limit.

    Attributes:
        words: command up to the program.
        cap_s: limit in seconds: half a second, or the finest step of the tool if it is longer.
    """

    words: tuple[str, ...]
    cap_s: float


def limiters(bench: Bench) -> dict[str, Limiter]:
    """Return the installed tools with a time limit; hyperfine has none."""
    store = str(bench.folder / "killing.db")
    # Kill at once, as BenchExec does. By default, a program has ten seconds after SIGTERM.
    limit = ("--timeout", "0.5s", "--grace", "0s")
    measure = ("measure", "-q", "--db", store, "--runs", "1", *limit, "--")
    found = {ASSAY: Limiter((*tools.assay(), *measure), 0.5)}
    if "timeout" in bench.peers:
        found["timeout"] = Limiter((bench.peers.path("timeout"), "-k", "0.05", "0.5"), 0.5)
    if "BenchExec" in bench.peers:
        found["BenchExec"] = _benchexec(bench, False)
        if bench.contained:
            found["BenchExec, container"] = _benchexec(bench, True)
    return found


def _benchexec(bench: Bench, container: bool) -> Limiter:
    words = tools.runexec_words(bench.peers, bench.folder, container=container)
    return Limiter((*words, "--walltimelimit", "1", "--"), 1.0)


def visits(bench: Bench) -> list[Visit]:
    """Return all visits of this part, each with one launch."""
    return [
        Visit(case, tool, _visit(tool, limiter, mode, case, bench), bench.scale.seldom)
        for number, (mode, case) in enumerate(MODES.items())
        for tool, limiter in limiters(bench).items()
        if bench.wanted(tool, number)
    ]


def _visit(
    tool: str, limiter: Limiter, mode: str, case: str, bench: Bench
) -> Callable[[], Iterable[Reading]]:
    def readings() -> Iterable[Reading]:
        program = bench.programs.escape
        fifo = bench.folder / "fifo"
        os.mkfifo(fifo)
        try:
            lived_s = _life_s([*limiter.words, program, mode, str(fifo)], fifo)
            left = _survivors(program)
        finally:
            _end(program)
            fifo.unlink()
        yield Reading(key(case, tool, "left"), len(left))
        if lived_s is not None:
            yield Reading(key(case, tool, "overshoot_s"), lived_s - limiter.cap_s)

    return readings


def _life_s(words: Sequence[str], fifo: Path) -> float | None:
    """Return the time from the start of the tree to its end; ``None`` if it outlives the tool."""
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as tool:
            try:
                return _watch(tool, reader)
            finally:
                tool.kill()
    finally:
        os.close(reader)


def _watch(tool: subprocess.Popen[bytes], reader: int) -> float | None:
    tool_fd = os.pidfd_open(tool.pid)
    poller = select.poll()
    poller.register(reader, select.POLLIN)
    poller.register(tool_fd, select.POLLIN)
    began_ns: int | None = None
    ended_ns: int | None = None
    deadline = time.monotonic() + PATIENCE_S
    tool_runs = True
    try:
        while (left_s := deadline - time.monotonic()) > 0 and (tool_runs or ended_ns is None):
            for fd, event in poller.poll(left_s * 1000):
                if fd == tool_fd:
                    tool_runs = False
                    poller.unregister(tool_fd)
                    deadline = min(deadline, time.monotonic() + SETTLE_S)
                elif event & select.POLLIN and began_ns is None:
                    (began_ns,) = struct.unpack("=q", os.read(reader, 8))
                    poller.modify(reader, 0)  # a hang-up is still reported
                elif event & select.POLLHUP:
                    ended_ns = time.monotonic_ns()
                    poller.unregister(reader)
    finally:
        os.close(tool_fd)
    if tool_runs:
        raise Unusable(f"the tool did not end within {PATIENCE_S:.0f} s")
    if began_ns is None:
        raise Unusable("the tool did not start the program")
    return None if ended_ns is None else (ended_ns - began_ns) / 1e9


def _survivors(program: str) -> list[int]:
    """Return the ids of the processes that run the program."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (folder / "cmdline").read_bytes().startswith(program.encode() + b"\0"):
                found.append(int(folder.name))
    return found


def _end(program: str) -> None:
    """Kill the processes that a tool left; only this benchmark runs this copy of the program."""
    while left := _survivors(program):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
