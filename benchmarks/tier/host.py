"""Temporary changes of the host: control groups, a swap file, the page cluster."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_CLUSTER = Path("/proc/sys/vm/page-cluster")


def is_unified(controller: str) -> bool:
    """Return whether control groups v2 have the controller; otherwise v1 may have it."""
    return controller in _read(_CGROUP / "cgroup.controllers").split()


@contextlib.contextmanager
def control_group(controller: str) -> Iterator[Path]:
    """Create a group with this controller (cgroup-v2.rst, "Controlling Controllers").

    Args:
        controller: ``memory`` or ``io``, as v2 names it.

    Raises:
        OSError: this user may not create a group, or the controller is missing.
    """
    v1 = {"io": "blkio"}.get(controller, controller)
    parent = _CGROUP if is_unified(controller) else _CGROUP / v1
    with _delegated(controller) if parent == _CGROUP else contextlib.nullcontext():
        folder = parent / f"assay-bench-{controller}-{os.getpid()}"
        folder.mkdir()
        try:
            yield folder
        finally:
            folder.rmdir()


@contextlib.contextmanager
def _delegated(controller: str) -> Iterator[None]:
    control = _CGROUP / "cgroup.subtree_control"
    if controller in control.read_text().split():
        yield
        return
    control.write_text(f"+{controller}")
    try:
        yield
    finally:
        control.write_text(f"-{controller}")


@contextlib.contextmanager
def memory_group(limit_bytes: int) -> Iterator[Path]:
    """Create a control group with a memory limit; return the file to which members are written.

    Raises:
        OSError: this user may not create a group, or the memory controller is missing.
    """
    with control_group("memory") as folder:
        limit = "memory.max" if is_unified("memory") else "memory.limit_in_bytes"
        (folder / limit).write_text(str(limit_bytes))
        yield folder / "cgroup.procs"


@contextlib.contextmanager
def swap(folder: Path, size_bytes: int) -> Iterator[None]:
    """Use a swap file in a folder.

    Raises:
        subprocess.CalledProcessError: the kernel refuses the file.
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
    """Set the number of pages that swap reads at once, as a power of two."""
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
