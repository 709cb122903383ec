"""The guest of this folder, booted once, and the readings of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.machine.root import Root
from vm.alive import Alive, alive
from vm.guest import Guest
from vm.trees import gather, plant, tree_files

from . import machine


def with_libraries(program: Path) -> dict[str, Path]:
    """Return a program and its shared libraries, by their paths."""
    result = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libraries = [word for word in result.split() if word.startswith("/")]
    return {f"/bin/{program.name}": program, **{name: Path(name) for name in libraries}}


@pytest.fixture(scope="package")
def guest(
    guest_kernel: Path,
    guest_programs: dict[str, Path | bytes],
    tree_program: Path,
    assay_exec: Path,
    assay_broker: Path,
    assay_kernels: tuple[Path, ...],
) -> Iterator[Alive]:
    """Return the guest; each test restores its changes."""
    described = Guest(
        kernel=guest_kernel,
        cpus=machine.CPUS,
        nodes=machine.NODES,
        distances={
            (source, target): value
            for source, row in enumerate(machine.DISTANCES)
            for target, value in enumerate(row)
            if source < target
        },
        speeds=machine.SPEEDS,
        cmdline=machine.CMDLINE,
    )
    files = {
        **guest_programs,
        **tree_files(tree_program),
        "/bin/assay-exec": assay_exec,
        "/bin/assay-broker": assay_broker,
        **with_libraries(next(one for one in assay_kernels if one.name == "assay-kernel-dgemm")),
        "/etc/passwd": b"root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n",
        "/etc/group": b"root:x:0:\nuser:x:1000:\n",
    }
    with alive(described, files, [["sh", "-c", gather()]]) as running:
        yield running


@pytest.fixture(scope="package")
def root(guest: Alive, tmp_path_factory: pytest.TempPathFactory) -> Root:
    """Return the guest's files as of its boot."""
    (gathered,) = guest.results
    return plant(gathered.files["/out/tree"], tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="package")
def known(root: Root) -> Machine:
    """Return the guest as a Machine document."""
    return read_machine(root)
