"""``assay machine snapshot``: archive of all files that assay reads of a machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from assay.bundle.files import replace_atomically
from assay.cli.arguments.common import common_options
from assay.cli.arguments.machine import snapshot_request
from assay.cli.documents.machine import MachineSnapshotAnswer
from assay.cli.machine.partition_warning import warn_of_partitions
from assay.cli.machine.roots import root_of
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.machine.reader import read_machine
from assay.machine.snapshot.writer import record_snapshot, write_archive
from assay.machine.user_cache import cache_folder
from assay.records import to_builtins
from assay.units import show_bytes, show_count
from assay.untrusted import clean


def run(parsed: Parsed) -> int:
    """Record the machine in the file that ``-o`` names.

    Raises:
        InvalidInputError: ``-o`` is missing, its suffix is unknown, or ``--root`` contains no
            recorded machine.
        NotPossibleError: the file cannot be written.
    """
    request, options = snapshot_request(parsed), common_options(parsed)
    path = Path(request.path)
    if not request.root and not options.quiet:
        warn_of_partitions()
    with root_of(request.root) as root:
        machine = read_machine(root)
        found = record_snapshot(root, machine, os.environ, cache_folder(os.environ))
        with replace_atomically(path) as file:
            write_archive(found, file)
    for part in found.cut:
        print(f"assay: left out, as it was too slow or too large: {part}", file=sys.stderr)
    size_bytes = path.stat().st_size
    if options.json:
        answer = MachineSnapshotAnswer(
            file=str(path),
            files=len(found.files),
            bytes=size_bytes,
            excluded=tuple(found.cut),
        )
        print_json(to_builtins(answer))
    elif not options.quiet:
        size = f"{show_count(len(found.files), 'file')}, {show_bytes(size_bytes)}"
        print(f"{clean(str(path))}: {size}; without serial numbers, host names and addresses.")
    return 0
