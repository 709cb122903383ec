"""Driver of assay-exec: sends launch documents."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from assay.errors import NotPossibleError
from assay.launch.encoding import encode_document
from assay.launch.hook_report import HookReport, has_hooks, report_to
from assay.launch.processes import LauncherProcesses
from assay.launch.running import RunningLaunch
from assay.launch.spawning import ProcessStarter, spawn
from assay.native_programs import LAUNCHER_VARIABLE, find_native

if TYPE_CHECKING:
    from assay.partition.share import Share

PROBE_TIMEOUT_S = 10.0
"""Time in seconds for the launcher to probe the capabilities of a host."""


def find_launcher(env: Mapping[str, str]) -> Path:
    """Return the launcher: ``ASSAY_EXEC``, else the one inside the package.

    Raises:
        NotPossibleError: the launcher is missing.
    """
    return find_native(env, "assay-exec", LAUNCHER_VARIABLE)


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
        self._processes = LauncherProcesses(launcher, self._env, cpus, share)

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
        self._processes.start_standby()

    def close(self) -> None:
        """Dismiss the launcher on standby. Launches can still be started."""
        self._processes.stop_standby()

    def start(self, document: Mapping[str, Any]) -> RunningLaunch:
        """Start one launch; ``docs/reference/assay-exec.md`` defines the document.

        Raises:
            NotPossibleError: the launcher cannot be started.
        """
        if not has_hooks(document):
            return self._start(document)
        # A program may not open the descriptors of a process that has changed its user.
        report = HookReport(named=not isinstance(self._launcher, Path))
        try:
            running = self._start(report_to(report, document))
        except BaseException:
            report.close()
            raise
        running.report = report
        return running

    def _start(self, document: Mapping[str, Any]) -> RunningLaunch:
        plan = encode_document(document)
        record_fd = os.memfd_create("assay-record")
        try:
            pid = self._processes.start(plan, record_fd)
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

    def sweep(self) -> None:
        """End the remains of launchers that were killed with their supervisors."""
        with contextlib.suppress(OSError):  # the next launch reports the error
            with Path(os.devnull).open("wb") as null:
                pid = spawn(self._launcher, ["--sweep"], self._env, {null.fileno(): 1})
            os.waitpid(pid, 0)

    def probe(self) -> dict[str, Any]:
        """Return the capabilities of the launcher on this host (``assay-exec --probe``).

        Raises:
            NotPossibleError: the launcher does not answer.
        """
        try:
            with os.fdopen(os.memfd_create("assay-probe"), "w+b") as answer:
                pid = spawn(self._launcher, ["--probe"], self._env, {answer.fileno(): 1})
                _wait_or_kill(pid, PROBE_TIMEOUT_S)
                answer.seek(0)
                capabilities: dict[str, Any] = msgspec.json.decode(answer.read())
        except (OSError, ValueError, msgspec.DecodeError) as error:
            raise NotPossibleError(
                f"{self._launcher} --probe gave no answer: {error}.", "Install assay again."
            ) from error
        return capabilities


def _wait_or_kill(pid: int, timeout_s: float) -> None:
    """Wait for the end of a child; kill it after the timeout."""
    pidfd = os.pidfd_open(pid)
    try:
        if not select.select([pidfd], [], [], timeout_s)[0]:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.waitpid(pid, 0)
    finally:
        os.close(pidfd)
