"""Swap: a swap file for the duration of a test, and programs without access to swap."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

FIRST = 30_000
"""Swap priority: before all other areas of this host."""


@contextlib.contextmanager
def swap_file(folder: Path, size_bytes: int) -> Iterator[None]:
    """Add a swap file on the disk of a folder; skip the test if this kernel refuses it."""
    if os.geteuid() != 0 or not shutil.which("swapon") or not shutil.which("mkswap"):
        pytest.skip("a swap file takes root, and util-linux")
    file = folder / "swap"
    with file.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, size_bytes)
    file.chmod(0o600)
    subprocess.run(["mkswap", file], check=True, stdout=subprocess.DEVNULL)
    taken = subprocess.run(["swapon", "-p", str(FIRST), file], capture_output=True, text=True)
    if taken.returncode != 0:
        file.unlink()
        pytest.skip(f"no swap can be taken into use here: {taken.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["swapoff", file], check=True)
        file.unlink()


def others() -> int:
    """Return the swap areas in use."""
    return len(Path("/proc/swaps").read_text().splitlines()) - 1


def without_swap(folder: Path) -> tuple[str, ...]:
    """Return a command prefix that hides swap from a program; skip the test without one."""
    empty = folder / "swaps"
    empty.write_text("Filename\tType\tSize\tUsed\tPriority\n")
    mounted = f'mount --bind {empty} /proc/swaps && exec "$@"'
    prefix = ("unshare", "--mount", "sh", "-c", mounted, "sh")
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("mounts of its own take root")
    if subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("mounts of its own are not allowed here")
    return prefix
