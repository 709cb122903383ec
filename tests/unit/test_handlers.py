"""Handlers of termination signals during uninterruptible work."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from assay.launch.termination import on_repeated_signal
from assay.signal_handlers import deferred_signals, replaced_handlers
from assay.signals import REPEAT_WINDOW_S


class Raised(Exception):
    """Exception of the test's handler."""


@pytest.fixture
def raising() -> Iterator[None]:
    def end(number: int, frame: object) -> None:
        raise Raised

    before = signal.signal(signal.SIGTERM, end)
    yield
    signal.signal(signal.SIGTERM, before)


def test_signal_is_raised_after_work_ends(raising: None) -> None:
    done = []
    with pytest.raises(Raised), deferred_signals():
        signal.raise_signal(signal.SIGTERM)
        done.append("work")
    assert done == ["work"]


def test_signal_is_raised_after_work_fails(raising: None) -> None:
    with pytest.raises(Raised), deferred_signals():
        signal.raise_signal(signal.SIGTERM)
        raise ZeroDivisionError


def test_handlers_are_restored(raising: None) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ZeroDivisionError), replaced_handlers(lambda number, frame: None):
        signal.raise_signal(signal.SIGTERM)
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGTERM) is before


def test_ignored_signal_remains_ignored() -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with replaced_handlers(lambda number, frame: None):
            assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_threads_install_no_handlers(raising: None) -> None:
    worked = []

    def work() -> None:
        with deferred_signals():
            worked.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert worked == [signal.getsignal(signal.SIGTERM)]


@pytest.mark.parametrize(
    ("ago_s", "times"), [(REPEAT_WINDOW_S + 1, 1), (0.0, 0)], ids=["later", "same"]
)
def test_later_signal_calls_function_and_repeated_first_does_not(
    raising: None, ago_s: float, times: int
) -> None:
    hurries: list[None] = []
    with on_repeated_signal(lambda: hurries.append(None), time.monotonic() - ago_s):
        signal.raise_signal(signal.SIGTERM)
    assert len(hurries) == times
