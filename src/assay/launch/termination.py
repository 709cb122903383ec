"""Termination of running launches: request the end of all of them, then wait."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import TYPE_CHECKING

from assay.signal_handlers import replaced_handlers
from assay.signals import REPEAT_WINDOW_S

if TYPE_CHECKING:
    from assay.launch.running import RunningLaunch

PROMPT_S = 0.3
"""Time in seconds within which a program without much cleanup ends."""


def ask_to_end(launches: Iterable[RunningLaunch]) -> float:
    """Ask launches to end.

    Args:
        launches: running launches; some may have ended already.

    Returns:
        The longest grace period, in seconds, of the launches that have not ended promptly.
    """
    running = list(launches)
    for launch in running:
        launch.ask_to_end()
    until_s = time.monotonic() + PROMPT_S
    late = [
        launch for launch in running if not launch.finished(max(0.0, until_s - time.monotonic()))
    ]
    return max((launch.grace_s for launch in late), default=0.0)


def end_all(launches: Iterable[RunningLaunch]) -> None:
    """Ask launches to end and wait; kill each one when its grace period is over.

    A further termination signal kills all launches at once.

    Args:
        launches: running launches.
    """
    running = list(launches)
    began_s = min((launch.ask_to_end() for launch in running), default=0.0)

    def end_now() -> None:
        for launch in running:
            launch.request_end()

    with on_repeated_signal(end_now, began_s):
        for launch in running:
            launch.await_end()


def on_repeated_signal(
    end_now: Callable[[], object], since_s: float
) -> contextlib.AbstractContextManager[None]:
    """Call a function when a further termination signal arrives within the context.

    Signals within ``REPEAT_WINDOW_S`` seconds count as the first request.

    Args:
        end_now: function to call.
        since_s: time of the first request, on the monotonic clock.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        if time.monotonic() - since_s > REPEAT_WINDOW_S:
            end_now()

    return replaced_handlers(handle)
