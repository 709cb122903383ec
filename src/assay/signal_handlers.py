"""Deferral of termination signals during operations that must not be interrupted."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from types import FrameType

from assay.signals import ENDING_SIGNALS

_Handler = Callable[[int, FrameType | None], object]


@contextlib.contextmanager
def replaced_handlers(handle: _Handler) -> Iterator[None]:
    """Replace the Python handlers of termination signals within the context.

    No handler changes in a thread other than the main thread: signal handlers belong to that one.

    Args:
        handle: temporary handler; see ``signal.signal``.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    before = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        _install(dict.fromkeys(before, handle))
        yield
    finally:
        _install(before)


def _install(handlers: Mapping[signal.Signals, _Handler]) -> None:
    """Install all handlers or none: signals that arrive meanwhile are delivered afterwards."""
    mask_before = signal.pthread_sigmask(signal.SIG_BLOCK, handlers)
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask_before)


@contextlib.contextmanager
def blocked_signals() -> Iterator[None]:
    """Block termination signals within the context, at a hundredth of the cost of deferral.

    A process that is started within the context inherits the mask unless another one is passed to
    it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def deferred_signals() -> Iterator[None]:
    """Defer termination signals to the end of the context; a child inherits no blocked signal."""
    arrived: list[int] = []
    try:
        with replaced_handlers(lambda number, frame: arrived.append(number)):
            yield
    finally:
        for number in arrived:
            signal.raise_signal(number)
