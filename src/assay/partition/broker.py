"""Broker: the client of assay-broker, which holds the shares of a partition.

One packet a question, one an answer, as JSON, on a Unix socket of packets (native/broker). A share
belongs to the connection: it ends when this process does, however it ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import select
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import msgspec

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.cpulist import format_list, parse_list, show_numbers
from assay.records.codec import Record
from assay.units import show_bytes

WAIT_S = 5.0
"""For an answer: the broker makes control groups in milliseconds."""
_ANSWER_BYTES = 1 << 18
_PAUSE_S = 0.01

_Answer = TypeVar("_Answer", bound=Record)


class HeldShare(Record, frozen=True, kw_only=True):
    """What somebody has of a partition; ``pid`` only of one's own."""

    lease: int
    cpus: str
    memory_bytes: int = 0
    gpus: str = ""
    uid: int
    pid: int | None = None

    def __str__(self) -> str:
        words = [f"{_user(self.uid)} has {show_numbers('CPU', parse_list(self.cpus))}"]
        if self.memory_bytes:
            words.append(show_bytes(self.memory_bytes))
        if self.gpus:
            words.append(show_numbers("GPU", parse_list(self.gpus)))
        return ", ".join(words) + (f" (process {self.pid})" if self.pid else "")


def _user(uid: int) -> str:
    """The name of a user; the number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


class PartitionState(Record, frozen=True, kw_only=True):
    """A partition and who has what of it; sets of numbers as lists such as ``0-3,8``."""

    name: str
    engine: str
    cpus: str
    free_cpus: str
    memory_bytes: int
    free_bytes: int
    gpus: str = ""
    free_gpus: str = ""
    shares: tuple[HeldShare, ...] = ()

    @property
    def holders(self) -> str:
        """Those who have shares, as a message names them."""
        return "; ".join(map(str, self.shares))


class Lease(Record, frozen=True, kw_only=True):
    """A share that was given; ``folders`` are its control groups."""

    lease: int
    folders: tuple[str, ...]


class _Refusal(Record, frozen=True, kw_only=True):
    error: str | None = None
    message: str = ""
    what: str = ""
    which: str = ""


class _Done(Record, frozen=True):
    pass


class AlreadyReservedError(NotPossibleError):
    """Somebody else has a part of what was asked for: another choice may be free."""


class BrokerClient:
    """A connection to the broker of a partition; close it, or use it as a context.

    Args:
        path: of its socket.

    Raises:
        NotPossibleError: nobody answers there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            _connect(self._socket, path)
        except OSError as error:
            self._socket.close()
            raise NotPossibleError(
                f"No broker answers at {path}: {error.strerror or error}.",
                f"Root starts it again: `assay partition start {path.parent.name}`. One that was "
                "made with --no-broker has none.",
            ) from error

    def __enter__(self) -> BrokerClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the share; what runs in it goes to where this process was when it connected."""
        self._socket.close()

    @property
    def gone(self) -> bool:
        """Whether it has ended, and what was had of it with it."""
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        return bool(poller.poll(0))  # it says nothing unasked

    def state(self) -> PartitionState:
        """The partition as it is now.

        Raises:
            NotPossibleError: the broker does not answer.
        """
        return self._ask({"do": "show"}, PartitionState)

    def begin_deletion(self) -> PartitionState:
        """The partition as it stays: nobody is given more of it while this connection lasts.

        Raises:
            NotPossibleError: the broker does not answer, or this user is not root.
        """
        return self._ask({"do": "delete"}, PartitionState)

    def reserve(
        self, cpus: Sequence[int], memory_bytes: int = 0, gpus: Sequence[int] = ()
    ) -> Lease:
        """Have these for as long as the connection lasts.

        Raises:
            Taken: somebody else has some of them.
            InvalidInputError: not all of them are of the partition.
            NotPossibleError: this connection has a share, or the broker could not make its groups.
        """
        question = {
            "do": "reserve",
            "cpus": format_list(cpus),
            "memory_bytes": memory_bytes,
            "gpus": format_list(gpus),
        }
        return self._ask(question, Lease)

    def move(self, pid: int, cpus: Sequence[int] = ()) -> None:
        """Put a process of one's own into the share, where its children will be too.

        Args:
            pid: its number.
            cpus: those of the share that it is confined to; all of them where absent. The broker
                does that as well, for a launcher with root's rights is not ours to confine.

        Raises:
            InvalidInputError: they are not all of the share.
            NotPossibleError: it is another's, it has ended, or there is no share.
        """
        self._ask({"do": "move", "pid": pid, "cpus": format_list(cpus)}, _Done)

    def _ask(self, question: dict[str, object], kind: type[_Answer]) -> _Answer:
        try:
            self._socket.send(msgspec.json.encode(question))
            answer = self._socket.recv(_ANSWER_BYTES)
        except OSError as error:
            raise self._silent(str(error.strerror or error)) from error
        if not answer:
            raise self._silent("it has ended, or has too many connections")
        try:
            refusal = msgspec.json.decode(answer, type=_Refusal)
            if refusal.error is None:
                return msgspec.json.decode(answer, type=kind)
        except msgspec.DecodeError as error:
            raise self._silent("it answers in the words of another version") from error
        raise _refused(refusal)

    def _silent(self, reason: str) -> NotPossibleError:
        return NotPossibleError(
            f"The broker at {self._path} does not answer: {reason}.",
            "`assay partition list` shows whether it runs.",
        )


def _connect(connection: socket.socket, path: Path) -> None:
    """Connect, also where many are ahead: a full queue is EAGAIN at once with a time-out set."""
    connection.settimeout(WAIT_S)
    end = time.monotonic() + WAIT_S
    while True:
        try:
            connection.connect(os.fspath(path))
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(_PAUSE_S)
        except OSError as error:
            if error.errno != errno.EINTR:
                raise
        else:
            return


def _refused(refusal: _Refusal) -> NotPossibleError | InvalidInputError:
    which = refusal.which
    with contextlib.suppress(ValueError):
        if refusal.what == "memory_bytes":
            which = show_bytes(int(which))
    match refusal.error, refusal.what:
        case "busy", "memory_bytes":
            return AlreadyReservedError(
                f"The partition has {which} of memory left for others.", "Ask for less, or wait."
            )
        case "busy", what:
            return AlreadyReservedError(
                f"Others have {_NOUNS.get(what, what)} {which}.", "Wait, or ask for others."
            )
        case "unknown", "memory_bytes":
            return InvalidInputError(
                f"The partition has {which} of memory in all.", "Ask for less."
            )
        case "unknown", what:
            return InvalidInputError(
                f"The partition has no {_NOUNS.get(what, what)} {which}.",
                "`assay partition list` shows what it has.",
            )
        case "empty", _:
            return InvalidInputError("A share needs a CPU at least.", "Ask for one.")
        case _:
            return NotPossibleError(
                f"The broker refuses: {refusal.message}.", "`assay partition list` shows its state."
            )


_NOUNS = {"cpus": "CPU", "gpus": "GPU"}


def free_cpus(state: PartitionState) -> tuple[int, ...]:
    """Numbers of the CPUs that nobody has, ascending."""
    return parse_list(state.free_cpus)
