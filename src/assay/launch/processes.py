"""Start of launcher processes: directly, from standby, or inside a share."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.launch.spawning import ProcessStarter, descriptor_map, spawn

if TYPE_CHECKING:
    from assay.launch.standby import StandbyLauncher
    from assay.partition.share import Share


class LauncherProcesses:
    """Starts launcher processes, each for one launch.

    They inherit the signal mask that this process has when the object is created.

    Args:
        launcher: path of the executable, or an object that starts it.
        env: environment of the launchers.
        cpus: CPUs to which launchers are confined; not confined if absent.
        share: share of a partition for all launchers.
    """

    def __init__(
        self,
        launcher: Path | ProcessStarter,
        env: Mapping[str, str],
        cpus: tuple[int, ...] | None = None,
        share: Share | None = None,
    ) -> None:
        self._launcher = launcher
        self._env = env
        self._cpus = cpus
        self._share = share
        self._blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._standby: StandbyLauncher | None = None

    def start_standby(self) -> None:
        """Keep a launcher on standby for each launch from now on, until ``stop_standby``.

        Raises:
            NotPossibleError: the launcher cannot be moved into the share.
        """
        from assay.launch.standby import StandbyLauncher

        if self._standby is not None:
            return
        # The next launch reports the error.
        with contextlib.suppress(OSError), self._confined():
            place = None if self._share is None else self._place
            self._standby = StandbyLauncher(self._launcher, self._env, place)

    def stop_standby(self) -> None:
        """Dismiss the launcher on standby. Launchers can still be started."""
        if self._standby is not None:
            self._standby.close()
            self._standby = None

    def start(self, plan: bytes, record_fd: int) -> int:
        """Start the launcher of a launch.

        Args:
            plan: launch document.
            record_fd: descriptor of the file for the record.

        Returns:
            The process id of the launcher.

        Raises:
            OSError: the launcher cannot be started.
            NotPossibleError: the launcher cannot be moved into the share.
        """
        if self._share is not None and self._standby is None:
            return self._start_in_share(plan, record_fd)
        plan_fd = os.memfd_create("assay-plan")
        try:
            os.write(plan_fd, plan)
            os.lseek(plan_fd, 0, os.SEEK_SET)
            if self._standby is not None:
                if (pid := self._standby.order(plan_fd, record_fd)) is not None:
                    return pid
                self.stop_standby()  # killed; launches take slightly longer without it
                if self._share is not None:
                    return self._start_in_share(plan, record_fd)
            return self._spawn(plan_fd, record_fd)
        finally:
            os.close(plan_fd)

    def _start_in_share(self, plan: bytes, record_fd: int) -> int:
        """Start a launcher that waits for its plan until it is in the share."""
        plan_fd, writing_fd = os.pipe()
        try:
            try:
                pid = self._spawn(plan_fd, record_fd)
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

    def _spawn(self, plan_fd: int, record_fd: int) -> int:
        descriptors = descriptor_map(self._launcher, (plan_fd, record_fd))
        plan, record = (str(descriptors[fd]) for fd in (plan_fd, record_fd))
        arguments = ["--plan-fd", plan, "--record-fd", record]
        with self._confined():
            return spawn(self._launcher, arguments, self._env, descriptors, self._blocked)

    def _place(self, pid: int) -> None:
        assert self._share is not None
        self._share.place(pid, self._cpus)

    def _confined(self) -> contextlib.AbstractContextManager[None]:
        # The CPUs of a share may be outside the affinity of this process.
        return _confined(None if self._share is not None else self._cpus)


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
