"""Speed probe: the current speed of this machine, measured before every block."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

from assay.records import Evidence

PROBE_BYTES = 1 << 14
"""Bytes hashed by one probe: about 10 microseconds with SHA extensions, 50 without. A megabyte was
no steadier, and cost every launch of `assay measure` 1.7 ms."""
REPEATS = 3


def speed_probe(clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the best time in seconds of several runs of a fixed task.

    The task is one SHA-256 over a constant buffer: in the cache, without memory traffic, identical
    in every version of assay. Therefore changes of the result are changes of the machine.
    """
    block = bytes(PROBE_BYTES)
    best = float("inf")
    for _ in range(REPEATS):
        began = clock()
        hashlib.sha256(block).digest()
        best = min(best, clock() - began)
    return best


def speed_evidence() -> Evidence:
    """Return the current speed of the machine."""
    return Evidence(kind="speed", value=speed_probe(), unit="s", external=True)
