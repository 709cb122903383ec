"""Apart: a word on CPUs that a partition has set apart, which changes what is seen of a machine."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping

from assay.errors import NotPossibleError
from assay.partition.registry import active_partitions
from assay.untrusted import clean


def warn_of_partitions(env: Mapping[str, str] = os.environ) -> None:
    """A line on error output for each partition that this host has."""
    with contextlib.suppress(NotPossibleError):  # whoever makes partitions is told
        for made in active_partitions(env):
            print(
                clean(f"assay: the partition {made.name} has CPUs {made.cpus} just now: what is")
                + " seen here is this host with them set apart.",
                file=sys.stderr,
            )
