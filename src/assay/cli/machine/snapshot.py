"""``assay machine snapshot``: archive of all files that assay reads of a machine."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from assay.bundle.files import replace_atomically
from assay.cli.machine.partition_warning import warn_of_partitions
from assay.cli.machine.roots import root_of
from assay.cli.show.documents import print_json
from assay.errors import InvalidInputError
from assay.machine.reader import read_machine
from assay.machine.snapshot.writer import record_snapshot, write_archive
from assay.machine.user_cache import cache_folder
from assay.units import show_bytes, show_count
from assay.untrusted import clean

SUFFIXES = (".tar.gz", ".tgz")


def run(arguments: argparse.Namespace) -> int:
    """Record the machine in the file that ``-o`` names.

    Raises:
        InvalidInputError: ``-o`` is missing, its suffix is unknown, or ``--root`` contains no
            recorded machine.
        NotPossibleError: the file cannot be written.
    """
    if not arguments.output or not arguments.output.endswith(SUFFIXES):
        raise InvalidInputError(
            f"-o {arguments.output}: a snapshot is a .tar.gz archive."
            if arguments.output
            else "`assay machine snapshot` needs a file to write.",
            "Write `assay machine snapshot -o machine.tar.gz`.",
        )
    path = Path(arguments.output)
    if not arguments.root and not arguments.quiet:
        warn_of_partitions()
    with root_of(arguments.root) as root:
        machine = read_machine(root)
        found = record_snapshot(root, machine, os.environ, cache_folder(os.environ))
        with replace_atomically(path) as file:
            write_archive(found, file)
    for part in found.cut:
        print(f"assay: left out, as it was too slow or too large: {part}", file=sys.stderr)
    size_bytes = path.stat().st_size
    if arguments.json:
        document = {"file": str(path), "files": len(found.files), "bytes": size_bytes}
        print_json({**document, "left_out": list(found.cut)})
    elif not arguments.quiet:
        size = f"{show_count(len(found.files), 'file')}, {show_bytes(size_bytes)}"
        print(f"{clean(str(path))}: {size}; without serial numbers, host names and addresses.")
    return 0
