"""The guest of this folder, booted once, and the readings of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.machine.document import Machine
from assay.machine.reader import read_machine
from vm.alive import Alive, alive
from vm.guest import Guest, Node, Speed
from vm.trees import gather, plant, tree_files

NODES = (Node(320, "0-1"), Node(192, "2-3"), Node(128, initiator=1))
SPEEDS = {
    (initiator, target): Speed(300, 20) if target == 2 else Speed(80, 100)
    for initiator in (0, 1)
    for target in (0, 1, 2)
}


@pytest.fixture(scope="package")
def guest(
    newer_kernel: Path,
    guest_programs: dict[str, Path | bytes],
    tree_program: Path,
    assay_exec: Path,
) -> Iterator[Alive]:
    """Return the guest; each test restores its changes."""
    described = Guest(
        kernel=newer_kernel, cpus="4,sockets=2,cores=2,threads=1", nodes=NODES, speeds=SPEEDS
    )
    files = {**guest_programs, **tree_files(tree_program), "/bin/assay-exec": assay_exec}
    with alive(described, files, [["sh", "-c", gather()]]) as running:
        yield running


@pytest.fixture(scope="package")
def known(guest: Alive, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return the guest as a Machine document."""
    (gathered,) = guest.results
    return read_machine(plant(gathered.files["/out/tree"], tmp_path_factory.mktemp("tree")))
