"""``assay partition start``: restores the requirements of a partition, and its broker."""

from __future__ import annotations

import argparse

from assay.cli.partition.arguments import name_of, place_of
from assay.cli.partition.rendering import (
    change_document,
    partition_document,
    unmet_needs,
    warn_of_unmet_needs,
)
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.documents import print_json
from assay.cli.system_settings import warn_of_leftovers
from assay.host.changes import ActionStatus
from assay.partition.lifecycle import StartedPartition, start_partition
from assay.units import show_count


def run(arguments: argparse.Namespace) -> int:
    """Restore the partition; return 1 if a requirement or a previous value is not in force.

    Raises:
        InvalidInputError: the partition does not exist.
        NotPossibleError: it cannot be started.
    """
    terminate_in_order()
    started = start_partition(name_of(arguments), place_of(arguments))
    lacks, left = unmet_needs(started.turned), started.turned.left
    if arguments.json:
        found = {"partition": partition_document(started.made), "ended": started.ended}
        print_json(found | change_document(started.turned))
    else:
        warn_of_leftovers(left)
        warn_of_unmet_needs(lacks)
        print(_of_broker(started))
    failed = any(word.fate == "failed" for word in left)
    return 1 if failed or any(one.word is not ActionStatus.DRIFTED for one in lacks) else 0


def _of_broker(started: StartedPartition) -> str:
    if not started.made.broker:
        return f"The partition {started.made.name} was created without a broker."
    again = " again" if started.began else ""
    text = f"The broker of the partition {started.made.name} runs{again}."
    if started.ended:
        count = show_count(started.ended, "process", "processes")
        text += f"\nassay ended {count} in shares of the previous broker."
    return text
