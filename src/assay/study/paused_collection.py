"""Pause of the cyclic garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the collection of cycles for the time of a block.

    Decoded records contain no cycles. Each collection while many of them are read examines all of
    them and frees none: a tenth of the CPU time of reading 100,000 samples.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
