"""Relay: a socket on this host behind which a guest's broker answers, for the client of `assay`."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .line import Line, Silent

_PACKET_BYTES = 1 << 18


@contextmanager
def relayed(line: Line, there: str, here: Path) -> Iterator[Path]:
    """Serve every connection to `here` by one of the guest's own to `there`.

    To the broker the peer is the guest's agent, which is root.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(here))
        listening.listen()
        threads: list[threading.Thread] = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    pair = threading.Thread(target=_pass_on, args=(line, there, connection))
                    pair.start()
                    threads.append(pair)

        accepting = threading.Thread(target=serve)
        accepting.start()
        try:
            yield here
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def _pass_on(line: Line, there: str, connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError, Silent):
        number = line.ask("dial", there)
        try:
            while question := connection.recv(_PACKET_BYTES):
                connection.send(line.ask("ask", number, question))
        finally:
            line.ask("close", number)
