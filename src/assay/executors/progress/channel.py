"""Progress channel: the FIFO to which a program writes records."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from pathlib import Path

from assay.executors.progress.json_records import RecordReader
from assay.executors.progress.launch_clock import LaunchClock, spread_times
from assay.executors.progress.report import Report

CHANNEL_NAME = "progress"
"""Name of the FIFO in the scratch folder of a launch."""
MAX_RECORD_BYTES = 4096
"""Largest length of a record: the kernel writes up to PIPE_BUF bytes at once (POSIX)."""
_CAPACITY_BYTES = 1 << 18
"""Requested capacity of the FIFO: about a second of records while assay is busy."""
_PIECE_BYTES = 1 << 16
_MAX_READ_BYTES = 4 << 20


def create_channel(path: Path) -> None:
    """Create the FIFO of a launch.

    Args:
        path: path in the scratch folder.

    Raises:
        OSError: the file system has no FIFOs, or the path exists.
    """
    os.mkfifo(path, 0o600)


class ChannelFollower:
    """Reads records from a FIFO, and keeps it open while writers come and go.

    Args:
        path: path of the FIFO, opened at once.
        clock: clock of the launch.

    Raises:
        OSError: the path is not a FIFO, or cannot be opened.

    Attributes:
        records: reader of the records, with the numbers of invalid ones.
    """

    def __init__(self, path: Path, clock: LaunchClock) -> None:
        self._clock = clock
        self.records = RecordReader(clock, from_writer=True)
        self._rest = b""
        self._last_s = 0.0
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        if not stat.S_ISFIFO(os.fstat(self._fd).st_mode):
            self.close()
            raise OSError(f"{path} is not a FIFO")
        with contextlib.suppress(OSError):  # beyond the quota of this user
            fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, _CAPACITY_BYTES)

    def read(self) -> list[Report]:
        """Return the reports since the previous reading."""
        data = self._available()
        if not data:
            return []
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > MAX_RECORD_BYTES:
            self.records.invalid += 1
            self._rest = b""
        times = spread_times(len(lines), self._clock.now_s, self._clock.before_s, self._last_s)
        found = []
        for line, time_s in zip(lines, times, strict=True) if lines else ():
            if line and (report := self.records.read(line, time_s)) is not None:
                found.append(report)
                self._last_s = max(self._last_s, report.time_s)
        return found

    def finish(self) -> list[Report]:
        """Return all remaining reports; the program has ended."""
        found = self.read()
        if self._rest and (last := self.records.read(self._rest, self._clock.now_s)) is not None:
            found.append(last)
        self._rest = b""
        return found

    def close(self) -> None:
        """Close the FIFO."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _available(self) -> bytes:
        pieces = []
        size = 0
        while size < _MAX_READ_BYTES:
            try:
                piece = os.read(self._fd, _PIECE_BYTES)
            except (BlockingIOError, InterruptedError):
                break
            if not piece:  # no process has it open for writing
                break
            pieces.append(piece)
            size += len(piece)
            if len(piece) < _PIECE_BYTES // 2:
                break
        return b"".join(pieces)
