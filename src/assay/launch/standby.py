"""Launcher processes (assay-exec) that are started ahead of their launches."""

from __future__ import annotations

import array
import contextlib
import os
import select
import signal
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from assay.launch.spawning import ProcessStarter, descriptor_map, spawn

_NUMBER = struct.Struct("=i")
_FD_BYTES = array.array("i").itemsize
_TIMEOUT_S = 1.0
"""Time to wait for the next launcher process, in seconds: it is ready within a millisecond unless
its parent is stopped."""


class StandbyLauncher:
    """Launcher process on standby, started while the previous launch runs.

    Each launcher process is a child of this process, so it is waited for and signalled like one
    that was started for its launch. Launches inherit the environment, limits and signals that this
    process had when the first launcher was requested.

    Args:
        launcher: path of the executable, or an object that starts it.
        env: environment of the launches.
        place: moves the parent of the launcher processes into the control group or cpuset of all
            launches; called with its process id.

    Raises:
        OSError: the launcher cannot be started.
        NotPossibleError: the launcher cannot be moved there.
    """

    def __init__(
        self,
        launcher: Path | ProcessStarter,
        env: Mapping[str, str],
        place: Callable[[int], None] | None = None,
    ) -> None:
        self._socket, peer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(_TIMEOUT_S)
        with peer:
            try:
                places = descriptor_map(launcher, (peer.fileno(),))
                number = str(places[peer.fileno()])
                self._pid = spawn(launcher, ["--ahead", number], env, places)
            except OSError:
                self._socket.close()
                raise
        if place is not None:
            try:
                self._place(place)
            except BaseException:
                self.close()
                raise

    def _place(self, place: Callable[[int], None]) -> None:
        """Move the parent process; discard the launcher that it has already started."""
        first = self._next()
        place(self._pid)
        if first is not None:
            pid, order = first
            order.close()
            os.waitpid(pid, 0)

    def order(self, plan_fd: int, record_fd: int) -> int | None:
        """Hand a launch to the next launcher process.

        Returns:
            Its process id; ``None`` if no launcher process is on standby.
        """
        while (ready := self._next() or self._next_after_resume()) is not None:
            pid, order = ready
            with order:
                try:
                    socket.send_fds(order, [b"\0"], [plan_fd, record_fd])
                except OSError:  # it was killed while it stood by
                    os.waitpid(pid, 0)
                else:
                    return pid
        return None

    def _next_after_resume(self) -> tuple[int, socket.socket] | None:
        """Resume the parent process, which the previous program may have stopped, and try again."""
        os.kill(self._pid, signal.SIGCONT)
        return self._next()

    def _next(self) -> tuple[int, socket.socket] | None:
        """Return the launcher process on standby and the socket that accepts its launch."""
        try:
            number, control, _, _ = self._socket.recvmsg(
                _NUMBER.size, socket.CMSG_SPACE(_FD_BYTES), socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            return None
        if not number or not control:
            return None
        (fd,) = array.array("i", control[0][2])
        return _NUMBER.unpack(number)[0], socket.socket(fileno=fd)

    def close(self) -> None:
        """Dismiss the launcher process on standby; wait for its end and for that of its parent."""
        self._socket.shutdown(socket.SHUT_WR)
        os.kill(self._pid, signal.SIGCONT)
        while (ready := self._next()) is not None:
            pid, order = ready
            order.close()
            with contextlib.suppress(ChildProcessError, ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
                os.waitpid(pid, 0)
        self._socket.close()
        # The wait is limited: after an interruption between the order and the reply, the launch
        # ends only with this process.
        with contextlib.suppress(ChildProcessError), _pidfd(self._pid) as pidfd:
            if select.select([pidfd], [], [], _TIMEOUT_S)[0]:
                os.waitpid(self._pid, 0)


@contextlib.contextmanager
def _pidfd(pid: int) -> Iterator[int]:
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)
