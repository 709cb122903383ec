"""Relay: signals to `assay run` are those of its program.

A signal may come to assay alone, or to its process group, and so to the program as well. The
launcher is in that group: what came to it too is not passed on a second time. When the program
stops, assay stops with it, as its shell expects of a job.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections import deque
from collections.abc import Iterable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from assay.signals import CATCHABLE

if TYPE_CHECKING:
    from assay.launch.driver import RunningLaunch

TERMINATION_REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ask for an end that the program may shape: by a terminal, a service manager, a batch system."""
DELIVERY_S = 0.05
"""A signal to a whole group has reached all its members after this time."""
GROUP_S = 0.2
"""What asks for an end within this time belongs to the first: timeout(1) signals its child and then
the child's group, and systemd may send SIGHUP behind SIGTERM."""
POLL_S = 1.0
"""How often to see whether something has stopped the launcher."""


class SignalRelay:
    """Passes signals on to a launch; use it as a context from before its start on.

    A program may run, and be known to whoever sends signals, a moment before its start is known
    here: what came until then is passed on then. The first signal of ``TERMINATION_REQUESTS`` is passed on, too;
    a second one is raised as before, and ends the tree. One that was ignored before is passed on
    each time, and is no first.
    """

    def __init__(self) -> None:
        self._before: dict[int, object] = {}
        self._due: deque[tuple[float, int]] = deque()
        self._first_s: float | None = None
        self._reading, self._writing = -1, -1
        self._wakeup = -1

    def __enter__(self) -> SignalRelay:
        self._reading, self._writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        # Handlers of Python merge signals that come together; this counts them.
        self._wakeup = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        # What is ignored is ignored by the program as well, which inherits it: see `serve`.
        self._hear(n for n in (*CATCHABLE, signal.SIGCHLD) if signal.getsignal(n) != signal.SIG_IGN)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._reading)
        os.close(self._writing)

    def serve(self, running: RunningLaunch) -> None:
        """Pass on what comes until the launch has ended.

        Args:
            running: the launch, which has just been started.
        """
        self._hear(n for n in CATCHABLE if n not in self._before)
        poller = select.poll()
        poller.register(running.pidfd, select.POLLIN)
        poller.register(self._reading, select.POLLIN)
        while True:
            wait_s = POLL_S
            if self._due:
                wait_s = max(0.0, min(wait_s, self._due[0][0] - time.monotonic()))
            ready = {fd for fd, _ in poller.poll(wait_s * 1000)}
            if running.pidfd in ready:
                return
            self._take()
            while self._due and self._due[0][0] <= time.monotonic():
                running.forward_signal(self._due.popleft()[1])
            if running.stopped_with_program():
                self._stop()
                running.resume()

    def _hear(self, numbers: Iterable[int]) -> None:
        for number in tuple(numbers):
            before = signal.getsignal(number)
            if before is None:  # not installed by Python
                continue
            self._before[number] = before
            signal.signal(number, self._on_ending if number in TERMINATION_REQUESTS else _ignored)

    def _take(self) -> None:
        """Read the numbers of the signals that have come, each time that one did."""
        try:
            numbers = os.read(self._reading, 4096)
        except BlockingIOError:
            return
        now_s = time.monotonic()
        for number in numbers:
            if number == signal.SIGCHLD or number in TERMINATION_REQUESTS:
                continue
            self._due.append((now_s + DELIVERY_S, number))

    def _on_ending(self, number: int, frame: FrameType | None) -> None:
        now_s = time.monotonic()
        if self._before[number] == signal.SIG_IGN:
            self._due.append((now_s + DELIVERY_S, number))
        elif self._first_s is None:
            self._first_s = now_s
            self._due.append((now_s + DELIVERY_S, number))
        elif now_s - self._first_s > GROUP_S:
            signal.signal(number, self._before[number])  # type: ignore[arg-type]
            signal.raise_signal(number)

    def _stop(self) -> None:
        """Stop as the program has; it goes on by SIGCONT."""
        self._take()
        # It has had its stop signal: passed on after the stop, the same one would stop it again.
        for due in tuple(self._due):  # a handler may add to it meanwhile
            if due[1] == signal.SIGTSTP:
                self._due.remove(due)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        try:
            signal.raise_signal(signal.SIGTSTP)
        finally:
            signal.signal(signal.SIGTSTP, _ignored)


def _ignored(number: int, frame: FrameType | None) -> None:
    """Do nothing: the signal has been counted."""
