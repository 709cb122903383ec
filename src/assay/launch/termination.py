"""Ending: launches that are to end before their time are asked to, all at once, and waited for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import TYPE_CHECKING

from assay.signal_handlers import replaced_handlers
from assay.signals import REPEAT_WINDOW_S

if TYPE_CHECKING:
    from assay.launch.driver import RunningLaunch

PROMPT_S = 0.3
"""How soon programs end that have little to put in order."""


def ask_to_end(launches: Iterable[RunningLaunch]) -> float:
    """Ask launches to end.

    Args:
        launches: some may have ended.

    Returns:
        The longest time that those have which have not ended promptly, in seconds.
    """
    asked = list(launches)
    for one in asked:
        one.ask_to_end()
    until_s = time.monotonic() + PROMPT_S
    late = [one for one in asked if not one.finished(max(0.0, until_s - time.monotonic()))]
    return max((one.grace_s for one in late), default=0.0)


def end_all(launches: Iterable[RunningLaunch]) -> None:
    """Ask launches to end, and wait until they have; each is killed when its time is over.

    A signal meanwhile that asks for an end, and belongs to no earlier one, kills all at once.

    Args:
        launches: that run.
    """
    asked = list(launches)
    began_s = min((one.ask_to_end() for one in asked), default=0.0)

    def hurry() -> None:
        for one in asked:
            one.request_end()

    with hastened_by_signals(hurry, began_s):
        for one in asked:
            one.await_end()


def hastened_by_signals(
    hurry: Callable[[], object], since_s: float
) -> contextlib.AbstractContextManager[None]:
    """Have signals that ask for an end call a function meanwhile, in the place of their handlers.

    Those that come within ``REPEAT_WINDOW_S`` belong to what began it.

    Args:
        hurry: what they call.
        since_s: when it began, on the monotonic clock.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        if time.monotonic() - since_s > REPEAT_WINDOW_S:
            hurry()

    return replaced_handlers(handle)
