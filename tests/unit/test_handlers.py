"""Handlers of signals that ask for an end, for the time that something may not be cut off."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from assay.launch.termination import hastened_by_signals
from assay.signal_handlers import deferred_signals, replaced_handlers
from assay.signals import REPEAT_WINDOW_S


class Raised(Exception):
    """What the handler of the test raises."""


@pytest.fixture
def raising() -> Iterator[None]:
    def end(number: int, frame: object) -> None:
        raise Raised

    before = signal.signal(signal.SIGTERM, end)
    yield
    signal.signal(signal.SIGTERM, before)


def test_signal_is_raised_when_the_work_is_done(raising: None) -> None:
    done = []
    with pytest.raises(Raised), deferred_signals():
        signal.raise_signal(signal.SIGTERM)
        done.append("work")
    assert done == ["work"]


def test_it_is_raised_also_where_the_work_fails(raising: None) -> None:
    with pytest.raises(Raised), deferred_signals():
        signal.raise_signal(signal.SIGTERM)
        raise ZeroDivisionError


def test_the_handlers_are_put_back(raising: None) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ZeroDivisionError), replaced_handlers(lambda number, frame: None):
        signal.raise_signal(signal.SIGTERM)
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGTERM) is before


def test_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with replaced_handlers(lambda number, frame: None):
            assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_threads_have_no_handlers(raising: None) -> None:
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
def test_a_later_signal_hurries_and_those_of_the_first_do_not(
    raising: None, ago_s: float, times: int
) -> None:
    hurries: list[None] = []
    with hastened_by_signals(lambda: hurries.append(None), time.monotonic() - ago_s):
        signal.raise_signal(signal.SIGTERM)
    assert len(hurries) == times
