"""Warning that a partition has reserved CPUs, which changes the description of a machine."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping

from assay.errors import NotPossibleError
from assay.untrusted import clean


def warn_of_partitions(env: Mapping[str, str] = os.environ) -> None:
    """Print a line on error output for each partition of this host."""
    # Imported late: a recorded machine has no partitions.
    from assay.partition.registry import active_partitions

    with contextlib.suppress(NotPossibleError):  # `assay partition` reports it
        for made in active_partitions(env):
            print(
                clean(f"assay: the partition {made.name} has reserved the CPUs {made.cpus}: the")
                + " results describe this host without them.",
                file=sys.stderr,
            )
