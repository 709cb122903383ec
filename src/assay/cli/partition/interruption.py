"""Interrupted: what an interruption left of a partition."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator

from assay.cli.partition.arguments import name_of
from assay.cli.process.termination import Terminated
from assay.partition.folders import partition_folder
from assay.partition.registry import read_partition


@contextlib.contextmanager
def reporting_interruption(arguments: argparse.Namespace) -> Iterator[None]:
    """Say whether the partition stands, once everything is settled, and go on ending."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        name = name_of(arguments)
        stands = read_partition(partition_folder(name, os.environ)) is not None
        is_how = "stands" if stands else "is not there, and what was changed for it is put back"
        with contextlib.suppress(OSError):
            print(f"assay: interrupted: the partition {name} {is_how}.", file=sys.stderr)
        raise
