"""State of a partition after an interruption."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from assay.cli.process.termination import Terminated
from assay.partition.folders import partition_folder
from assay.partition.registry import read_partition


@contextlib.contextmanager
def reporting_interruption(name: str) -> Iterator[None]:
    """Context that reports after an interruption whether the partition exists, and ends then."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        stands = read_partition(partition_folder(name, os.environ)) is not None
        state = "exists" if stands else "does not exist, and all its changes are undone"
        with contextlib.suppress(OSError):
            print(f"assay: interrupted: the partition {name} {state}.", file=sys.stderr)
        raise
