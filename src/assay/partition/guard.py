"""The guard of who makes or deletes a partition: it settles what was left half done.

Run as ``python -m assay.partition.guard OWNER LOCK_FD``; see ``assay.host.guard``.
"""

from __future__ import annotations

import os
import sys

from assay.errors import AssayError
from assay.host.guard import dismissed, stay
from assay.host.host import LiveHost
from assay.host.journal import open_journal
from assay.machine.reader import read_machine
from assay.partition.settle import settle


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
