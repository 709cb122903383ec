"""Driver of assay-exec: sends launch documents, and receives launch facts."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import select
import signal
import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from assay.errors import NotPossibleError
from assay.launch.spawning import ProcessStarter, descriptor_map, spawn
from assay.launch.termination import end_all
from assay.native_programs import LAUNCHER_VARIABLE, find_native
from assay.records import RunFacts, decode

if TYPE_CHECKING:
    from assay.launch.standby import StandbyLauncher
    from assay.partition.share import Share

STDERR_HEAD_BYTES = 4096
"""Length of the kept start of standard error: libraries report some settings there."""
HOOK_PREFIX = "ASSAY_HOOK_"
"""Prefix of the variables that import hooks of the program read."""
HOOK_REPORT_VARIABLE = f"{HOOK_PREFIX}REPORT"
"""Variable that names the file to which import hooks append their readings."""
MAX_HOOK_REPORT_BYTES = 65536
"""Length of the kept part of that file."""
FORWARD_REQUEST = 64
"""Signal that asks the launcher to forward another signal to the program."""
FORWARD_MARK = 0x61737300
"""Value of that signal, less the number of the signal to forward."""
KILL_TIMEOUT_S = 10.0
"""Time in seconds for the launcher to kill a tree. After that the launcher is killed, and its
guardian ends the tree."""
PROBE_TIMEOUT_S = 10.0
"""Time in seconds for the launcher to probe the capabilities of a host."""
POLL_INTERVAL_S = 1.0
"""Interval in seconds between checks whether the launcher was stopped."""
RECORD_TIMEOUT_S = 30.0
"""Time in seconds for the record of a killed launcher: its guardian ends the tree, then writes
it."""
# struct flock of Linux on 64-bit machines: type, whence, start, length, pid (fcntl_locking(2)).
_FLOCK = struct.Struct("hhqqi4x")


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


def find_launcher(env: Mapping[str, str]) -> Path:
    """Return the launcher: ``ASSAY_EXEC``, else the one inside the package.

    Raises:
        NotPossibleError: the launcher is missing.
    """
    return find_native(env, "assay-exec", LAUNCHER_VARIABLE)


class HookReport:
    """File to which import hooks of a program append their readings.

    Args:
        named: whether the file has a name while it is open. A file without a name is reached
            through this process (``proc_pid_fd(5)``), and disappears with it.
    """

    def __init__(self, *, named: bool) -> None:
        if named:
            import tempfile

            self._fd, name = tempfile.mkstemp(prefix="assay-hook-")
            self.path = Path(name)
        else:
            self._fd = os.memfd_create("assay-hook-report")
            self.path = Path(f"/proc/{os.getpid()}/fd/{self._fd}")
        self._named = named

    def read(self) -> str:
        """Return the report so far."""
        return os.pread(self._fd, MAX_HOOK_REPORT_BYTES, 0).decode(errors="replace")

    def close(self) -> None:
        """Remove the file."""
        if self._named:
            self.path.unlink(missing_ok=True)
        os.close(self._fd)


class RunningLaunch(msgspec.Struct):
    """Running launch; close it, or use it as a context manager, in every case.

    Attributes:
        grace_s: time between the request to end and the kill, in seconds.
    """

    pid: int
    pidfd: int
    record_fd: int
    stderr: Path | None
    report: HookReport | None = None
    grace_s: float = 0.0
    _asked_s: float | None = None
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
            found = os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOHANG)
            if found is not None and found.si_status == signal.SIGTTIN:
                return True
            if found is not None:
                self.resume()
        return False

    def resume(self) -> None:
        """Resume a stopped launcher."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGCONT)

    def facts(self) -> RunFacts:
        """Return the record of a finished launch.

        Raises:
            LauncherKilledError: the launcher and its guardian were killed.
            NotPossibleError: the launcher died without a record.
        """
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        killed = os.WIFSIGNALED(status)
        document = self._record(RECORD_TIMEOUT_S if killed else 0.0)
        if not document and killed:
            raise LauncherKilledError(os.WTERMSIG(status))
        if not document:
            raise NotPossibleError(
                f"The launcher ended without a record (wait status {status}).",
                "The launch is lost. Resume the study; report this if it happens again.",
            )
        facts = decode(document, RunFacts)
        return msgspec.structs.replace(
            facts, stderr_head=self._stderr_head(), hook_report=self._hook_report()
        )

    def _record(self, patience_s: float) -> bytes:
        """Return the whole record, which ends in a newline; empty if it is incomplete."""
        end_s = time.monotonic() + patience_s
        while True:
            held = self._held()
            document = os.pread(self.record_fd, os.fstat(self.record_fd).st_size, 0)
            if document.endswith(b"\n"):
                return document
            if not held or time.monotonic() >= end_s:
                return b""
            time.sleep(0.01)

    def _held(self) -> bool:
        """Return whether a process of the launcher remains that may write the record."""
        whole = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind: int = _FLOCK.unpack(fcntl.fcntl(self.record_fd, fcntl.F_GETLK, whole))[0]
        return kind != fcntl.F_UNLCK

    def _stderr_head(self) -> str | None:
        if self.stderr is None:
            return None
        try:
            fd = os.open(self.stderr, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return os.read(fd, STDERR_HEAD_BYTES).decode(errors="replace") or None
        except OSError:
            return None
        finally:
            os.close(fd)

    def _hook_report(self) -> str | None:
        return self.report.read() if self.report is not None else None

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
        if self._asked_s is None:
            self._asked_s = time.monotonic()
            self.request_end()
        return self._asked_s

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


def request_forwarding(pid: int, number: int) -> None:
    """Ask a launcher to forward a signal: a queued signal carries its number as the value."""
    if not pid:  # already reaped
        return
    import ctypes

    value = ctypes.c_void_p(FORWARD_MARK + number)  # union sigval, which holds a pointer
    ctypes.CDLL(None).sigqueue(pid, FORWARD_REQUEST, value)


class Driver:
    """Starts launches through assay-exec.

    Launches inherit the signal mask that this process has when the driver is created.

    Args:
        launcher: path of the executable, or an object that starts it.
        env: base environment of the launches.
        cpus: CPUs to which launches and their launchers are confined; not confined if absent.
        share: share of a partition for all launches and their launchers.
    """

    def __init__(
        self,
        launcher: Path | ProcessStarter,
        env: Mapping[str, str],
        cpus: tuple[int, ...] | None = None,
        share: Share | None = None,
    ) -> None:
        self._launcher = launcher
        self._env = dict(env)
        self._cpus = cpus
        self._share = share
        self._blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._ahead: StandbyLauncher | None = None

    @property
    def env(self) -> Mapping[str, str]:
        """Base environment of the launches."""
        return self._env

    @property
    def launcher(self) -> Path | ProcessStarter:
        """Path of the executable, or the object that starts it."""
        return self._launcher

    @property
    def share(self) -> Share | None:
        """Share of a partition for the launches."""
        return self._share

    def within(self, cpus: tuple[int, ...], **variables: str) -> Driver:
        """Return a driver whose launches are confined to these CPUs and have these variables."""
        return Driver(self._launcher, {**self._env, **variables}, cpus, self._share)

    def placed(self, share: Share) -> Driver:
        """Return a driver whose launches run in a share and have its variables."""
        return Driver(self._launcher, {**self._env, **share.variables}, self._cpus, share)

    def start_standby(self) -> None:
        """Keep a launcher on standby for each launch from now on, until ``close``.

        Raises:
            NotPossibleError: the launcher cannot be moved into the share.
        """
        from assay.launch.standby import StandbyLauncher

        if self._ahead is not None:
            return
        # The next launch reports the error.
        with contextlib.suppress(OSError), self._confined():
            place = None if self._share is None else self._place
            self._ahead = StandbyLauncher(self._launcher, self._env, place)

    def close(self) -> None:
        """Dismiss the launcher on standby. Launches can still be started."""
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None

    def start(self, document: Mapping[str, Any]) -> RunningLaunch:
        """Start one launch; ``docs/reference/assay-exec.md`` defines the document.

        Raises:
            NotPossibleError: the launcher cannot be started.
        """
        if not any(name.startswith(HOOK_PREFIX) for name in document.get("env_set", {})):
            return self._started(document)
        # A program may not open the descriptors of a process that has changed its user.
        report = HookReport(named=not isinstance(self._launcher, Path))
        try:
            running = self._started(_reporting_to(report, document))
        except BaseException:
            report.close()
            raise
        running.report = report
        return running

    def _started(self, document: Mapping[str, Any]) -> RunningLaunch:
        plan = _encoded(document)
        record_fd = os.memfd_create("assay-record")
        try:
            pid = self._front(plan, record_fd)
        except OSError as error:
            os.close(record_fd)
            raise NotPossibleError(
                f"The launcher {self._launcher} cannot be started: {error.strerror}.",
                "See `assay doctor`.",
            ) from error
        except BaseException:
            os.close(record_fd)
            raise
        first: Mapping[str, Any] = next(iter(document.get("instances", ())), {})
        stderr = document.get("stderr") or first.get("stderr")
        return RunningLaunch(
            pid,
            os.pidfd_open(pid),
            record_fd,
            Path(stderr) if stderr else None,
            grace_s=document.get("grace_s", 0.0),
        )

    def _front(self, plan: bytes, record_fd: int) -> int:
        """Start the launcher of a launch; return its process id."""
        if self._share is not None and self._ahead is None:
            return self._placed_front(plan, record_fd)
        plan_fd = os.memfd_create("assay-plan")
        try:
            os.write(plan_fd, plan)
            os.lseek(plan_fd, 0, os.SEEK_SET)
            if self._ahead is not None:
                if (pid := self._ahead.order(plan_fd, record_fd)) is not None:
                    return pid
                self.close()  # the standby was killed; launches take slightly longer without it
                if self._share is not None:
                    return self._placed_front(plan, record_fd)
            return self._spawned(plan_fd, record_fd)
        finally:
            os.close(plan_fd)

    def _placed_front(self, plan: bytes, record_fd: int) -> int:
        """Start a launcher that waits for its plan until it is in the share."""
        plan_fd, writing_fd = os.pipe()
        try:
            try:
                pid = self._spawned(plan_fd, record_fd)
            finally:
                os.close(plan_fd)
            try:
                self._place(pid)
                _write_all(writing_fd, plan)
            except BaseException:
                os.close(writing_fd)  # the launcher ends without a plan
                writing_fd = -1
                os.waitpid(pid, 0)
                raise
        finally:
            if writing_fd >= 0:
                os.close(writing_fd)
        return pid

    def _spawned(self, plan_fd: int, record_fd: int) -> int:
        places = descriptor_map(self._launcher, (plan_fd, record_fd))
        plan, record = (str(places[fd]) for fd in (plan_fd, record_fd))
        arguments = ["--plan-fd", plan, "--record-fd", record]
        with self._confined():
            return spawn(self._launcher, arguments, self._env, places, self._blocked)

    def _place(self, pid: int) -> None:
        assert self._share is not None
        self._share.place(pid, self._cpus)

    def _confined(self) -> contextlib.AbstractContextManager[None]:
        # The CPUs of a share may be outside the affinity of this process.
        return _confined(None if self._share is not None else self._cpus)

    def sweep(self) -> None:
        """End the remains of launchers that were killed with their guardians."""
        with contextlib.suppress(OSError):  # the next launch reports the error
            with Path(os.devnull).open("wb") as nowhere:
                pid = spawn(self._launcher, ["--sweep"], self._env, {nowhere.fileno(): 1})
            os.waitpid(pid, 0)

    def probe(self) -> dict[str, Any]:
        """Return the capabilities of the launcher on this host (``assay-exec --probe``).

        Raises:
            NotPossibleError: the launcher does not answer.
        """
        try:
            with os.fdopen(os.memfd_create("assay-probe"), "w+b") as answer:
                pid = spawn(self._launcher, ["--probe"], self._env, {answer.fileno(): 1})
                _wait(pid, PROBE_TIMEOUT_S)
                answer.seek(0)
                found: dict[str, Any] = msgspec.json.decode(answer.read())
        except (OSError, ValueError, msgspec.DecodeError) as error:
            raise NotPossibleError(
                f"{self._launcher} --probe gave no answer: {error}.", "Install assay again."
            ) from error
        return found


def _wait(pid: int, timeout_s: float) -> None:
    """Wait for the end of a child; kill it after the timeout."""
    pidfd = os.pidfd_open(pid)
    try:
        if not select.select([pidfd], [], [], timeout_s)[0]:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.waitpid(pid, 0)
    finally:
        os.close(pidfd)


def _write_all(fd: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(fd, left) :]


@contextlib.contextmanager
def _confined(cpus: tuple[int, ...] | None) -> Iterator[None]:
    """Confine processes that this thread starts within the context (``sched_setaffinity(2)``).

    Raises:
        OSError: this process may use none of these CPUs.
    """
    if cpus is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _reporting_to(report: HookReport, document: Mapping[str, Any]) -> Mapping[str, Any]:
    # Leading slashes keep the size of the environment constant for all process ids.
    path = str(report.path).rjust(32, "/")
    return {**document, "env_set": {**document["env_set"], HOOK_REPORT_VARIABLE: path}}


def _encoded(document: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        return msgspec.json.encode(_with_hex(document))


def _with_hex(value: Any) -> Any:
    """Return a document whose non-UTF-8 texts are replaced by hexadecimal digits."""
    if isinstance(value, str):
        text = value.encode(errors="surrogateescape")
        return {"hex": text.hex()} if any("\ud800" <= c <= "\udfff" for c in value) else value
    if isinstance(value, Mapping):
        return {name: _with_hex(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_hex(item) for item in value]
    return value
