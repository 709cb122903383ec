"""Helper: the root behind an assay that has become the user who called sudo.

A process of assay-exec that was forked before assay gave up its rights. It starts launchers that
set up what needs root, and open files, enter folders and run programs as the user; they are
children of this process all the same. When first asked for it starts the part of assay that
changes system settings. Whatever is asked is checked there: it takes no file by name, and no word
but those that it knows. It ends with this process.
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
_ENDS_S = 10.0
_STATUS = Path("/proc/self/status")


class RootHelper:
    """The helper of this process.

    Args:
        launcher: path of the executable.
        caller: whom it works for.

    Attributes:
        path: of the launcher.
        caller: whom it works for.
        status: text of ``/proc/self/status`` of a process with its rights.
        leftovers: whether an assay that is gone had left system settings changed.
        ended: whether a question was interrupted: it puts back what is held, and answers no more.

    Raises:
        NotPossibleError: it cannot be started.
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
        # What it loads must be what runs here, and nothing that a variable names.
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
        """Let it end, and wait until all is put back that is held."""
        with contextlib.suppress(OSError):
            self._system.shutdown(socket.SHUT_WR)
            self._system.settimeout(_ENDS_S)
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
        """See ``assay.launch.spawning.spawn``.

        Raises:
            OSError: it cannot be started, or the helper is gone.
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
        """What the newest question came to; what an interrupted one came to is ended."""
        while True:
            found = self._launches.recv(_ANSWER.size)
            if len(found) != _ANSWER.size:
                raise OSError(errno.EPIPE, "assay's root helper has ended")
            number, result = _ANSWER.unpack(found)
            if number in (0, self._asked):  # 0: it could not read the number
                return int(result)
            if result > 0:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(result, signal.SIGKILL)
                    os.waitpid(result, 0)

    def ask(self, question: bytes) -> bytes:
        """What the part that changes system settings answers to a document.

        One that is interrupted is the last: what is held is put back then.

        Raises:
            NotPossibleError: it has ended, or never began.
        """
        try:
            self._system.sendall(_LENGTH.pack(len(question)) + question)
            (size,) = _LENGTH.unpack(receive(self._system, _LENGTH.size))
            return receive(self._system, size)
        except OSError as error:
            raise NotPossibleError(
                f"Assay's root helper does not answer: {error.strerror or error}.",
                "What it had changed is put back; see `assay machine restore --dry-run`.",
            ) from error
        except BaseException:
            self.ended = True
            with contextlib.suppress(OSError):
                self._system.shutdown(socket.SHUT_WR)
            raise


def receive(connection: socket.socket, size: int) -> bytes:
    """So many bytes.

    Raises:
        OSError: the other end has gone.
    """
    found = bytearray()
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise OSError(errno.EPIPE, "it has ended")
        found += part
    return bytes(found)
