"""Programs by which the cost of observing is measured; run as a script.

Each program does a fixed amount of work, about 50 ms: with a fixed duration the cost would be
invisible. The script imports no module of assay, so that it is launched like any Python program.
"""

from __future__ import annotations

import mmap
import os
import sys

PAGE = 4096


def spin() -> None:
    """Add numbers in one thread."""
    for number in range(400_000):
        number * number


def processes() -> None:
    """Start processes, one after another."""
    for _ in range(40):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)


def pages() -> None:
    """Touch new memory pages."""
    with mmap.mmap(-1, 48 << 20) as memory:
        for at in range(0, len(memory), PAGE):
            memory[at] = 1


def switches() -> None:
    """Pass a byte back and forth between two processes."""
    trips = 1_500
    forth, back = os.pipe(), os.pipe()
    pid = os.fork()
    for _ in range(trips):
        if pid:
            os.write(forth[1], b"x")
            os.read(back[0], 1)
        else:
            os.read(forth[0], 1)
            os.write(back[1], b"x")
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


LOADS = {load.__name__: load for load in (spin, processes, pages, switches)}

if __name__ == "__main__":
    LOADS[sys.argv[1]]()
