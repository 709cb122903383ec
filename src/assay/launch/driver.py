"""Driver of assay-exec: documents in, facts out."""

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
"""How much of the error output is kept: some settings are judged by what a library says there."""
HOOK_PREFIX = "ASSAY_HOOK_"
"""How the variables begin that import hooks of the program read."""
HOOK_REPORT_VARIABLE = f"{HOOK_PREFIX}REPORT"
"""Variable that names the file to which import hooks append what they read back."""
MAX_HOOK_REPORT_BYTES = 65536
"""How much of it is kept."""
FORWARD_REQUEST = 64
"""Signal that asks the launcher to pass one on to the program."""
FORWARD_MARK = 0x61737300
"""The value that comes with it, less the number of the signal to be passed on."""
KILL_TIMEOUT_S = 10.0
"""How long the launcher may take to kill a tree; it is killed then, and its guardian ends the
tree."""
PROBE_TIMEOUT_S = 10.0
"""How long it may take to try what a host lets the launcher do."""
POLL_INTERVAL_S = 1.0
"""How often to see whether something has stopped the launcher."""
RECORD_TIMEOUT_S = 30.0
"""How long the record of a killed launcher may take: its guardian ends the tree, then writes it."""
# struct flock of Linux on 64-bit machines: type, whence, start, length, pid (fcntl_locking(2)).
_FLOCK = struct.Struct("hhqqi4x")


class LauncherKilledError(NotPossibleError):
    """A launcher was killed and left no record.

    Args:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(
            f"The launcher ended without a record (wait status {number}).",
            "The launch is lost; resume the study, and report this if it comes again.",
        )
        self.number = number


def find_launcher(env: Mapping[str, str]) -> Path:
    """The launcher of this installation: ``ASSAY_EXEC``, else the one inside the package.

    Raises:
        NotPossibleError: there is none.
    """
    return find_native(env, "assay-exec", LAUNCHER_VARIABLE)


class HookReport:
    """A file to which import hooks of a program append what they read back.

    Args:
        named: has a name of its own while it is open; without one it is reached through this
            process (``proc_pid_fd(5)``), and leaves nothing behind however this one ends.
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
        """What was reported so far."""
        return os.pread(self._fd, MAX_HOOK_REPORT_BYTES, 0).decode(errors="replace")

    def close(self) -> None:
        """Remove it."""
        if self._named:
            self.path.unlink(missing_ok=True)
        os.close(self._fd)


