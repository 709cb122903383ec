"""Hurrying: what a signal does that comes while a program is waited for which is to end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from types import FrameType

from assay.handlers import replaced
from assay.signals import SAME_S


def hurried(
    hurry: Callable[[], object], since_s: float | None
) -> contextlib.AbstractContextManager[None]:
    """Have signals that ask for an end call a function meanwhile, in the place of their handlers.

    Those that come within ``SAME_S`` belong to what began it.

    Args:
        hurry: what they call.
        since_s: when it began, on the monotonic clock; now if absent.
    """
    begun_s = time.monotonic() if since_s is None else since_s

    def handle(number: int, frame: FrameType | None) -> None:
        if time.monotonic() - begun_s > SAME_S:
            hurry()

    return replaced(handle)
