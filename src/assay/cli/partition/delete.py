"""``assay partition delete``: undoes all changes of a partition."""

from __future__ import annotations

import os

from assay.cli.arguments.common import common_options
from assay.cli.arguments.partition import delete_request
from assay.cli.documents.partition import PartitionDeleteAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.partition.interruption import reporting_interruption
from assay.cli.partition.rendering import (
    unmet_needs,
    unmet_requirements,
    unrestored_values,
    warn_of_unmet_needs,
)
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.json_output import print_json
from assay.cli.startup import warn_of_leftovers
from assay.partition.lifecycle import PartitionHost, delete_partition
from assay.records import to_builtins


def run(parsed: Parsed) -> int:
    """Delete the partition; return 1 if a previous value could not be restored.

    Raises:
        InvalidInputError: the partition does not exist.
        NotPossibleError: it is in use, or the user lacks the rights.
    """
    request, options = delete_request(parsed), common_options(parsed)
    terminate_in_order()
    with reporting_interruption(request.name):
        place = PartitionHost(os.environ, request.wait_s)
        turned = delete_partition(request.name, place, force=request.force)
    if options.json:
        answer = PartitionDeleteAnswer(
            deleted=request.name,
            not_restored=unrestored_values(turned),
            unmet=unmet_requirements(turned),
        )
        print_json(to_builtins(answer))
    else:
        warn_of_leftovers(turned.left)
        warn_of_unmet_needs(unmet_needs(turned))
        if not options.quiet:
            print(f"The partition {request.name} is deleted.")
    return 1 if any(word.fate == "failed" for word in turned.left) else 0
