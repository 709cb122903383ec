"""Relay: a socket on this host behind which a guest's broker answers, for the client of `assay`."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .line import Line, Silent

_PACKET_BYTES = 1 << 18


@contextmanager
def relayed(line: Line, there: str, here: Path) -> Iterator[Path]:
    """Forward every connection to `here` to a connection of the guest to `there`.

    To the broker the peer is the guest's agent, which is root.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(here))
        listening.listen()
        ended, end = socket.socketpair()
        serving = threading.Thread(target=_serve, args=(line, there, listening, ended))
        serving.start()
        try:
            yield here
        finally:
            end.close()
            serving.join()
            ended.close()


def _serve(line: Line, there: str, listening: socket.socket, ended: socket.socket) -> None:
    """Pass on packets in their order: a closed connection is passed on before a later request."""
    numbers: dict[socket.socket, bytes] = {}
    while ended not in (ready := _ready(listening, ended, *numbers)):
        packets = {one: _received(one) for one in numbers if one in ready}
        for one, question in sorted(packets.items(), key=lambda pair: bool(pair[1])):
            if not question or not _pass_on(line, one, numbers[one], question):
                _hang_up(line, one, numbers.pop(one))
        if listening in ready:
            connection, _ = listening.accept()
            try:
                numbers[connection] = line.ask("dial", there)
            except (OSError, Silent):
                connection.close()
    for one, number in numbers.items():
        _hang_up(line, one, number)


def _ready(*sockets: socket.socket) -> list[socket.socket]:
    found: list[socket.socket] = select.select(sockets, (), ())[0]
    return found


def _received(connection: socket.socket) -> bytes:
    """Return the next request; empty if the client closed the connection."""
    try:
        return connection.recv(_PACKET_BYTES)
    except OSError:
        return b""


def _pass_on(line: Line, connection: socket.socket, number: bytes, question: bytes) -> bool:
    try:
        connection.send(line.ask("ask", number, question))
    except (OSError, Silent):
        return False
    return True


def _hang_up(line: Line, connection: socket.socket, number: bytes) -> None:
    with connection, contextlib.suppress(OSError, Silent):
        line.ask("close", number)
