"""Guard of a creation or deletion of a partition: it completes or undoes an interrupted one.

Run as ``python -m assay.partition.guard OWNER LOCK_FD``; see ``assay.host.guard``.
"""

from __future__ import annotations

import os
import sys

from assay.errors import AssayError
from assay.host.guard import await_dismissal, ignore_ending_signals
from assay.host.host import LiveHost
from assay.host.journal import open_journal
from assay.machine.reader import read_machine
from assay.partition.reconciliation import reconcile


def main() -> int:
    """Run the guard."""
    ignore_ending_signals()
    if await_dismissal():
        return 0
    try:
        with open_journal(lock_fd=int(sys.argv[2])) as journal:
            reconcile(LiveHost(), journal, read_machine(), os.environ)
    except AssayError:
        return 1  # the next command on partitions reconciles the changes in the journal
    return 0


if __name__ == "__main__":
    sys.exit(main())
