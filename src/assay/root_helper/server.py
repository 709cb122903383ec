"""Server of the root helper: the part of assay that keeps root rights and changes system settings.

The helper runs it as ``python -m assay.root_helper.server`` with a socket as descriptor 3. It has
one hold and one guard, like an assay with root rights. At the end of the socket it restores all
changes, however the client ended.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import struct
import sys

import msgspec

from assay.errors import AssayError, NotPossibleError
from assay.host.host import Host, LiveHost
from assay.host.journal import MachineBusyError
from assay.host.system_hold import (
    NotRestoredError,
    SystemHold,
    keep_applied,
    restore_leftovers,
)
from assay.root_helper.messages import (
    Answer,
    HeldOutcomes,
    Hold,
    Keep,
    Question,
    ReadTargets,
    Recover,
    Refused,
    Release,
    Restore,
    TargetValues,
    UndoOutcomes,
    demand_permitted,
)
from assay.signals import ENDING_SIGNALS

SOCKET_FD = 3
MAX_BYTES = 16 << 20
"""Largest request, in bytes."""
_LENGTH = struct.Struct("=I")
_QUESTIONS = msgspec.json.Decoder(Question)


class HelperServer:
    """Answers requests about one host.

    Args:
        host: host to change; the running one if absent.
    """

    def __init__(self, host: Host | None = None) -> None:
        self._host = host or LiveHost()
        self._hold = SystemHold(self._host)

    def answer(self, text: bytes) -> bytes:
        """Return the answer to a document; refuse a request that is not allowed."""
        try:
            question = _QUESTIONS.decode(text)
            demand_permitted(question)
            found = self._found(question)
        except msgspec.MsgspecError as error:
            found = Refused(f"Unknown request to the root helper: {error}.")
        except AssayError as error:
            found = Refused(error.cause, error.remedy, isinstance(error, MachineBusyError))
        except OSError as error:  # reported, since the client waits for an answer
            reason = error.strerror or str(error)
            found = Refused(f"The root helper failed: {reason}.", "Try again.")
        return msgspec.json.encode(found)

    def _found(self, question: Question) -> Answer:
        match question:
            case Hold(actions=actions):
                return HeldOutcomes(self._hold.hold(actions))
            case ReadTargets(actions=actions):
                return TargetValues(self._hold.read_targets(actions))
            case Release():
                return self._released()
            case Keep(actions=actions):
                return HeldOutcomes(keep_applied(actions, self._host))
            case Recover():
                return UndoOutcomes(restore_leftovers(self._host))
            case Restore(force=force, dry_run=dry_run):
                from assay.root_helper.restoration import restore

                found = restore(force=force, dry_run=dry_run, host=self._host)
                return UndoOutcomes(found.words, found.unreadable, found.partitions)

    def _released(self) -> UndoOutcomes:
        try:
            self._hold.close()
        except NotRestoredError as error:
            return UndoOutcomes(error.words)
        return UndoOutcomes(())

    def close(self) -> None:
        """Restore all changes."""
        self._hold.close()


def serve(connection: socket.socket, helping: HelperServer) -> None:
    """Answer requests until the connection ends, then restore all changes.

    Raises:
        AssayError: a change could not be restored; the journal has it.
    """
    try:
        while (question := _received(connection)) is not None:
            answer = helping.answer(question)
            with contextlib.suppress(OSError):  # the connection is closed: the next read shows it
                connection.sendall(_LENGTH.pack(len(answer)) + answer)
    finally:
        helping.close()


def _received(connection: socket.socket) -> bytes | None:
    """Return the next document; ``None`` at the end."""
    try:
        return _receive_message(connection)
    except OSError:
        return None


def _receive_message(connection: socket.socket) -> bytes | None:
    head = connection.recv(_LENGTH.size, socket.MSG_WAITALL)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    if size > MAX_BYTES:
        return None
    text = connection.recv(size, socket.MSG_WAITALL)
    return text if len(text) == size else None


def main() -> int:
    """Run the part with root rights."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=SOCKET_FD) as connection:
        connection.set_inheritable(False)
        try:
            serve(connection, HelperServer())
        except (AssayError, NotPossibleError):
            return 1  # the journal has the remaining changes
    return 0


if __name__ == "__main__":
    sys.exit(main())
