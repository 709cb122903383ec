"""Running launch: wait for its end, signal it, and receive its facts."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import time
from pathlib import Path
from types import TracebackType

import msgspec

from assay.errors import NotPossibleError
from assay.launch.hook_report import HookReport
from assay.launch.record import read_record
from assay.launch.termination import end_all
from assay.records import RunFacts, decode

STDERR_HEAD_BYTES = 4096
"""Length of the kept start of standard error: libraries report some settings there."""
FORWARD_REQUEST = 64
"""Signal that asks the launcher to forward another signal to the program."""
FORWARD_MARK = 0x61737300
"""Value of that signal, less the number of the signal to forward."""
KILL_TIMEOUT_S = 10.0
"""Time in seconds for the launcher to kill a tree. After that the launcher is killed, and its
supervisor ends the tree."""
POLL_INTERVAL_S = 1.0
"""Interval in seconds between checks whether the launcher was stopped."""
RECORD_TIMEOUT_S = 30.0
"""Time in seconds for the record of a killed launcher: its supervisor ends the tree, then writes
it."""


class LauncherKilledError(NotPossibleError):
    """Kill of a launcher that left no record.

    Args:
        number: number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(
            f"The launcher ended without a record (wait status {number}).",
            "The launch is lost. Resume the study; report this if it happens again.",
        )
        self.number = number


class RunningLaunch(msgspec.Struct):
    """Running launch; close it, or use it as a context manager, in every case.

    Attributes:
        pid: process id of the launcher; 0 after it was reaped.
        pidfd: descriptor of the launcher process.
        record_fd: descriptor of the file with the record.
        stderr: file with the standard error of the program.
        report: readings of the import hooks of the program, if it has any.
        grace_s: time between the request to end and the kill, in seconds.
    """

    pid: int
    pidfd: int
    record_fd: int
    stderr: Path | None
    report: HookReport | None = None
    grace_s: float = 0.0
    _end_requested_s: float | None = None
    """Time of the request to end, on the monotonic clock."""

    def __enter__(self) -> RunningLaunch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def finished(self, timeout_s: float | None) -> bool:
        """Wait for the end of the launcher, at most ``timeout_s`` (``None``: without a limit)."""
        poller = select.poll()
        poller.register(self.pidfd, select.POLLIN)
        end_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left_s = max(0.0, end_s - time.monotonic())
            if poller.poll(min(left_s, POLL_INTERVAL_S) * 1000):
                return True
            if left_s <= POLL_INTERVAL_S:
                return False
            self.resume_if_stopped()

    def resume_if_stopped(self) -> None:
        """Resume a stopped launcher, which could not end its program."""
        if self.stopped_with_program():
            self.resume()

    def stopped_with_program(self) -> bool:
        """Return whether the launcher has stopped because its program is stopped.

        With ``"signals": "leave"`` the caller stops as well. A launcher that was stopped in another
        way is resumed.

        Returns:
            Whether it has stopped since the last call.
        """
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            change = os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOHANG)
            if change is not None and change.si_status == signal.SIGTTIN:
                return True
            if change is not None:
                self.resume()
        return False

    def resume(self) -> None:
        """Resume a stopped launcher."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGCONT)

    def facts(self) -> RunFacts:
        """Return the record of a finished launch.

        Raises:
            LauncherKilledError: the launcher and its supervisor were killed.
            NotPossibleError: the launcher died without a record.
        """
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        killed = os.WIFSIGNALED(status)
        document = read_record(self.record_fd, RECORD_TIMEOUT_S if killed else 0.0)
        if not document and killed:
            raise LauncherKilledError(os.WTERMSIG(status))
        if not document:
            raise NotPossibleError(
                f"The launcher ended without a record (wait status {status}).",
                "The launch is lost. Resume the study; report this if it happens again.",
            )
        return msgspec.structs.replace(
            decode(document, RunFacts),
            stderr_head=None if self.stderr is None else _head_of(self.stderr),
            hook_report=None if self.report is None else self.report.read(),
        )

    def forward_signal(self, number: int) -> None:
        """Forward a signal to the program, unless its process group has just received it.

        Valid only for a document with ``"signals": "leave"``.
        """
        if number == signal.SIGCONT:
            self.resume()  # the launcher stops together with its program
        request_forwarding(self.pid, number)

    def ask_to_end(self) -> float:
        """Ask the process tree to end, once; it is killed after its grace period.

        Returns:
            The time of the request, on the monotonic clock.
        """
        if self._end_requested_s is None:
            self._end_requested_s = time.monotonic()
            self.request_end()
        return self._end_requested_s

    def request_end(self) -> None:
        """Request the end; a second, later request kills the tree at once."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGSYS)
            self.resume()  # a stopped launcher would not receive it

    def await_end(self) -> None:
        """Wait for the end of the launcher; kill it if it exceeds its time."""
        until_s = self.ask_to_end() + self.grace_s + KILL_TIMEOUT_S
        if not self.finished(max(0.0, until_s - time.monotonic())):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def close(self) -> None:
        """End the process tree if it still runs, and close the descriptors."""
        if self.pid:
            end_all([self])
            os.waitpid(self.pid, 0)
            self.pid = 0
        for fd in (self.pidfd, self.record_fd):
            if fd >= 0:
                os.close(fd)
        self.pidfd = self.record_fd = -1
        if self.report is not None:
            self.report.close()
            self.report = None


def _head_of(path: Path) -> str | None:
    """Return the start of standard error; ``None`` if it is empty or cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(fd, STDERR_HEAD_BYTES).decode(errors="replace") or None
    except OSError:
        return None
    finally:
        os.close(fd)


def request_forwarding(pid: int, number: int) -> None:
    """Ask a launcher to forward a signal: a queued signal carries its number as the value."""
    if not pid:  # already reaped
        return
    import ctypes

    value = ctypes.c_void_p(FORWARD_MARK + number)  # union sigval, which holds a pointer
    ctypes.CDLL(None).sigqueue(pid, FORWARD_REQUEST, value)
