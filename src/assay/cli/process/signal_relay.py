"""Relay of signals from `assay run` to its program.

A signal may arrive at assay alone, or at its process group and so at the program as well. The
launcher is a member of that group: a signal that it received too is not sent a second time. When
the program stops, assay stops as well, as a shell expects of a job.
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
    from assay.launch.running import RunningLaunch

TERMINATION_REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a program to end: from a terminal, a service manager, a batch system."""
DELIVERY_S = 0.05
"""Time after which a signal to a process group has reached all members, in seconds."""
GROUP_S = 0.2
"""Time within which several requests to end count as one, in seconds: timeout(1) signals its child
and then the child's group, and systemd may send SIGHUP after SIGTERM."""
POLL_S = 1.0
"""Interval between two checks whether the launcher is stopped, in seconds."""


class SignalRelay:
    """Context that relays signals to a launch; enter it before the launch starts.

    A program may receive signals shortly before assay learns of its start: signals that arrive
    until then are relayed then. The first signal of ``TERMINATION_REQUESTS`` is relayed as well. A
    second one runs the previous handler, which ends the process tree. A signal that assay ignored
    before is relayed each time, and does not count as the first.
    """

    def __init__(self) -> None:
        self._before: dict[int, object] = {}
        self._due: deque[tuple[float, int]] = deque()
        self._first_s: float | None = None
        self._reading, self._writing = -1, -1
        self._wakeup = -1

    def __enter__(self) -> SignalRelay:
        self._reading, self._writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        # Handlers of Python merge simultaneous signals; the file descriptor counts them.
        self._wakeup = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        # The program inherits ignored signals, and ignores them as well: see `serve`.
        self._install_handlers(
            n for n in (*CATCHABLE, signal.SIGCHLD) if signal.getsignal(n) != signal.SIG_IGN
        )
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
        """Relay signals until the launch has ended.

        Args:
            running: launch that has just started.
        """
        self._install_handlers(n for n in CATCHABLE if n not in self._before)
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
            self._queue_received()
            while self._due and self._due[0][0] <= time.monotonic():
                running.forward_signal(self._due.popleft()[1])
            if running.stopped_with_program():
                self._stop()
                running.resume()

    def _install_handlers(self, numbers: Iterable[int]) -> None:
        for number in tuple(numbers):
            before = signal.getsignal(number)
            if before is None:  # not installed by Python
                continue
            self._before[number] = before
            signal.signal(
                number, self._on_termination_request if number in TERMINATION_REQUESTS else _ignored
            )

    def _queue_received(self) -> None:
        """Queue the signals that have arrived, one entry for each arrival."""
        try:
            numbers = os.read(self._reading, 4096)
        except BlockingIOError:
            return
        now_s = time.monotonic()
        for number in numbers:
            if number == signal.SIGCHLD or number in TERMINATION_REQUESTS:
                continue
            self._due.append((now_s + DELIVERY_S, number))

    def _on_termination_request(self, number: int, frame: FrameType | None) -> None:
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
        """Stop like the program, until SIGCONT."""
        self._queue_received()
        # The program has received its stop signal already; relayed later, it would stop it again.
        for due in tuple(self._due):  # a handler may append to it
            if due[1] == signal.SIGTSTP:
                self._due.remove(due)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        try:
            signal.raise_signal(signal.SIGTSTP)
        finally:
            signal.signal(signal.SIGTSTP, _ignored)


def _ignored(number: int, frame: FrameType | None) -> None:
    """Do nothing, as the wake-up file descriptor has counted the signal."""
