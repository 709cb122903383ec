"""Command of assay in this process; the CPU time of its live line is written to a file."""

from __future__ import annotations

import functools
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.live import Live

from assay.cli.main import entry
from assay.cli.show.progress import Progress

PARTS = ((Progress, "launching"), (Progress, "sampled"), (Live, "refresh"))
"""Methods with all work of the line: at each launch, and at each drawing."""


class Clock:
    """Sum of the CPU times of some methods, in their threads; it takes 0.5 us of a call itself."""

    def __init__(self) -> None:
        self._cpu_s: defaultdict[int, float] = defaultdict(float)

    @property
    def cpu_s(self) -> float:
        """CPU time of the methods in all threads, in seconds."""
        return sum(self._cpu_s.values())

    def timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method that adds its CPU time."""

        @functools.wraps(method)
        def call(*args: Any, **keywords: Any) -> Any:
            begin_s = time.thread_time()
            try:
                return method(*args, **keywords)
            finally:
                self._cpu_s[threading.get_ident()] += time.thread_time() - begin_s

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
