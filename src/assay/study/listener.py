"""Listener: receiver of the progress of a study."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from assay.errors import AssayError
from assay.executors.progress.live import LatestReport
from assay.records import Budget, Launch, Sample
from assay.search.races.race import Race


class Listener(Protocol):
    """Receiver of the progress of a study."""

    def started(self, study_id: str) -> None:
        """Report the id of a new study."""
        ...

    def warned(self, error: AssayError) -> None:
        """Report an error that does not end the study."""
        ...

    def noticed(self, text: str) -> None:
        """Report a finding about the values of a running launch."""
        ...

    def watching(self, latest: Callable[[], LatestReport | None]) -> None:
        """Receive the function that returns the newest value of a running launch."""
        ...

    def launching(self, launch: Launch, left: Budget) -> None:
        """Report the start of a launch."""
        ...

    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        """Return a context for the build of the program."""
        ...

    def sampled(self, sample: Sample, race: Race, left: Budget) -> None:
        """Report the end of a launch, which is stored."""
        ...

    def ending(self, grace_s: float) -> None:
        """Report a termination request and the time until SIGKILL, in seconds."""
        ...

    def ended(self, launches: int) -> None:
        """Report the end of the study with the number of its stored launches."""
        ...


class SilentListener:
    """Listener that ignores the progress."""

    def started(self, study_id: str) -> None:
        """See ``Listener.started``."""

    def warned(self, error: AssayError) -> None:
        """See ``Listener.warned``."""

    def noticed(self, text: str) -> None:
        """See ``Listener.noticed``."""

    def watching(self, latest: Callable[[], LatestReport | None]) -> None:
        """See ``Listener.watching``."""

    def launching(self, launch: Launch, left: Budget) -> None:
        """See ``Listener.launching``."""

    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        """See ``Listener.building``."""
        return contextlib.nullcontext()

    def sampled(self, sample: Sample, race: Race, left: Budget) -> None:
        """See ``Listener.sampled``."""

    def ending(self, grace_s: float) -> None:
        """See ``Listener.ending``."""

    def ended(self, launches: int) -> None:
        """See ``Listener.ended``."""
