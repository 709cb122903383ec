"""Helping: the part of assay that is root still, and changes system settings for the rest.

It is run as ``python -m assay.root_helper.server`` by the helper, with the socket on which it is
asked as descriptor 3. It keeps the one hold and the one guard that an assay with rights has itself.
Whatever becomes of who asks: at the end of the socket all that is held is put back.
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
    Look,
    Question,
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
"""Longest question."""
_LENGTH = struct.Struct("=I")
_QUESTIONS = msgspec.json.Decoder(Question)


class HelperServer:
    """Answers questions about one host.

    Args:
        host: that is changed; the running one if absent.
    """

    def __init__(self, host: Host | None = None) -> None:
        self._host = host or LiveHost()
        self._hold = SystemHold(self._host)

    def answer(self, text: bytes) -> bytes:
        """The answer to a document. What may not be asked is refused, and nothing is done."""
        try:
            question = _QUESTIONS.decode(text)
            demand_permitted(question)
            found = self._found(question)
        except msgspec.MsgspecError as error:
            found = Refused(f"The root helper was asked what it does not know: {error}.")
        except AssayError as error:
            found = Refused(error.cause, error.remedy, isinstance(error, MachineBusyError))
        except OSError as error:  # told, for whoever asked waits
            what = error.strerror or str(error)
            found = Refused(f"The root helper could not do it: {what}.", "Try again.")
        return msgspec.json.encode(found)

    def _found(self, question: Question) -> Answer:
        match question:
            case Hold(actions=actions):
                return HeldOutcomes(self._hold.hold(actions))
            case Look(actions=actions):
                return TargetValues(self._hold.look(actions))
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
        """Put back what is held."""
        self._hold.close()


def serve(connection: socket.socket, helping: HelperServer) -> None:
    """Answer until the other end is gone, then put back what is held.

    Raises:
        AssayError: something is not as it was; the journal tells.
    """
    try:
        while (question := _received(connection)) is not None:
            answer = helping.answer(question)
            with contextlib.suppress(OSError):  # the other end is gone: so it reads next
                connection.sendall(_LENGTH.pack(len(answer)) + answer)
    finally:
        helping.close()


def _received(connection: socket.socket) -> bytes | None:
    """The next document; ``None`` at the end."""
    try:
        return _whole(connection)
    except OSError:
        return None


def _whole(connection: socket.socket) -> bytes | None:
    head = connection.recv(_LENGTH.size, socket.MSG_WAITALL)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    if size > MAX_BYTES:
        return None
    text = connection.recv(size, socket.MSG_WAITALL)
    return text if len(text) == size else None


def main() -> int:
    """Be the part that is root."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=SOCKET_FD) as connection:
        connection.set_inheritable(False)
        try:
            serve(connection, HelperServer())
        except (AssayError, NotPossibleError):
            return 1  # what is left is written down
    return 0


if __name__ == "__main__":
    sys.exit(main())
