"""Line: requests to a guest's agent (programs/agent.cpp), over the guest's second serial port."""

from __future__ import annotations

import os
import socket
import string
import threading
from urllib.parse import quote_from_bytes, unquote_to_bytes

ANSWER_S = 120.0
"""Longest time of an answer on a busy host, in seconds."""

_PLAIN = string.punctuation.replace("%", "")
"""Characters that need no escape on the line, besides letters and digits."""


class Silent(Exception):
    """The guest does not answer."""


class Line:
    """A connection to the agent; one request at a time, from any thread.

    Args:
        connection: to QEMU's serial port.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._pending = b""
        self._lock = threading.Lock()

    def wait_for_agent(self, timeout_s: float) -> None:
        """Wait until the agent reports that it runs.

        Raises:
            Silent: it does not.
        """
        self._connection.settimeout(timeout_s)
        if self._line() != "ready":
            raise Silent("the agent of the guest began with other words")
        self._connection.settimeout(ANSWER_S)

    def ask(self, verb: str, *words: str | bytes) -> bytes:
        """Return the agent's answer.

        Raises:
            OSError: the guest's kernel refuses the request.
            Silent: the guest has ended, or does not answer.
        """
        question = " ".join([verb, *(quote_from_bytes(_bytes(word), _PLAIN) for word in words)])
        with self._lock:
            self._send(question)
            kind, _, rest = self._line().partition(" ")
        if kind == "no":
            number = int(rest)
            raise OSError(number, os.strerror(number), words[0] if words else "")
        return unquote_to_bytes(rest)

    def end(self) -> None:
        """End the agent, and the guest with it."""
        with self._lock:
            self._send("end")

    def _send(self, text: str) -> None:
        try:
            self._connection.sendall(text.encode() + b"\n")
        except OSError as error:
            raise Silent(f"the guest is gone: {error}") from error

    def _line(self) -> str:
        while b"\n" not in self._pending:
            try:
                more = self._connection.recv(1 << 16)
            except OSError as error:
                raise Silent(f"the guest does not answer: {error}") from error
            if not more:
                raise Silent("the guest is gone")
            self._pending += more
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode()


def _bytes(word: str | bytes) -> bytes:
    return word.encode() if isinstance(word, str) else word
