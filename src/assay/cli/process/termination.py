"""Ending: the signals by which a command line is told to end.

Until there is something to clean up they end the process at once. Python's own way, an exception
wherever the interpreter happens to be, is for later: raised while modules are loaded, or while
msgspec reads the annotations of a record for the first time, it crashes the interpreter (seen
with msgspec 0.22: one start in twenty that was interrupted within its first tenth of a second) or
is lost.
"""

from __future__ import annotations

import signal
import time

from assay.signals import ENDING_SIGNALS, REPEAT_WINDOW_S

TYPE_CHECKING = False
"""As ``typing`` has it, which takes longer to load than all that is here."""

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


MAX_RAISED_SIGNALS = 2
"""Signals that end the process in order: the first, and one that cuts a clean-up short."""


class Terminated(BaseException):
    """A signal arrived that ends a process, but for SIGINT."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def terminate_at_once() -> None:
    """Let signals end the process that would raise an exception: there is nothing to clean up.

    That is so when it begins, and again when its work is done: raised while the interpreter ends,
    an exception is told as one that was ignored.
    """
    for number in ENDING_SIGNALS:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def terminate_in_order() -> None:
    """Let signals end the process by an exception, which cleans up.

    One that was ignored from the start stays so: see nohup(1).
    """
    handler = termination_handler()
    for number in ENDING_SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, handler)


def termination_handler() -> Callable[[int, FrameType | None], None]:
    """A handler for which the first signal is ``KeyboardInterrupt`` or ``Terminated``.

    Others soon after it are the same one: batch systems and service managers send several, and
    raised again, within the cleaning up, they would cut that off. A later one does so, and one
    after that ends the process at once.
    """
    heard_s: list[float] = []

    def end(number: int, frame: FrameType | None) -> None:
        now_s = time.monotonic()
        if heard_s and now_s - heard_s[-1] <= REPEAT_WINDOW_S:
            return
        heard_s.append(now_s)
        if len(heard_s) > MAX_RAISED_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)

    return end
