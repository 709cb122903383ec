"""The guest of this folder: the command line isolates two of its four CPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.records import decode
from assay.records.noise import CpuNoise, NoiseRun
from vm.alive import Alive, alive
from vm.guest import Guest
from vm.trees import gather, plant, tree_files

CMDLINE = "isolcpus=managed_irq,domain,2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0-1"
NOISE = "assay-noise selfish --cpus {} --seconds 0.8 --threshold-us 50 > /out/document"
# A second program on the isolated CPU brings its tick back.
SHARED = "taskset -c 3 sh -c 'while :; do :; done' & busy=$!; {}; kill $busy"
COMMANDS = {
    "tree": gather(),
    "house": NOISE.format("1"),
    "isolated": NOISE.format("3"),
    "shared": SHARED.format(NOISE.format("3")),
}


@dataclass(frozen=True)
class Isolated:
    """Return the guest, and earlier measurements on it."""

    running: Alive
    root: Root
    known: Machine
    noise: Mapping[str, CpuNoise]


@pytest.fixture(scope="package")
def isolated(
    guest_kernel: Path,
    tree_program: Path,
    assay_noise: Path,
    assay_exec: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Isolated]:
    """Return the guest; each test restores its changes."""
    described = Guest(kernel=guest_kernel, cpus=4, cmdline=CMDLINE)
    files = {
        **tree_files(tree_program),
        "/bin/assay-noise": assay_noise,
        "/bin/assay-exec": assay_exec,
    }
    with alive(described, files, [["sh", "-c", text] for text in COMMANDS.values()]) as running:
        results = dict(zip(COMMANDS, running.results, strict=True))
        root = plant(results.pop("tree").files["/out/tree"], tmp_path_factory.mktemp("tree"))
        noise = {}
        for name, result in results.items():
            assert "/out/document" in result.files, str(result)
            (noise[name],) = decode(result.files["/out/document"], NoiseRun).measured
        yield Isolated(running, root, read_machine(root), noise)
