"""Machine of an action: this one or a recorded one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from assay.cli.process.termination import terminate_in_order
from assay.machine.document import Machine
from assay.machine.inventory.document import Inventory
from assay.machine.inventory.reader import read_inventory
from assay.machine.reader import read_machine
from assay.machine.remembered_root import remembered
from assay.machine.root import Root
from assay.machine.snapshot.archive import open_snapshot
from assay.machine.snapshot_facts import Facts
from assay.machine.user_cache import cache_folder


@contextmanager
def root_of(text: str | None) -> Iterator[Root]:
    """Open the recorded machine of ``--root``, a folder or an archive; without it the running host.

    Raises:
        InvalidInputError: the path contains no recorded machine.
        NotPossibleError: it cannot be read.
    """
    # A signal has to clean up from now on: see assay.cli.process.termination.
    for kind in (Machine, Inventory, Facts):
        msgspec.json.Decoder(kind)
    terminate_in_order()
    if text is None:
        yield Root()
        return
    with open_snapshot(Path(text)) as root:
        yield root


def read_described(root: Root, *, system: bool = True) -> tuple[Machine, Inventory]:
    """Return both documents that describe a machine.

    Args:
        root: root of the machine.
        system: true to read the files with the system's configuration, as for ``read_machine``.
    """
    with remembered(root) as once:
        machine = read_machine(once, system=system)
        return machine, read_inventory(machine, once, cache=cache_folder(os.environ))
