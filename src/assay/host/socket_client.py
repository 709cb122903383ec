"""A program: ask at a socket, and wait for the answer, whoever asked for it may be gone by then.

``python -I socket_client.py ADDRESS QUESTION`` writes the answer to standard output. ``@`` begins
the name of an abstract socket (unix(7)). It imports nothing of assay, for it is run by its path.
"""

import contextlib
import os
import socket
import struct
import sys

LONGEST_S = 600.0
LONGEST_BYTES = 1 << 20


def main(address: str, question: str) -> None:
    """Ask; who asks goes with it (SCM_CREDENTIALS), since some daemons answer root alone."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(LONGEST_S)
        connection.connect("\0" + address[1:] if address.startswith("@") else address)
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        if struct.unpack("=3i", peer)[1] not in (0, os.getuid()):
            return  # anybody may listen at an abstract address
        who = struct.pack("=3i", os.getpid(), os.getuid(), os.getgid())
        connection.sendmsg([question.encode()], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, who)])
        connection.shutdown(socket.SHUT_WR)
        left = LONGEST_BYTES
        while part := connection.recv(1 << 16):
            with contextlib.suppress(BrokenPipeError):
                os.write(1, part[:left])
            left = max(left - len(part), 0)


if __name__ == "__main__":
    with contextlib.suppress(OSError):
        main(*sys.argv[1:3])
