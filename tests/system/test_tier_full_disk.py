"""``assay tier run`` where the disk has no room: what is told, and whose room may still come."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine
from mounting import mounted

from native_build import compiled

MIB = 1 << 20
DISK_MIB = 192
MORE_MIB = 160
"""Fits once, and not twice."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own."""
    image, folder = tmp_path / "image", tmp_path / "small"
    with image.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, DISK_MIB * MIB)
    folder.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", image], check=True)
    with mounted(folder, "-o", "loop", image):
        yield folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What asks for room on a path."""
    sources = ("checks/store.cpp", "store.cpp", "ranges.cpp")
    return compiled(tmp_path_factory.mktemp("store") / "store", sources, "-pthread")


def room(store: Path, disk: Path, patience_ms: int, *file: Path) -> int:
    """Zero or the error number, where so much is asked for as fits once."""
    command = [store, disk, f"{MORE_MIB}", f"{patience_ms}", *file]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=100)
    return int(done.stdout)


@pytest.mark.rotating
def test_room_that_comes_soon_is_waited_for(store: Path, small_disk: Path) -> None:
    former = small_disk / "former"
    with former.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, MORE_MIB * MIB)
    assert room(store, small_disk, 0) == errno.ENOSPC
    assert room(store, small_disk, 300) == errno.ENOSPC
    assert room(store, small_disk, 60_000, former) == 0
    assert room(store, small_disk, 0) == 0


def test_who_waits_for_room_holds_none(store: Path, small_disk: Path) -> None:
    """Of several that want all of it each has it once."""
    command = [store, small_disk, f"{MORE_MIB}", "60000"]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [one.communicate(timeout=100)[0] for one in several] == ["0\n"] * 4


@pytest.mark.rotating
def test_a_full_disk_is_no_memory_and_told(
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
    assert answer.err.count(f"no room on the disks (of {small_disk})") == 1


@pytest.mark.rotating
def test_predict_tells_that_the_program_failed(
    assay_exec: Path, tmp_path: Path, tier_allowed: None, small_disk: Path
) -> None:
    cli = CommandLine(assay_exec, tmp_path)
    words = ("tier", "predict", "--dram", "64M", "--path", small_disk, "--for", "20s", "--")
    answer = cli(*words, sys.executable, "-c", f"bytearray({2 * DISK_MIB} << 20)")
    assert (answer.status, answer.out) == (3, "")
    assert "ended by itself, with status 1" in answer.err
    assert "no room on the disks" in answer.err
