"""Unused input: standard input that was given to assay, and that no launch reads."""

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
    """Say that launches do not read the standard input of assay, and how they would.

    An idle pipe, as CI leaves one open, holds nothing.

    Args:
        workload: that is launched several times.
        quiet: say nothing.
    """
    if workload.stdin is None and not quiet and holds_data(IN):
        print(
            "assay: standard input is not read, since each launch would need it anew; "
            "--input FILE gives it to each.",
            file=sys.stderr,
        )


def holds_data(descriptor: int) -> bool:
    """Return whether a file that can be read again, or a pipe, holds data now."""
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
