"""Disks of known throughput: file systems on loop devices that a control group throttles."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .host import control_group, is_unified

_THROTTLE = Path("/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device")
"""Control groups v1."""
_PROGRAMS = ("losetup", "mkfs.ext4", "mount", "umount")
_TRIES, _PAUSE_S = 100, 0.1


@dataclass(frozen=True)
class Disks:
    """Mounted disks.

    Attributes:
        paths: directory on each disk.
        members: file of the control group; only its members are throttled.
    """

    paths: tuple[Path, ...]
    members: Path


def lacking() -> str | None:
    """Return why disks are not available here; a missing root privilege is not checked."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} is not installed"
    if not Path("/dev/loop-control").exists():
        return "this kernel has no loop devices"
    if not is_unified("io") and not _THROTTLE.exists():
        return "no control group throttles disks here (io.max, blkio.throttle)"
    return None


@contextlib.contextmanager
def throttled(folder: Path, bytes_each: int, rates: Sequence[int]) -> Iterator[Disks]:
    """Create disks of the given size and throughput.

    Raises:
        OSError, subprocess.CalledProcessError: the kernel refuses them.
    """
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(control_group("io"))
        paths = []
        for number, rate in enumerate(rates):
            device = stack.enter_context(_device(folder / f"disk{number}", bytes_each))
            _throttle(group, device, rate)
            paths.append(stack.enter_context(_mounted(device, folder / f"on-disk{number}")))
        yield Disks(tuple(paths), group / "cgroup.procs")


def _throttle(group: Path, device: str, rate: int) -> None:
    number = Path(device).stat().st_rdev
    name = f"{os.major(number)}:{os.minor(number)}"
    if is_unified("io"):
        (group / "io.max").write_text(f"{name} rbps={rate} wbps={rate}")
        return
    for way in ("read", "write"):
        (group / f"blkio.throttle.{way}_bps_device").write_text(f"{name} {rate}")


@contextlib.contextmanager
def _device(file: Path, size_bytes: int) -> Iterator[str]:
    with file.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, size_bytes)
    # Bypass the page cache. Otherwise memory would absorb the writes.
    command = ["losetup", "--find", "--show", "--direct-io=on", str(file)]
    device = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
        file.unlink()


@contextlib.contextmanager
def _mounted(device: str, folder: Path) -> Iterator[Path]:
    whole = ("-E", "lazy_itable_init=0,lazy_journal_init=0")  # no later writes by the kernel
    subprocess.run(["mkfs.ext4", "-q", *whole, device], check=True)
    folder.mkdir()
    subprocess.run(["mount", device, folder], check=True)
    try:
        yield folder
    finally:
        _unmount(folder)
        folder.rmdir()


def _unmount(folder: Path) -> None:
    # The kernel closes the files of an io_uring some time after the program has ended.
    for _ in range(_TRIES):
        if subprocess.run(["umount", folder], stderr=subprocess.DEVNULL).returncode == 0:
            return
        time.sleep(_PAUSE_S)
    subprocess.run(["umount", folder], check=True)
