"""Stop of a running study by another thread."""

from __future__ import annotations

import threading

from assay.errors import StudyStopped

CHECK_INTERVAL_S = 1.5
"""Longest interval between two checks during a launch, in seconds. It exceeds the interval at which
executors look after stopped launchers (``launch.running.POLL_INTERVAL_S``)."""


class StopSignal:
    """Request to stop a study; any thread may set it."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Request the stop; a running launch ends within ``CHECK_INTERVAL_S``."""
        self._event.set()

    def check(self) -> None:
        """Raise an error if the stop is requested.

        Raises:
            StudyStopped: the stop is requested.
        """
        if self._event.is_set():
            raise StudyStopped(
                "The study was stopped.", "Resume it: all finished launches are kept."
            )
