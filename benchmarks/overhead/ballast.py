"""Python process of a given size that runs a command, and measures its memory.

    python -m benchmarks.overhead.ballast MIB run COMMAND ARG...     run it as a child
    python -m benchmarks.overhead.ballast MIB wait4 COMMAND ARG...   print its ru_maxrss in bytes

A harness in Python uses the second way to measure the memory of a program.
"""

from __future__ import annotations

import os
import sys


def held(mebibytes: int) -> bytearray:
    """Return allocated memory whose pages are resident."""
    memory = bytearray(mebibytes << 20)
    for at in range(0, len(memory), 4096):
        memory[at] = 1
    return memory


def main() -> int:
    """Run the command and return its status."""
    memory = held(int(sys.argv[1]))
    words = sys.argv[3:]
    pid = os.posix_spawnp(words[0], words, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if sys.argv[2] == "wait4":
        print(usage.ru_maxrss << 10)
    del memory
    return os.waitstatus_to_exitcode(status) & 0xFF


if __name__ == "__main__":
    sys.exit(main())
