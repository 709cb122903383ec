"""Limit of repeated work to a share of the elapsed time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class OverheadLimiter:
    """Limiter of repeated work to a small share of the elapsed time.

    Args:
        share: maximum share of the elapsed time.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._due_s = -float("inf")

    @property
    def due(self) -> bool:
        """The work may be done now."""
        return time.monotonic() >= self._due_s

    def spend(self, work: Callable[[], T]) -> T:
        """Do the work, and measure its time."""
        began_s = time.monotonic()
        done = work()
        took_s = time.monotonic() - began_s
        self._due_s = began_s + took_s / self._share
        return done
