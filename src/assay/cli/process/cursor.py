"""Terminal cursor: hidden while a progress line changes, shown while the process is stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from types import FrameType, TracebackType

_SHOW, _HIDE = b"\x1b[?25h", b"\x1b[?25l"


class HiddenCursor:
    """Context that shows the cursor at exit, and while SIGTSTP stops the process."""

    def __init__(self) -> None:
        self._installed = False

    def __enter__(self) -> HiddenCursor:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
            signal.signal(signal.SIGTSTP, self._stop)
            self._installed = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _write(_SHOW)
        if self._installed:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            self._installed = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        _write(_SHOW)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)  # returns at SIGCONT
        signal.signal(number, self._stop)
        _write(_HIDE)


def _write(text: bytes) -> None:
    with contextlib.suppress(OSError):
        os.write(2, text)
