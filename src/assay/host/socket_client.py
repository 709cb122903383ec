"""Program that sends a request to a socket and waits for the answer, independent of its parent.

``python -I socket_client.py ADDRESS QUESTION`` writes the answer to standard output. The name of an
abstract socket begins with ``@`` (unix(7)). It imports no module of assay, since it is run by its
path.
"""

import contextlib
import os
import socket
import struct
import sys

TIMEOUT_S = 600.0
MAX_ANSWER_BYTES = 1 << 20


def main(address: str, question: str) -> None:
    """Send a request with the credentials of this process, since some daemons answer only root."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(TIMEOUT_S)
        connection.connect("\0" + address[1:] if address.startswith("@") else address)
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        if struct.unpack("=3i", peer)[1] not in (0, os.getuid()):
            return  # any user may listen at an abstract address
        credentials = struct.pack("=3i", os.getpid(), os.getuid(), os.getgid())
        connection.sendmsg(
            [question.encode()], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, credentials)]
        )
        connection.shutdown(socket.SHUT_WR)
        left = MAX_ANSWER_BYTES
        while part := connection.recv(1 << 16):
            with contextlib.suppress(BrokenPipeError):
                os.write(1, part[:left])
            left = max(left - len(part), 0)


if __name__ == "__main__":
    with contextlib.suppress(OSError):
        main(*sys.argv[1:3])
