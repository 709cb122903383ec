"""Record of a launch: the file to which the launcher or its supervisor writes the facts."""

from __future__ import annotations

import fcntl
import os
import struct
import time

# struct flock of Linux on 64-bit machines: type, whence, start, length, pid (fcntl_locking(2)).
_FLOCK = struct.Struct("hhqqi4x")
_POLL_INTERVAL_S = 0.01
"""Interval in seconds between checks whether the record is complete."""


def read_record(record_fd: int, timeout_s: float) -> bytes:
    """Return the whole record, which ends in a newline; empty if it is incomplete.

    Args:
        record_fd: descriptor of the record.
        timeout_s: time to wait for the processes that may write it.
    """
    end_s = time.monotonic() + timeout_s
    while True:
        locked = _is_locked(record_fd)
        document = os.pread(record_fd, os.fstat(record_fd).st_size, 0)
        if document.endswith(b"\n"):
            return document
        if not locked or time.monotonic() >= end_s:
            return b""
        time.sleep(_POLL_INTERVAL_S)


def _is_locked(record_fd: int) -> bool:
    """Return whether a process of the launcher remains that may write the record."""
    whole = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    kind: int = _FLOCK.unpack(fcntl.fcntl(record_fd, fcntl.F_GETLK, whole))[0]
    return kind != fcntl.F_UNLCK
