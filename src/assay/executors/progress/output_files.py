"""New contents of files that a program appends to."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

from assay.executors.progress.launch_clock import LaunchClock, spread_times
from assay.executors.progress.lines import LineSplitter

PIECE_BYTES = 1 << 18
"""Largest number of bytes that are read at once."""
MAX_READ_BYTES = 1 << 20
"""Largest number of bytes of one reading, which keeps the reading short."""
MAX_BEHIND_BYTES = 16 << 20
"""Unread bytes beyond which contents are skipped: the program writes faster than assay reads."""
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""A program may leave a pipe there, which would block, or a link to a foreign file."""


TimedLine = tuple[float, str, int]
"""Time since the start of the launch in seconds, text of the line, and number of its first
characters that an earlier frame contained already. A named tuple takes twice the time."""


@dataclass(slots=True)
class NewContents:
    """New contents of a file.

    Attributes:
        data: new bytes.
        modified_ns: time of the last change of the file, in nanoseconds since the epoch.
        restarted: true if the file was replaced or truncated; the bytes are then from its begin.
        skipped: true if contents before the bytes were skipped; they begin with a line.
    """

    data: bytes
    modified_ns: int
    restarted: bool = False
    skipped: bool = False


class AppendedFile:
    """Reads the bytes that a program appends to a regular file.

    Args:
        path: path of the file, which may be missing.
        follow_links: whether the path may be a symbolic link, as in files that a user names.
        skip_existing: whether contents from before do not count.
        may_skip: whether contents may be skipped if they come too fast; false for binary files.

    Attributes:
        offset: number of bytes read so far, or skipped.
        skipped_bytes: number of bytes that were never read because they came too fast.
    """

    def __init__(
        self,
        path: Path,
        *,
        follow_links: bool = False,
        skip_existing: bool = False,
        may_skip: bool = True,
    ) -> None:
        self.path = path
        self._may_skip = may_skip
        self._flags = _OPEN & ~os.O_NOFOLLOW if follow_links else _OPEN
        self._fd = -1
        self._inode: tuple[int, int] | None = None
        self._changed: tuple[int, int] = (-1, -1)
        self.offset = 0
        self.skipped_bytes = 0
        if skip_existing and self._opened():
            about = os.fstat(self._fd)
            self.offset = about.st_size
            self._changed = (about.st_mtime_ns, about.st_size)

    def read(self) -> NewContents | None:
        """Return new contents; ``None`` without any."""
        restarted = self._replaced()
        if not self._opened():
            return None
        about = os.fstat(self._fd)
        if not restarted and (about.st_mtime_ns, about.st_size) == self._changed:
            return None
        self._changed = (about.st_mtime_ns, about.st_size)
        if about.st_size < self.offset:
            restarted = True
        if restarted:
            self.offset = 0
        skipped = self._may_skip and about.st_size - self.offset > MAX_BEHIND_BYTES
        if skipped:
            self._skip_to(about.st_size - MAX_READ_BYTES)
        data = self._new_bytes(about.st_size)
        if not data and not restarted:
            return None
        if skipped:
            data = data.partition(b"\n")[2]
        return NewContents(data, about.st_mtime_ns, restarted, skipped)

    def head(self, length: int) -> bytes:
        """Return the first bytes of the file.

        Args:
            length: number of bytes.
        """
        return os.pread(self._fd, length, 0) if self._opened() else b""

    @property
    def is_read(self) -> bool:
        """True if the last reading reached the end of the file."""
        return self._changed[1] == self.offset

    def restart(self) -> None:
        """Read the file from its begin at the next reading."""
        self.offset = 0
        self._changed = (-1, -1)

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _skip_to(self, offset: int) -> None:
        self.skipped_bytes += offset - self.offset
        self.offset = offset

    def _new_bytes(self, size: int) -> bytes:
        pieces = []
        left = MAX_READ_BYTES
        while left > 0 and (piece := os.pread(self._fd, min(left, PIECE_BYTES), self.offset)):
            pieces.append(piece)
            self.offset += len(piece)
            left -= len(piece)
            if len(piece) < PIECE_BYTES:
                break
        if self.offset < size:
            self._changed = (-1, -1)  # the rest follows at the next reading
        return b"".join(pieces)

    def _opened(self) -> bool:
        if self._fd >= 0:
            return True
        try:
            fd = os.open(self.path, self._flags)
        except OSError:
            return False
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            os.close(fd)
            return False
        self._fd = fd
        self._inode = about.st_dev, about.st_ino
        return True

    def _replaced(self) -> bool:
        """Return whether another file has taken the path; the old one is then closed."""
        if self._fd < 0:
            return False
        try:
            about = os.stat(self.path)  # noqa: PTH116 - a tenth of a reading's time with Path
        except OSError:
            return False
        if (about.st_dev, about.st_ino) == self._inode:
            return False
        self.close()
        return True


@dataclass(slots=True)
class BurstRecord:
    """Sizes at which an output was found, which show whether a buffer wrote it.

    Attributes:
        sizes: sizes after each reading with new contents, at most the first 64.
        open_ends: number of such readings that ended within a line.
    """

    sizes: list[int] = field(default_factory=list)
    open_ends: int = 0


