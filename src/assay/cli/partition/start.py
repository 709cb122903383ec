"""``assay partition start``: restores the requirements of a partition, and its broker."""

from __future__ import annotations

import os

from assay.cli.arguments.common import common_options
from assay.cli.arguments.partition import start_request
from assay.cli.documents.partition import PartitionStartAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.partition.rendering import (
    described_partition,
    unmet_needs,
    unmet_requirements,
    unrestored_values,
    warn_of_unmet_needs,
)
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.json_output import print_json
from assay.cli.startup import warn_of_leftovers
from assay.host.changes import ActionStatus
from assay.partition.lifecycle import PartitionHost, StartedPartition, start_partition
from assay.records import to_builtins
from assay.units import show_count


def run(parsed: Parsed) -> int:
    """Restore the partition; return 1 if a requirement or a previous value is not in force.

    Raises:
        InvalidInputError: the partition does not exist.
        NotPossibleError: it cannot be started.
    """
    request, options = start_request(parsed), common_options(parsed)
    terminate_in_order()
    started = start_partition(request.name, PartitionHost(os.environ, request.wait_s))
    lacks, left = unmet_needs(started.update), started.update.left
    if options.json:
        answer = PartitionStartAnswer(
            partition=described_partition(started.partition),
            ended=started.ended,
            not_restored=unrestored_values(started.update),
            unmet=unmet_requirements(started.update),
        )
        print_json(to_builtins(answer))
    else:
        warn_of_leftovers(left)
        warn_of_unmet_needs(lacks)
        print(_broker_text(started))
    failed = any(word.fate == "failed" for word in left)
    return 1 if failed or any(one.status is not ActionStatus.DRIFTED for one in lacks) else 0


def _broker_text(started: StartedPartition) -> str:
    if not started.partition.broker:
        return f"The partition {started.partition.name} was created without a broker."
    again = " again" if started.broker_started else ""
    text = f"The broker of the partition {started.partition.name} runs{again}."
    if started.ended:
        count = show_count(started.ended, "process", "processes")
        text += f"\nassay ended {count} in shares of the previous broker."
    return text
