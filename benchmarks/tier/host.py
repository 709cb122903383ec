"""The host as the ways need it: a memory group, a swap file; as it was before afterwards."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

_V1, _V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
_CLUSTER = Path("/proc/sys/vm/page-cluster")


@contextlib.contextmanager
def memory_group(limit_bytes: int) -> Iterator[Path]:
    """A control group whose members may hold so much; gives the file that takes members.

    Raises:
        OSError: this user may not make one, or there is no memory controller.
    """
    v2 = "memory" in _read(_V2 / "cgroup.controllers").split()
    folder = (_V2 if v2 else _V1) / f"assay-bench-{os.getpid()}"
    if v2:
        (_V2 / "cgroup.subtree_control").write_text("+memory")
    folder.mkdir()
    try:
        limit = folder / ("memory.max" if v2 else "memory.limit_in_bytes")
        limit.write_text(str(limit_bytes))
        yield folder / "cgroup.procs"
    finally:
        folder.rmdir()


@contextlib.contextmanager
def swap(folder: Path, size_bytes: int) -> Iterator[None]:
    """A swap file in that folder.

    Raises:
        subprocess.CalledProcessError: the kernel does not take it.
    """
    file = folder / "swap"
    with file.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, size_bytes)
    file.chmod(0o600)
    subprocess.run(["mkswap", file], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["swapon", file], check=True)
    try:
        yield
    finally:
        subprocess.run(["swapoff", file], check=True)
        file.unlink()


@contextlib.contextmanager
def page_cluster(exponent: int) -> Iterator[None]:
    """How many pages swap reads at once: 2 to that power."""
    before = _CLUSTER.read_text()
    _CLUSTER.write_text(str(exponent))
    try:
        yield
    finally:
        _CLUSTER.write_text(before)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
