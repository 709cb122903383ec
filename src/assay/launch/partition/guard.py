"""The guard of who makes or deletes a partition: it settles what was left half done.

Run as ``python -m assay.launch.partition.guard OWNER LOCK_FD``; see ``assay.launch.system.guard``.
"""

from __future__ import annotations

import os
import sys

from assay.errors import AssayError
from assay.launch.journal import open_journal
from assay.launch.partition.settle import settle
from assay.launch.system.guard import dismissed, stay
from assay.launch.system.host import LiveHost
from assay.machine.reader import read_machine


def main() -> int:
    """Be the guard."""
    stay()
    if dismissed():
        return 0
    try:
        with open_journal(lock_fd=int(sys.argv[2])) as journal:
            settle(LiveHost(), journal, read_machine(), os.environ)
    except AssayError:
        return 1  # what is left is written down: whoever looks after partitions next settles it
    return 0


if __name__ == "__main__":
    sys.exit(main())
