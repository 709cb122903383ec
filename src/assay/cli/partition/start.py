"""``assay partition start``: the broker of a partition, started again."""

from __future__ import annotations

import argparse

from assay.cli.documents import print_json
from assay.cli.ending import end_in_order
from assay.cli.partition.asked import name_of, place_of
from assay.cli.partition.told import made_document
from assay.launch.partition.make import start


def run(arguments: argparse.Namespace) -> int:
    """Start it.

    Raises:
        BadInput: there is no such partition.
        NotPossible: it runs, or cannot be started.
    """
    end_in_order()
    made = start(name_of(arguments), place_of(arguments))
    if arguments.json:
        print_json({"partition": made_document(made)})
    else:
        print(f"The broker of the partition {made.name} runs again.")
    return 0
