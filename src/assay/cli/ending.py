"""Ending: the signals by which a command line is told to end."""

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


def heed_signals() -> None:
    """Let both raise ``Terminated``, but for one that was ignored from the start: see nohup(1)."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, terminate)


def terminate(number: int, frame: FrameType | None) -> NoReturn:
    """As a handler of a signal."""
    raise Terminated(number)
