"""Command of assay in this process; the CPU time of its live line is written to a file."""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.live import Live

from assay.cli.main import entry
from assay.cli.show.progress import Progress

PARTS = ((Progress, "launching"), (Progress, "sampled"), (Live, "refresh"))
"""Methods with all work of the line: at each launch, and at each drawing."""


class Clock:
    """Sum of the CPU times of some methods, in their threads.

    Attributes:
        calls: number of calls.
        cpu_s: their CPU time, in seconds. The clock itself takes 0.5 us of a call.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.cpu_s = 0.0

    def timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method that adds its CPU time."""

        @functools.wraps(method)
        def call(*args: Any, **keywords: Any) -> Any:
            begin_s = time.thread_time()
            try:
                return method(*args, **keywords)
            finally:
                self.cpu_s += time.thread_time() - begin_s
                self.calls += 1

        return call


def main() -> None:
    """Run the command line of assay: ``FIGURES_FILE WORD...``."""
    file = Path(sys.argv[1])
    sys.argv = ["assay", *sys.argv[2:]]
    clock = Clock()
    for owner, name in PARTS:
        setattr(owner, name, clock.timed(getattr(owner, name)))
    begin_s = time.monotonic()
    try:
        entry()
    finally:
        wall_s = time.monotonic() - begin_s
        figures = {"share": 100 * clock.cpu_s / wall_s, "display": clock.cpu_s, "wall": wall_s}
        file.write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
