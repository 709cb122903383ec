"""Handlers of signals that ask for an end, for the time that something may not be cut off."""

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
    """Have another handler meanwhile in the place of those of Python.

    In threads, which have no handlers, nothing changes.

    Args:
        handle: the other handler; see ``signal.signal``.
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
    """Install all or none: what arrives meanwhile waits for the last one."""
    blocked_signals = signal.pthread_sigmask(signal.SIG_BLOCK, handlers)
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked_signals)


@contextlib.contextmanager
def blocked_signals() -> Iterator[None]:
    """Let what arrives meanwhile wait, as ``deferred_signals``, at a hundredth of its cost.

    What is started meanwhile inherits that, unless it is given another mask.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def deferred_signals() -> Iterator[None]:
    """Raise what arrives meanwhile afterwards; blocked signals would be blocked in a child too."""
    arrived: list[int] = []
    try:
        with replaced_handlers(lambda number, frame: arrived.append(number)):
            yield
    finally:
        for number in arrived:
            signal.raise_signal(number)
