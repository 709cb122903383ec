"""Root helper: the process with root rights behind an assay that runs as the caller of sudo.

It is a process of assay-exec, forked before assay gave up its rights. It starts launchers that
perform the steps that need root, and that open files, enter folders and run programs as the user.
These launchers are children of assay. The first system setting starts its second part, which
changes system settings. That part checks all requests: it accepts no file names, and only known
messages. The helper ends together with assay.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.errors import NotPossibleError
from assay.host.journal import STATE_VARIABLE, has_entries
from assay.launch.spawning import spawn
from assay.partition.folders import RUN_VARIABLE as RUN
from assay.root_helper.caller import Caller

_ANSWER = struct.Struct("=ii")
_LENGTH = struct.Struct("=I")
_SYSTEM_PART = "assay.root_helper.server"
_END_TIMEOUT_S = 10.0
_STATUS = Path("/proc/self/status")


class RootHelper:
    """Helper of this process.

    Args:
        launcher: path of the executable.
        caller: user for whom it acts.

    Attributes:
        path: path of the launcher.
        caller: user for whom it acts.
        status: ``/proc/self/status`` of a process with its rights.
        leftovers: whether an ended assay has left changed system settings.
        ended: whether a request was interrupted: the helper then restores all changes and stops
            answering.

    Raises:
        NotPossibleError: the helper cannot be started.
    """

    def __init__(self, launcher: Path, caller: Caller) -> None:
        self.path = launcher
        self.caller = caller
        self.status = _STATUS.read_text(encoding="ascii", errors="replace")
        self.leftovers = has_entries()
        self.ended = False
        self._asked = 0
        self._launches, launches = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._system, system = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        # It must load the modules of this installation, not modules that a variable names.
        env = {"PYTHONPATH": str(Path(__file__).parents[2])}
        env |= {name: os.environ[name] for name in (STATE_VARIABLE, RUN) if name in os.environ}
        words = ["--helper", "3", "--caller", caller.numbers, "--system", "4"]
        command = ["--", sys.executable, "-X", "utf8", "-sP", "-m", _SYSTEM_PART]
        with launches, system:
            try:
                places = {launches.fileno(): 3, system.fileno(): 4}
                self._pid = spawn(launcher, [*words, *command], env, places)
            except OSError as error:
                self._launches.close()
                self._system.close()
                raise NotPossibleError(
                    f"The launcher {launcher} cannot be started: {error.strerror}.",
                    "See `assay doctor`.",
                ) from error

    def __str__(self) -> str:
        return str(self.path)

    def close(self) -> None:
        """End the helper, and wait until all changes are restored."""
        with contextlib.suppress(OSError):
            self._system.shutdown(socket.SHUT_WR)
            self._system.settimeout(_END_TIMEOUT_S)
            while self._system.recv(4096):
                pass
        self._system.close()
        self._launches.close()
        if self._pid:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._pid, 0)
            self._pid = 0

    def spawn(
        self, arguments: Sequence[str], env: Mapping[str, str], places: Mapping[int, int]
    ) -> int:
        """Start a launcher; see ``assay.launch.spawning.spawn``.

        Raises:
            OSError: the launcher cannot be started, or the helper has ended.
        """
        self._asked += 1
        words = (str(self._asked), ",".join(map(str, places.values())), *arguments)
        with os.fdopen(os.memfd_create("assay-environment"), "w+b") as variables:
            for name, value in env.items():
                variables.write(os.fsencode(name) + b"=" + os.fsencode(value) + b"\0")
            variables.seek(0)
            text = b"".join(os.fsencode(word) + b"\0" for word in words)
            socket.send_fds(self._launches, [text], [variables.fileno(), *places])
        result = self._answer()
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return result

    def _answer(self) -> int:
        """Return the result of the newest request; end the process of an interrupted one."""
        while True:
            found = self._launches.recv(_ANSWER.size)
            if len(found) != _ANSWER.size:
                raise OSError(errno.EPIPE, "assay's root helper has ended")
            number, result = _ANSWER.unpack(found)
            if number in (0, self._asked):  # 0: the helper could not read the number
                return int(result)
            if result > 0:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(result, signal.SIGKILL)
                    os.waitpid(result, 0)

    def ask(self, question: bytes) -> bytes:
        """Send a request to the part that changes system settings; return its answer.

        An interrupted request is the last one: the helper then restores all changes.

        Raises:
            NotPossibleError: the helper has ended or did not start.
        """
        try:
            self._system.sendall(_LENGTH.pack(len(question)) + question)
            (size,) = _LENGTH.unpack(receive(self._system, _LENGTH.size))
            return receive(self._system, size)
        except OSError as error:
            raise NotPossibleError(
                f"Assay's root helper does not answer: {error.strerror or error}.",
                "Its changes are restored; check with `assay machine restore --dry-run`.",
            ) from error
        except BaseException:
            self.ended = True
            with contextlib.suppress(OSError):
                self._system.shutdown(socket.SHUT_WR)
            raise


def receive(connection: socket.socket, size: int) -> bytes:
    """Return this number of bytes from a connection.

    Raises:
        OSError: the connection was closed.
    """
    found = bytearray()
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise OSError(errno.EPIPE, "it has ended")
        found += part
    return bytes(found)
