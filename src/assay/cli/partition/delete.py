"""``assay partition delete``: undoes all changes of a partition."""

from __future__ import annotations

import argparse

from assay.cli.partition.arguments import name_of, place_of
from assay.cli.partition.interruption import reporting_interruption
from assay.cli.partition.rendering import change_document, unmet_needs, warn_of_unmet_needs
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.documents import print_json
from assay.cli.system_settings import warn_of_leftovers
from assay.partition.lifecycle import delete_partition


def run(arguments: argparse.Namespace) -> int:
    """Delete the partition; return 1 if a previous value could not be restored.

    Raises:
        InvalidInputError: the partition does not exist.
        NotPossibleError: it is in use, or the user lacks the rights.
    """
    terminate_in_order()
    name = name_of(arguments)
    with reporting_interruption(arguments):
        turned = delete_partition(name, place_of(arguments), force=arguments.force)
    if arguments.json:
        print_json({"deleted": name} | change_document(turned))
    else:
        warn_of_leftovers(turned.left)
        warn_of_unmet_needs(unmet_needs(turned))
        if not arguments.quiet:
            print(f"The partition {name} is deleted.")
    return 1 if any(word.fate == "failed" for word in turned.left) else 0
