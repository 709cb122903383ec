"""``assay partition list``: partitions, their state and their shares."""

from __future__ import annotations

import argparse
import os
import sys

from assay.cli.partition.rendering import (
    status_document,
    status_lines,
    steering_document,
    steering_lines,
)
from assay.cli.show.documents import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.host.host import LiveHost
from assay.partition.status import read_kernel_work, read_partitions
from assay.untrusted import clean


def run(arguments: argparse.Namespace) -> int:
    """List all partitions, or one; return 1 if one is not in force.

    Raises:
        InvalidInputError: the partition does not exist.
    """
    host = LiveHost()
    found = read_partitions(host, os.environ)
    if arguments.name:
        found = tuple(seen for seen in found if seen.name == arguments.name)
        if not found:
            from assay.errors import InvalidInputError

            raise InvalidInputError(
                f"There is no partition {arguments.name}.",
                "`assay partition list` shows the existing ones.",
            )
    steered = read_kernel_work(host, os.environ)
    if arguments.json:
        document = {"partitions": [status_document(seen) for seen in found]}
        print_json(document | {"steered": steering_document(steered)})
    else:
        lines = [line for seen in found for line in status_lines(seen)]
        lines += steering_lines(steered, verbose=arguments.verbose) if found else ()
        lines = lines or ["No partition exists; root creates one with `assay partition create`."]
        print("\n".join(wrapped(map(clean, lines), width_of(sys.stdout))))
    sound = all(
        seen.fault is None and not (seen.made and seen.made.broker and seen.state is None)
        for seen in found
    )
    return 0 if sound else 1
