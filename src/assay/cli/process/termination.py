"""Termination of the command line by signals.

As long as there is nothing to clean up, a signal ends the process at once. Later, a signal raises
an exception. An exception that is raised while modules are loaded, or while msgspec reads the
annotations of a record for the first time, crashes the interpreter or is lost. With msgspec 0.22,
one start in twenty crashed if it was interrupted within its first 0.1 s.
"""

from __future__ import annotations

import signal
import time

from assay.signals import ENDING_SIGNALS, REPEAT_WINDOW_S

TYPE_CHECKING = False
"""Same as ``typing.TYPE_CHECKING``; loading ``typing`` takes longer than all other imports."""

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


MAX_RAISED_SIGNALS = 2
"""Signals that raise an exception: the first one, and one more that interrupts the clean-up."""


class Terminated(BaseException):
    """A termination signal other than SIGINT arrived."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def terminate_at_once() -> None:
    """Restore the default action of termination signals, as there is nothing to clean up.

    This holds at the start of the process and after its work: an exception that is raised while the
    interpreter ends is reported as ignored.
    """
    for number in ENDING_SIGNALS:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def terminate_in_order() -> None:
    """Let termination signals raise an exception, so that this process cleans up.

    A signal that was ignored at the start remains ignored: see nohup(1).
    """
    handler = termination_handler()
    for number in ENDING_SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, handler)


def termination_handler() -> Callable[[int, FrameType | None], None]:
    """Return a handler that raises ``KeyboardInterrupt`` or ``Terminated``.

    Further signals within ``REPEAT_WINDOW_S`` count as the same one: batch systems and service
    managers send several, and each would interrupt the clean-up. A later signal does interrupt it,
    and another one ends the process at once.
    """
    received_s: list[float] = []

    def end(number: int, frame: FrameType | None) -> None:
        now_s = time.monotonic()
        if received_s and now_s - received_s[-1] <= REPEAT_WINDOW_S:
            return
        received_s.append(now_s)
        if len(received_s) > MAX_RAISED_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)

    return end
