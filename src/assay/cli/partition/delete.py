"""``assay partition delete``: undoes all changes of a partition."""

from __future__ import annotations

import os

from assay.cli.arguments.common import common_options
from assay.cli.arguments.partition import delete_request
from assay.cli.parsing.parser import Parsed
from assay.cli.partition.interruption import reporting_interruption
from assay.cli.partition.rendering import change_document, unmet_needs, warn_of_unmet_needs
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.documents import print_json
from assay.cli.system_settings import warn_of_leftovers
from assay.partition.lifecycle import PartitionHost, delete_partition


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
        print_json({"deleted": request.name} | change_document(turned))
    else:
        warn_of_leftovers(turned.left)
        warn_of_unmet_needs(unmet_needs(turned))
        if not options.quiet:
            print(f"The partition {request.name} is deleted.")
    return 1 if any(word.fate == "failed" for word in turned.left) else 0
