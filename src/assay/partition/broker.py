"""Client of assay-broker, which manages the shares of a partition.

Each request and each answer is one JSON packet on a Unix socket (native/broker). A share belongs to
its connection: it ends together with the process, however that ends.
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
"""Timeout of an answer in seconds: the broker creates control groups in milliseconds."""
_MAX_ANSWER_BYTES = 1 << 18
_PAUSE_S = 0.01

_Answer = TypeVar("_Answer", bound=Record)


class HeldShare(Record, frozen=True, kw_only=True):
    """Share of a user; ``pid`` is known only for shares of the same user."""

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
    """Return the name of a user, or its number if it has no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


class PartitionState(Record, frozen=True, kw_only=True):
    """State of a partition and its shares; sets of numbers are lists such as ``0-3,8``."""

    name: str
    version: str
    cpus: str
    free_cpus: str
    memory_bytes: int
    free_bytes: int
    gpus: str = ""
    free_gpus: str = ""
    shares: tuple[HeldShare, ...] = ()

    @property
    def holders(self) -> str:
        """Description of all shares, for messages."""
        return "; ".join(map(str, self.shares))


class Lease(Record, frozen=True, kw_only=True):
    """Granted share; ``folders`` are its control groups."""

    lease: int
    folders: tuple[str, ...]


class _Refusal(Record, frozen=True, kw_only=True):
    error: str | None = None
    message: str = ""
    resource: str = ""
    detail: str = ""


class _Acknowledgement(Record, frozen=True):
    pass


class AlreadyReservedError(NotPossibleError):
    """Refusal since another user holds a part of the request; other CPUs may be free."""


class BrokerClient:
    """Connection to the broker of a partition; close it, or use it as a context manager.

    Args:
        path: path of its socket.

    Raises:
        NotPossibleError: no broker answers there.
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
                f"Start it as root with `assay partition start {path.parent.name}`. A partition "
                "created with --no-broker has no broker.",
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
        """Release the share; its processes return to the earlier control group of this process."""
        self._socket.close()

    @property
    def has_ended(self) -> bool:
        """True if the broker has ended, and its shares with it."""
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        return bool(poller.poll(0))  # it sends only answers

    def state(self) -> PartitionState:
        """Return the current state of the partition.

        Raises:
            NotPossibleError: the broker does not answer.
        """
        return self._ask({"request": "show"}, PartitionState)

    def begin_deletion(self) -> PartitionState:
        """Return the final state: no share is granted while this connection lasts.

        Raises:
            NotPossibleError: the broker does not answer, or the user is not root.
        """
        return self._ask({"request": "delete"}, PartitionState)

    def reserve(
        self, cpus: Sequence[int], memory_bytes: int = 0, gpus: Sequence[int] = ()
    ) -> Lease:
        """Reserve resources for the lifetime of the connection.

        Raises:
            AlreadyReservedError: another user holds some of them.
            InvalidInputError: some of them are not in the partition.
            NotPossibleError: this connection already has a share, or the broker could not create
                its groups.
        """
        question = {
            "request": "reserve",
            "cpus": format_list(cpus),
            "memory_bytes": memory_bytes,
            "gpus": format_list(gpus),
        }
        return self._ask(question, Lease)

    def move(self, pid: int, cpus: Sequence[int] = ()) -> None:
        """Move a process of this user, and thereby its future children, into the share.

        Args:
            pid: process id.
            cpus: CPUs of the share to confine it to; all of them if absent. The broker sets the
                affinity, since this process may not change that of a launcher with root rights.

        Raises:
            InvalidInputError: some CPUs are not in the share.
            NotPossibleError: the process has ended or belongs to another user, or there is no
                share.
        """
        self._ask({"request": "move", "pid": pid, "cpus": format_list(cpus)}, _Acknowledgement)

    def _ask(self, question: dict[str, object], kind: type[_Answer]) -> _Answer:
        try:
            self._socket.send(msgspec.json.encode(question))
            answer = self._socket.recv(_MAX_ANSWER_BYTES)
        except OSError as error:
            raise self._silent(str(error.strerror or error)) from error
        if not answer:
            raise self._silent("it has ended, or has too many connections")
        try:
            refusal = msgspec.json.decode(answer, type=_Refusal)
            if refusal.error is None:
                return msgspec.json.decode(answer, type=kind)
        except msgspec.DecodeError as error:
            raise self._silent("its answer is of another version") from error
        raise _refused(refusal)

    def _silent(self, reason: str) -> NotPossibleError:
        return NotPossibleError(
            f"The broker at {self._path} does not answer: {reason}.",
            "Check with `assay partition list` whether it runs.",
        )


def _connect(connection: socket.socket, path: Path) -> None:
    """Connect, also to a full queue: with a timeout set it returns EAGAIN at once."""
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
    which = refusal.detail
    with contextlib.suppress(ValueError):
        if refusal.resource == "memory_bytes":
            which = show_bytes(int(which))
    match refusal.error, refusal.resource:
        case "busy", "memory_bytes":
            return AlreadyReservedError(
                f"Only {which} of memory are free in the partition.", "Request less, or wait."
            )
        case "busy", what:
            return AlreadyReservedError(
                f"Other shares include {_NOUNS.get(what, what)} {which}.",
                "Wait, or request others.",
            )
        case "unknown", "memory_bytes":
            return InvalidInputError(f"The partition has only {which} of memory.", "Request less.")
        case "unknown", what:
            return InvalidInputError(
                f"The partition has no {_NOUNS.get(what, what)} {which}.",
                "See `assay partition list`.",
            )
        case "empty", _:
            return InvalidInputError("A share needs at least one CPU.", "Request one.")
        case _:
            return NotPossibleError(
                f"The broker refuses: {refusal.message}.",
                "See its state in `assay partition list`.",
            )


_NOUNS = {"cpus": "CPU", "gpus": "GPU"}


def free_cpus(state: PartitionState) -> tuple[int, ...]:
    """Return the free CPUs, ascending."""
    return parse_list(state.free_cpus)