_MAX_SIZES = 64
_MAX_IDLE_S = 0.2
"""Longest time between readings after which new lines may come from one write."""


class LineFollower:
    """Follows an output file line by line.

    Args:
        file: file to read.
        clock: clock of the launch.
        batched: whether the program collects lines before it writes them, as in files of loggers:
            their times are then spread since the previous line.

    Attributes:
        splitter: splits the contents.
        bursts: sizes of the file.
        lines: number of lines so far.
        first_s: time of the first line since the start of the launch; ``None`` before it.
    """

    def __init__(self, file: AppendedFile, clock: LaunchClock, *, batched: bool = False) -> None:
        self.file = file
        self.splitter = LineSplitter()
        self.bursts = BurstRecord()
        self.lines = 0
        self.first_s: float | None = None
        self._clock = clock
        self._batched = batched
        self._last_s = 0.0
        self._written_s = 0.0
        self._was_idle = True
        self._early = ""
        self._delayed: list[TimedLine] = []
        self._delayed_after_s = 0.0

    def read(self) -> list[TimedLine]:
        """Return the lines since the previous reading.

        assay delays the first lines after a pause until the next reading. If further lines follow
        at once, these show the distance of the first ones; otherwise all of them come from one
        write.
        """
        was_idle, before_s = self._was_idle, self._clock.before_s
        lines = self._read()
        if self._delayed:
            delayed = self._released(lines)
            return delayed + lines
        is_plain = not self._batched and self.splitter.frame is None
        if was_idle and len(lines) > 1 and is_plain:
            self._delayed, self._delayed_after_s = lines, before_s
            return []
        return lines

    def _released(self, later: list[TimedLine]) -> list[TimedLine]:
        """Return the delayed lines, at the distance of those that followed."""
        delayed, self._delayed = self._delayed, []
        if not later:
            return delayed
        last_s = delayed[-1][0]
        distance_s = (later[-1][0] - last_s) / len(later)
        back = range(len(delayed) - 1, -1, -1)
        return [
            (min(last_s, max(self._delayed_after_s, last_s - number * distance_s)), text, seen)
            for number, (_, text, seen) in zip(back, delayed, strict=True)
        ]

    def _read(self) -> list[TimedLine]:
        new = self.file.read()
        if new is None:
            self._was_idle = True
            return self._waiting_frame()
        if new.restarted or new.skipped:
            self.splitter = LineSplitter()
            self._early = ""
        before_s = self._last_s if self._batched else self._clock.before_s
        pending_s = self._written_s
        self._written_s = self._clock.of_wall_ns(new.modified_ns, before_s)
        if self._was_idle and self._written_s - before_s < _MAX_IDLE_S and not self._batched:
            before_s = self._written_s  # after a pause, the lines come from one write
        self._was_idle = False
        had_frame = self.splitter.frame is not None
        lines = self.splitter.feed(new.data)
        self._record(new)
        return self._timed(lines, pending_s if had_frame else None, before_s)

    def finish(self) -> list[TimedLine]:
        """Return all remaining lines; the last one needs no line end."""
        found: list[TimedLine] = []
        while lines := self._unread():
            found += lines
        rest = self.splitter.finish()
        found += self._released([])
        return found + self._timed(rest, self._written_s, self._clock.before_s)

    def _unread(self) -> list[TimedLine]:
        """Return the next lines; empty as soon as everything was read."""
        while True:
            offset = self.file.offset
            lines = self.read()
            if lines or (self.file.offset == offset and not self._delayed):
                return lines

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def _timed(self, lines: list[str], first_s: float | None, before_s: float) -> list[TimedLine]:
        """Add times to lines.

        Args:
            lines: complete lines.
            first_s: time of the first line, if it was complete before but for its end.
            before_s: earliest time of the others.
        """
        if not lines:
            return []
        seen = len(self._early) if self._early and lines[0].startswith(self._early) else 0
        self._early = ""
        times = []
        if first_s is not None:
            times = [max(first_s, self._last_s)]
            self._last_s = times[0]
        count = len(lines) - len(times)
        if count:
            times += spread_times(count, self._written_s, before_s, self._last_s)
        self._last_s = times[-1]
        if self.first_s is None:
            self.first_s = times[0]
        if seen and not lines[0][seen:].strip():
            lines, times = lines[1:], times[1:]
            seen = 0
        self.lines += len(lines)
        found = list(zip(times, lines, repeat(0)))
        if seen and found:
            found[0] = (times[0], lines[0], seen)
        return found

    def _waiting_frame(self) -> list[TimedLine]:
        """Return a frame that no end followed, once the program has written nothing after it."""
        frame = self.splitter.frame
        if frame is None or frame == self._early:
            return []
        seen = len(self._early) if self._early and frame.startswith(self._early) else 0
        self._early = frame
        self._last_s = max(self._written_s, self._last_s)
        if self.first_s is None:
            self.first_s = self._last_s
        self.lines += 1
        return [(self._last_s, frame, seen)]

    def _record(self, new: NewContents) -> None:
        if len(self.bursts.sizes) < _MAX_SIZES and self.file.is_read:
            self.bursts.sizes.append(self.file.offset)
            self.bursts.open_ends += not new.data.endswith((b"\n", b"\r"))
