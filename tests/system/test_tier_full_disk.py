"""``assay tier run`` on a full disk: messages, and waiting for space."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine
from mounting import mounted

from native_build import compiled

MIB = 1 << 20
DISK_MIB = 192
MORE_MIB = 160
"""Request that fits once, but not twice."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Provide a separate file system."""
    image, folder = tmp_path / "image", tmp_path / "small"
    with image.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, DISK_MIB * MIB)
    folder.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", image], check=True)
    with mounted(folder, "-o", "loop", image):
        yield folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the program that reserves space on a path."""
    sources = ("checks/store.cpp", "io/store.cpp", "base/range_allocator.cpp")
    return compiled(tmp_path_factory.mktemp("store") / "store", sources, "-pthread")


def room(store: Path, disk: Path, patience_ms: int, *file: Path) -> int:
    """Return zero or the error number of a request that fits once."""
    return asked(store, disk, MORE_MIB, "-", *file, patience_ms=patience_ms)[0]


def asked(
    store: Path, disk: Path, mib: int, keep: int | str, *file: Path, patience_ms: int = 0
) -> tuple[int, int]:
    """Return zero or the error number, and the minimum free space meanwhile, in MiB."""
    command = [store, disk, f"{mib}", f"{patience_ms}", f"{keep}", *file]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=100)
    error, least = map(int, done.stdout.split())
    return error, least


def free_mib(disk: Path) -> int:
    """Return the free space for unprivileged users, in MiB."""
    found = os.statvfs(disk)
    return found.f_bavail * found.f_frsize // MIB


@pytest.mark.rotating
def test_request_beyond_free_space_allocates_nothing(store: Path, small_disk: Path) -> None:
    """Not even for a moment: other programs would fail with ENOSPC."""
    before = free_mib(small_disk)
    for mib in (4 << 20, 100 << 10, before + 1, before - 1):
        begun = time.monotonic()
        error, least = asked(store, small_disk, mib, "-", patience_ms=1000)
        assert error in (errno.ENOSPC, errno.ENOMEM), mib
        assert least == before, mib
        assert time.monotonic() - begun < 30, mib
    assert asked(store, small_disk, 100, before - 99)[0] == errno.ENOSPC
    assert asked(store, small_disk, 100, before - 110)[0] == 0
    assert asked(store, small_disk, before - 5, 0)[0] == 0


def test_concurrent_requests_keep_disk_reserve(store: Path, small_disk: Path) -> None:
    command = [store, small_disk, "70", "0", "40"]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    result = [one.communicate(timeout=100)[0].split() for one in several]
    assert min(int(least) for _, least in result) >= 40
    assert {"0"} <= {error for error, _ in result} <= {"0", str(errno.ENOSPC)}


def test_excessive_allocation_returns_enomem(
    assay_exec: Path, tmp_path: Path, tier_allowed: None, small_disk: Path
) -> None:
    program = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.malloc.restype = libc.mmap.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
def free():
    found = os.statvfs({str(small_disk)!r})
    return found.f_bavail * found.f_frsize >> 20
def ask(mib):
    ctypes.set_errno(0)
    found = libc.malloc(mib << 20)
    return "given" if found else ctypes.get_errno()
for mib in (4 << 20, 100 << 10, 3 << 10, free() - 40):
    print(ask(mib))
print(ask(64), ask(64), free() >= 50)
"""
    cli = CommandLine(assay_exec, tmp_path)
    tier = ("tier", "run", "--dram", "64M", "--path", small_disk, "--keep-free", "50M")
    answer = cli(*tier, "--", sys.executable, "-c", program)
    assert (answer.status, answer.out.splitlines()) == (
        0,
        [*[str(errno.ENOMEM)] * 4, f"given {errno.ENOMEM} True"],
    ), answer
    assert answer.err.count(f"the disks lack free space ({small_disk})") == 1
    assert "--keep-free" in answer.err


@pytest.mark.rotating
def test_request_waits_for_space_released_soon(store: Path, small_disk: Path) -> None:
    former = small_disk / "former"
    with former.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, MORE_MIB * MIB)
    assert room(store, small_disk, 0) == errno.ENOSPC
    assert room(store, small_disk, 300) == errno.ENOSPC
    assert room(store, small_disk, 60_000, former) == 0
    assert room(store, small_disk, 0) == 0


def test_waiting_request_holds_no_space(store: Path, small_disk: Path) -> None:
    """Several processes request all of it, and each gets it once."""
    command = [store, small_disk, f"{MORE_MIB}", "60000", "-"]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    result = [one.communicate(timeout=100)[0].split()[0] for one in several]
    assert result == ["0"] * 4


@pytest.mark.rotating
def test_full_disk_returns_enomem_and_is_reported(
    assay_exec: Path, tmp_path: Path, tier_allowed: None, small_disk: Path
) -> None:
    program = f"""
data = bytearray({MORE_MIB} << 20)
data[::4096] = bytes(i % 250 + 1 for i in range(len(data) // 4096))
for _ in range(3):
    try:
        bytearray({MORE_MIB} << 20)
        print("more")
    except MemoryError:
        print("none")
print(sum(a != i % 250 + 1 for i, a in enumerate(data[::4096])))
del data
print(len(bytearray({MORE_MIB - 10} << 20)) >> 20)
"""
    cli = CommandLine(assay_exec, tmp_path)
    tier = ("tier", "run", "--dram", "64M", "--path", small_disk)
    answer = cli(*tier, "--", sys.executable, "-c", program)
    assert (answer.status, answer.out.split()) == (0, [*["none"] * 3, "0", f"{MORE_MIB - 10}"])
    assert answer.err.count(f"the disks lack free space ({small_disk})") == 1


@pytest.mark.rotating
def test_predict_reports_failed_program(
    assay_exec: Path, tmp_path: Path, tier_allowed: None, small_disk: Path
) -> None:
    cli = CommandLine(assay_exec, tmp_path)
    words = ("tier", "predict", "--dram", "64M", "--path", small_disk, "--for", "20s", "--")
    answer = cli(*words, sys.executable, "-c", f"bytearray({2 * DISK_MIB} << 20)")
    assert (answer.status, answer.out) == (3, "")
    assert "ended during the sample, with status 1" in answer.err
    assert "the disks lack free space" in answer.err