class RunningLaunch(msgspec.Struct):
    """A launch under way; close it, or use it as a context, whatever happens.

    Attributes:
        grace_s: what the program has between being asked to end and being killed.
    """

    pid: int
    pidfd: int
    record_fd: int
    stderr: Path | None
    report: HookReport | None = None
    grace_s: float = 0.0
    _asked_s: float | None = None
    """When it was asked to end, on the monotonic clock."""

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
        """Wait until the launcher has ended, at most ``timeout_s`` (``None``: without end)."""
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
        """Go on with a launcher that is stopped, and which could not end its program."""
        if self.stopped_with_program():
            self.resume()

    def stopped_with_program(self) -> bool:
        """Tell whether the launcher has stopped because its program is stopped.

        With ``"signals": "leave"`` that is for the caller to follow. A launcher which was stopped
        in another way goes on.

        Returns:
            Whether it has, since the last call.
        """
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            found = os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOHANG)
            if found is not None and found.si_status == signal.SIGTTIN:
                return True
            if found is not None:
                self.resume()
        return False

    def resume(self) -> None:
        """Have the launcher go on that is stopped."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGCONT)

    def facts(self) -> RunFacts:
        """The record of a launch that has finished.

        Raises:
            LauncherKilledError: the launcher was killed, and its guardian too.
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
                "The launch is lost; resume the study, and report this if it comes again.",
            )
        facts = decode(document, RunFacts)
        return msgspec.structs.replace(
            facts, stderr_head=self._stderr_head(), hook_report=self._hook_report()
        )

    def _record(self, patience_s: float) -> bytes:
        """The whole record, which a newline ends."""
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
        """Whether a process of the launcher is left that may write the record."""
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
        """Send the program a signal, unless the launcher has just had it with its whole group.

        Only for a document with ``"signals": "leave"``.
        """
        if number == signal.SIGCONT:
            self.resume()  # it is stopped when its program is
        request_forwarding(self.pid, number)

    def ask_to_end(self) -> float:
        """Ask for the end of the tree, once; it is killed when its time is over.

        Returns:
            When it was asked, on the monotonic clock.
        """
        if self._asked_s is None:
            self._asked_s = time.monotonic()
            self.request_end()
        return self._asked_s

    def request_end(self) -> None:
        """Request the end; a second request that comes later kills the tree at once."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGSYS)
            self.resume()  # a stopped one would not hear of it

    def await_end(self) -> None:
        """Wait until the launcher has ended, which is killed where it does not do so in time."""
        until_s = self.ask_to_end() + self.grace_s + KILL_TIMEOUT_S
        if not self.finished(max(0.0, until_s - time.monotonic())):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def close(self) -> None:
        """End the tree if it still runs, and let go of the descriptors."""
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
    """Ask a launcher to pass a signal on: it comes queued, with the number in its value."""
    if not pid:  # waited for
        return
    import ctypes

    value = ctypes.c_void_p(FORWARD_MARK + number)  # union sigval, which holds a pointer
    ctypes.CDLL(None).sigqueue(pid, FORWARD_REQUEST, value)


class Driver:
    """Starts launches through assay-exec.

    Launches have those signals blocked that this process has when it is made.

    Args:
        launcher: path of the executable, or who starts it.
        env: environment that launches start from.
        cpus: that launches are confined to, with their launchers; none where absent.
        share: of a partition that all launches are placed in, with their launchers.
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
        """The environment that launches start from."""
        return self._env

    @property
    def launcher(self) -> Path | ProcessStarter:
        """Path of the executable, or who starts it."""
        return self._launcher

    @property
    def share(self) -> Share | None:
        """The share of a partition that launches are placed in."""
        return self._share

    def within(self, cpus: tuple[int, ...], **variables: str) -> Driver:
        """One whose launches are confined to these CPUs, and have these variables."""
        return Driver(self._launcher, {**self._env, **variables}, cpus, self._share)

    def placed(self, share: Share) -> Driver:
        """One whose launches are placed in a share, and are told of it."""
        return Driver(self._launcher, {**self._env, **share.variables}, self._cpus, share)

    def start_standby(self) -> None:
        """Have a launcher stand by for each launch from now on, until ``close``.

        Raises:
            NotPossibleError: there is a share, and the launcher cannot be placed in it.
        """
        from assay.launch.standby import StandbyLauncher

        if self._ahead is not None:
            return
        # To launch with it will say what is wrong.
        with contextlib.suppress(OSError), self._confined():
            place = None if self._share is None else self._place
            self._ahead = StandbyLauncher(self._launcher, self._env, place)

    def close(self) -> None:
        """Send away what stands by. Launches can still be started."""
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None

    def start(self, document: Mapping[str, Any]) -> RunningLaunch:
        """Start one launch; the document is that of ``docs/reference/assay-exec.md``.

        Raises:
            NotPossibleError: the launcher cannot be started.
        """
        if not any(name.startswith(HOOK_PREFIX) for name in document.get("env_set", {})):
            return self._started(document)
        # Programs may not open what a process has open that has become another user.
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
        """The process that does a launch."""
        if self._share is not None and self._ahead is None:
            return self._placed_front(plan, record_fd)
        plan_fd = os.memfd_create("assay-plan")
        try:
            os.write(plan_fd, plan)
            os.lseek(plan_fd, 0, os.SEEK_SET)
            if self._ahead is not None:
                if (pid := self._ahead.order(plan_fd, record_fd)) is not None:
                    return pid
                self.close()  # it was killed; launches without it take a little longer
                if self._share is not None:
                    return self._placed_front(plan, record_fd)
            return self._spawned(plan_fd, record_fd)
        finally:
            os.close(plan_fd)

    def _placed_front(self, plan: bytes, record_fd: int) -> int:
        """One that waits for its plan, and so does nothing, until it is in the share."""
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
                os.close(writing_fd)  # without a plan it ends
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
        # The CPUs of a share may be none of those that this process may use.
        return _confined(None if self._share is not None else self._cpus)

    def sweep(self) -> None:
        """End and remove what launchers left that were killed together with their guardians."""
        with contextlib.suppress(OSError):  # to launch with it will say what is wrong
            with Path(os.devnull).open("wb") as nowhere:
                pid = spawn(self._launcher, ["--sweep"], self._env, {nowhere.fileno(): 1})
            os.waitpid(pid, 0)

    def probe(self) -> dict[str, Any]:
        """What this host lets the launcher do (``assay-exec --probe``).

        Raises:
            NotPossibleError: the launcher did not answer.
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
    """Wait for the end of a child; what takes longer is killed."""
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
    """What this thread starts meanwhile inherits these CPUs (``sched_setaffinity(2)``).

    Raises:
        OSError: none of them may be used.
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
    # Slashes in front keep the size of the environment the same, whatever the numbers are.
    path = str(report.path).rjust(32, "/")
    return {**document, "env_set": {**document["env_set"], HOOK_REPORT_VARIABLE: path}}


def _encoded(document: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        return msgspec.json.encode(_with_hex(document))


def _with_hex(value: Any) -> Any:
    """A document with the bytes of each text that is not UTF-8, in hexadecimal digits."""
    if isinstance(value, str):
        text = value.encode(errors="surrogateescape")
        return {"hex": text.hex()} if any("\ud800" <= c <= "\udfff" for c in value) else value
    if isinstance(value, Mapping):
        return {name: _with_hex(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_hex(item) for item in value]
    return value
