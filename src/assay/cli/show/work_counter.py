"""Counter of finished work on standard error, for actions on the whole store."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

_TERMINAL_PERIOD_S = 0.2
_LOG_PERIOD_S = 10.0


class WorkCounter:
    """Line that is updated on a terminal; elsewhere a new line every ten seconds.

    Args:
        name: name of the action.
        quiet: show nothing.
    """

    def __init__(self, name: str, *, quiet: bool) -> None:
        self._name = name
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._period_s = _TERMINAL_PERIOD_S if self._live else _LOG_PERIOD_S
        self._shown_s = time.monotonic()
        self._width = 0

    def show(self, text: str) -> None:
        """Show a text, unless the previous one was shown a moment ago."""
        now_s = time.monotonic()
        if now_s - self._shown_s >= self._period_s:
            self._shown_s = now_s
            self.say(text)

    def say(self, text: str) -> None:
        """Show a text."""
        if self._quiet:
            return
        line = f"{self._name}: {text}"
        if self._live:
            print(f"\r{line:{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)
        else:
            print(f"assay: {line}", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Clear the line."""
        if self._width:
            print(f"\r{'':{self._width}}\r", end="", file=sys.stderr, flush=True)
