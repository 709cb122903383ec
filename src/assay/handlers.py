"""Handlers of signals that ask for an end, for the time that something may not be cut off."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from assay.signals import ENDING


@contextlib.contextmanager
def replaced(handle: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Have another handler meanwhile in the place of those of Python.

    In threads, which have no handlers, nothing changes.

    Args:
        handle: the other handler; see ``signal.signal``.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in ENDING}
    before = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Raise what arrives meanwhile afterwards; blocked signals would be blocked in a child too."""
    arrived: list[int] = []
    with replaced(lambda number, frame: arrived.append(number)):
        yield
    for number in arrived:
        signal.raise_signal(number)
