"""Cost of the live line: CPU time of the study's calls and of the thread that draws."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

from .cost import ROOT, NoAnswerError
from .launches import words_of

WORKER = "benchmarks.scale.display_worker"


def measure(size: int, folder: Path) -> dict[str, float]:
    """Measure ``true`` many times, with the live line on a terminal.

    Args:
        size: number of launches.
        folder: folder for the store and the figures.
    """
    figures = folder / "display.json"
    terminal, line = pty.openpty()
    reader = threading.Thread(target=_read_all, args=(terminal,))
    reader.start()
    try:
        done = subprocess.run(
            [sys.executable, "-m", WORKER, str(figures), *words_of(size), "--", "true"],
            cwd=ROOT,
            env={**os.environ, "ASSAY_DB": str(folder / "assay.db"), "TERM": "xterm"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=line,
        )
    finally:
        os.close(line)
        reader.join()
        os.close(terminal)
    if done.returncode != 0:
        raise NoAnswerError(f"assay measure ended with status {done.returncode}")
    found: dict[str, float] = json.loads(figures.read_text())
    return found


def _read_all(terminal: int) -> None:
    """Read a terminal until its other side is closed, so that no writer waits."""
    with contextlib.suppress(OSError):
        while os.read(terminal, 1 << 16):
            pass
