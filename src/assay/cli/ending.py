"""Ending: the signals by which a command line is told to end.

Until there is something to clean up they end the process at once. Python's own way, an exception
wherever the interpreter happens to be, is for later: raised while modules are loaded, or while
msgspec reads the annotations of a record for the first time, it crashes the interpreter (seen
with msgspec 0.22: one start in twenty that was interrupted within its first tenth of a second) or
is lost.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType


class Terminated(BaseException):
    """SIGTERM or SIGHUP arrived."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def end_at_once() -> None:
    """Let SIGINT end the process, as SIGTERM and SIGHUP do when it begins."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def end_in_order() -> None:
    """Let signals raise ``KeyboardInterrupt`` or ``Terminated``.

    One that was ignored from the start stays so: see nohup(1).
    """
    handlers = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: terminate,
        signal.SIGHUP: terminate,
    }
    for number, handler in handlers.items():
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, handler)


def terminate(number: int, frame: FrameType | None) -> NoReturn:
    """As a handler of a signal."""
    raise Terminated(number)
