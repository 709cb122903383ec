"""Warning about standard input that no launch reads."""

from __future__ import annotations

import fcntl
import os
import select
import stat
import struct
import sys
import termios

from assay.cli.process.streams import IN
from assay.records import Workload


def warn_of_unused_input(workload: Workload, *, quiet: bool) -> None:
    """Warn that launches do not read the standard input of assay.

    An idle pipe, as CI systems leave one open, contains no data.

    Args:
        workload: workload to launch several times.
        quiet: print nothing.
    """
    if workload.stdin is None and not quiet and holds_data(IN):
        print(
            "assay: launches do not read standard input, since each one would need its own copy; "
            "--input FILE provides it.",
            file=sys.stderr,
        )


def holds_data(descriptor: int) -> bool:
    """Return whether a regular file or a pipe contains unread data."""
    try:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            return found.st_size > os.lseek(descriptor, 0, os.SEEK_CUR)
        if not stat.S_ISFIFO(found.st_mode):
            return False
        ready, _, _ = select.select([descriptor], [], [], 0.0)
        waiting = fcntl.ioctl(descriptor, termios.FIONREAD, struct.pack("i", 0))
        return bool(ready) and struct.unpack("i", waiting)[0] > 0
    except OSError:
        return False
