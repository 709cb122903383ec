"""Partitions of this host for tests, with the broker that serves them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.machine.boot import BOOT_ID
from assay.machine.cpulist import format_list
from assay.partition.isolation_files import GROUP_FILES, ROOT_FILES
from assay.partition.registry import Partition, activate
from assay.records import ControlGroup

CGROUPS = Path("/sys/fs/cgroup")
V1 = CGROUPS / "cpuset"
V1_MEMORY = CGROUPS / "memory"
CPUS = sorted(os.sched_getaffinity(0))


def listed(cpus: list[int]) -> str:
    return ",".join(map(str, cpus))


@dataclass
class Standing:
    """A created partition, below a folder that replaces ``/run/assay``."""

    run: Path
    name: str
    group: Path
    broker: subprocess.Popen[str]

    @property
    def leases(self) -> list[str]:
        """Return the reserved shares."""
        return sorted(path.name for path in self.group.glob("lease-*"))

    def free(self, within_s: float = 20.0) -> None:
        """Wait until all shares are released."""
        until(lambda: not self.leases, "the share is given back", within_s)


def until(holds: Callable[[], object], what: str, within_s: float = 20.0) -> None:
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.01)


@contextmanager
def run_folder() -> Iterator[Path]:
    """Return the folder that replaces ``/run/assay``; every user may enter it."""
    with tempfile.TemporaryDirectory(prefix="assay-run-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextmanager
def partition(
    broker: Path,
    run: Path,
    cpus: list[int],
    *,
    name: str = "work",
    memory_bytes: int = 1 << 30,
    gpus: str = "",
    limits_memory: bool = False,
    apart: bool = True,
) -> Iterator[Standing]:
    """Create control groups of version 1 and a broker, as ``assay partition create`` does.

    Only that programs beside are left where they are. Those that are not set ``apart`` may have
    the same CPUs.
    """
    folder = run / "partitions" / name
    folder.mkdir(parents=True)
    group = V1 / f"assay-test-{os.getpid()}-{name}"
    groups = [group, V1_MEMORY / group.name] if limits_memory else [group]
    with contextlib.ExitStack() as stack:
        for made in groups:
            made.mkdir()
            stack.callback(_remove, made)
        (group / "cpuset.mems").write_text((V1 / "cpuset.mems").read_text())
        try:
            (group / "cpuset.cpus").write_text(listed(cpus))
        except OSError:
            pytest.skip("a partition of this host has these CPUs")
        if apart:
            for place, files in ((group, GROUP_FILES[1]), (V1, ROOT_FILES[1])):
                for file, text in files.items():
                    stack.enter_context(_reading(place / file, text))
        yield stack.enter_context(
            _served(broker, run, folder, groups, cpus, name, memory_bytes, gpus)
        )


@contextmanager
def _reading(file: Path, text: str) -> Iterator[None]:
    """Change a file of a control group temporarily."""
    before = file.read_text()
    file.write_text(text)
    try:
        yield
    finally:
        file.write_text(before)


def _remove(group: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        group.rmdir()


def _made(groups: list[Path], cpus: list[int], name: str) -> Partition:
    own = ControlGroup(
        path=str(groups[0]),
        files=(("cpuset.cpus", format_list(cpus)), *GROUP_FILES[1].items()),
    )
    return Partition(
        name=name,
        boot_id=Path(BOOT_ID).read_text().strip(),
        version=1,
        root_group=str(V1),
        cpus=format_list(cpus),
        nodes=(V1 / "cpuset.mems").read_text().strip(),
        groups=(own, *(ControlGroup(path=str(group), files=()) for group in groups[1:])),
    )


@contextmanager
def _served(
    broker: Path,
    run: Path,
    folder: Path,
    groups: list[Path],
    cpus: list[int],
    name: str,
    memory_bytes: int,
    gpus: str,
) -> Iterator[Standing]:
    hierarchies = [{"controller": "cpuset", "mount": str(V1), "folder": str(groups[0])}]
    if len(groups) > 1:
        hierarchies.append(
            {"controller": "memory", "mount": str(V1_MEMORY), "folder": str(groups[-1])}
        )
    document = {
        "schema": 2,
        "name": name,
        "hierarchies": hierarchies,
        "cpus": listed(cpus),
        "memory_bytes": memory_bytes,
        "gpus": gpus,
    }
    (folder / "partition.json").write_text(json.dumps(document))
    process = subprocess.Popen(
        [broker, folder / "partition.json", folder / "broker.sock"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        activate(_made(groups, cpus, name), folder)
        standing = Standing(run, name, groups[0], process)
        yield standing
        standing.free()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        process.stdout.close()
