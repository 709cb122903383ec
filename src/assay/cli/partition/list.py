"""``assay partition list``: partitions, their state and their shares."""

from __future__ import annotations

import os
import sys

from assay.cli.arguments.common import common_options
from assay.cli.arguments.partition import list_request
from assay.cli.documents.partition import PartitionListAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.partition.rendering import (
    listed_partition,
    status_lines,
    steered_kernel_work,
    steering_lines,
)
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.host.host import LiveHost
from assay.partition.status import read_kernel_work, read_partitions
from assay.records import to_builtins
from assay.untrusted import clean


def run(parsed: Parsed) -> int:
    """List all partitions, or one; return 1 if one is not in force.

    Raises:
        InvalidInputError: the partition does not exist.
    """
    request, options = list_request(parsed), common_options(parsed)
    host = LiveHost()
    found = read_partitions(host, os.environ)
    if request.name:
        found = tuple(seen for seen in found if seen.name == request.name)
        if not found:
            from assay.errors import InvalidInputError

            raise InvalidInputError(
                f"There is no partition {request.name}.",
                "`assay partition list` shows the existing ones.",
            )
    steered = read_kernel_work(host, os.environ)
    if options.json:
        answer = PartitionListAnswer(
            partitions=tuple(map(listed_partition, found)),
            steered=steered_kernel_work(steered),
        )
        print_json(to_builtins(answer))
    else:
        lines = [line for seen in found for line in status_lines(seen)]
        lines += steering_lines(steered, verbose=options.verbose) if found else ()
        lines = lines or ["No partition exists; root creates one with `assay partition create`."]
        print("\n".join(wrapped(map(clean, lines), width_of(sys.stdout))))
    sound = all(
        seen.fault is None and not (seen.partition and seen.partition.broker and seen.state is None)
        for seen in found
    )
    return 0 if sound else 1
