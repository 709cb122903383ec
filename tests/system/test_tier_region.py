"""Regions of ``assay.tier`` from Python: content, ownership, and refused arguments."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import InvalidInputError, NotPossibleError
from assay.tier.meter import read_meters
from assay.tier.region import Tier

MIB = 1 << 20


@pytest.fixture
def env(assay_exec: Path, tier_allowed: None) -> dict[str, str]:
    return {**os.environ, "ASSAY_EXEC": str(assay_exec)}


@pytest.fixture
def tier(env: dict[str, str], disk: Path) -> Iterator[Tier]:
    with Tier(disk, dram="32M", env=env) as tier:
        yield tier


def wait_until_nothing_is_read(tier: Tier) -> None:
    """Wait until no read is in flight: after a sweep its beginning is prefetched."""
    seen, quiet = -1, 0
    while quiet < 3:  # a busy disk may take a while for a single read
        time.sleep(0.3)
        quiet = quiet + 1 if seen == (seen := tier.counts.read_bytes) else 0


def test_array_larger_than_dram_preserves_content(tier: Tier) -> None:
    array = tier.region("200M").array("i8")
    assert len(array) == 200 * MIB // 8
    for start in range(0, len(array), MIB):
        array[start : start + MIB] = np.arange(start, min(start + MIB, len(array)))
    assert int(array.sum()) == len(array) * (len(array) - 1) // 2
    assert (np.diff(array[::-1][: 10 * MIB]) == -1).all()
    counts = tier.counts
    assert counts.zero_fill_faults == 100
    assert counts.written_bytes >= 168 * MIB
    assert counts.read_bytes >= 168 * MIB


def test_clean_chunk_is_not_written_back(tier: Tier) -> None:
    array = tier.region("100M").array("u1")
    array[:] = 7
    assert int(array.max()) == 7
    written = tier.counts.written_bytes
    for _ in range(3):
        assert int(array.sum()) == 7 * len(array)
    assert tier.counts.written_bytes <= written + 32 * MIB  # chunks of the first fill in memory
    assert tier.counts.clean_evictions > 100


def test_counters_are_visible_to_other_processes(tier: Tier) -> None:
    array = tier.region("100M").array("u1")
    array[:] = 7
    assert int(array.max()) == 7
    (seen,) = (one for one in read_meters() if one.pid == os.getpid() and one.regions)
    assert (seen.dram_bytes, seen.chunk_bytes) == (32 * MIB, 2 * MIB)
    assert seen.command.split(" ")[0] in (sys.orig_argv[0], sys.executable)
    (region,) = seen.regions
    assert region.address == array.__array_interface__["data"][0]
    assert region.size_bytes == 100 * MIB
    assert 16 * MIB < region.resident_bytes <= 32 * MIB
    result = tier.counts
    assert (region.zero_fill_faults, region.demand_faults, region.prefetch_hits) == (
        result.zero_fill_faults,
        result.demand_faults,
        result.prefetch_hits,
    )
    assert region.written_bytes == result.written_bytes > 0
    assert 0 < region.stall_s < 60


@pytest.mark.parametrize("size", [0, -5, "0"])
def test_region_of_invalid_size_is_refused(tier: Tier, size: int | str) -> None:
    with pytest.raises(InvalidInputError, match=r"Invalid size of memory: -?\d+ bytes"):
        tier.region(size)


def test_forked_child_has_no_regions(tier: Tier) -> None:
    array = tier.region("64M").array("u1")
    child = os.fork()
    if child == 0:
        del array  # without an effect on the parent
        try:
            tier.region("64M")
        except NotPossibleError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    array[:] = 3
    assert int(array.sum()) == 3 * len(array)


def test_freed_region_is_hidden(tier: Tier) -> None:
    array = tier.region("64M").array("u1")
    array[::4096] = 1
    del array
    (seen,) = (one for one in read_meters() if one.pid == os.getpid())
    assert seen.regions == ()
    # The counters of freed regions remain.
    assert (seen.counts.zero_fill_faults, tier.counts.zero_fill_faults) == (32, 32)


ARENA = 1 << 20
"""Size of the arenas of Python for small objects (Objects/obmalloc.c, from 3.10 on)."""


def mapping_sizes() -> list[int]:
    """Return the size of all mappings of this process, in bytes."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    ends = (line.split()[0].split("-") for line in lines)
    return [int(last, 16) - int(first, 16) for first, last in ends]


def test_tiers_open_and_close_repeatedly(env: dict[str, str], disk: Path) -> None:
    """Also while transfers are in flight."""
    mapped = []
    for _ in range(12):
        with Tier(disk, dram="32M", env=env) as tier:
            array = tier.region("100M").array("u1")
            array[:] = 3
            del array
        mapped.append(sum(size != ARENA for size in mapping_sizes()))
    assert mapped[-1] <= mapped[2]


def test_forked_child_shows_no_counters(tier: Tier) -> None:
    tier.region("64M").array("u1")[:] = 1
    child = os.fork()
    if child == 0:
        os._exit(0 if os.getpid() not in [one.pid for one in read_meters()] else 1)
    assert os.waitpid(child, 0)[1] == 0


def held_bytes(array: np.ndarray[Any, Any]) -> int:
    base = array.__array_interface__["data"][0]
    mine = [one for one in read_meters() if one.pid == os.getpid()]
    return sum(one.resident_bytes for meter in mine for one in meter.regions if one.address == base)


@pytest.mark.rotating
def test_random_advice_fetches_little(tier: Tier) -> None:
    region = tier.region("200M")
    array = region.array("u1")
    region.advise("random")  # before the sweep, so that it leaves no transfers in flight
    array[:] = 7
    before = tier.counts
    for at in range(51 * MIB, len(array), 2 * MIB):
        assert array[at] == 7
    after = tier.counts
    assert after.demand_faults - before.demand_faults >= 50
    assert after.read_bytes - before.read_bytes <= 75 * (64 << 10)
    assert after.prefetch_hits == before.prefetch_hits
    region.advise("unknown")
    assert (array == 7).all()


@pytest.mark.rotating
def test_prefetched_tile_is_resident_at_access(tier: Tier) -> None:
    """The tile has rows of 64 KiB of a matrix, each in a separate chunk."""
    region = tier.region("256M")
    matrix = region.array("u1", (128, 2 * MIB))
    region.advise("random")  # fetches requested ranges only, and only parts of each chunk
    matrix[:] = 7
    before = tier.counts
    tile = matrix[40:72, MIB : MIB + (64 << 10)]
    region.prefetch_view(tile)
    wait_until_nothing_is_read(tier)
    assert (tile == 7).all()
    after = tier.counts
    assert (
        after.demand_faults == before.demand_faults
        and after.in_flight_faults == before.in_flight_faults
    )
    assert after.prefetch_hits - before.prefetch_hits >= 30
    assert after.read_bytes - before.read_bytes <= 32 * (128 << 10)


def test_prefetch_of_foreign_view_is_refused(tier: Tier) -> None:
    region = tier.region("64M")
    for other in (np.zeros(8), tier.region("64M").array("u1"), b"bytes"):
        with pytest.raises(InvalidInputError, match="view"):
            region.prefetch_view(other)  # type: ignore[arg-type]


@pytest.mark.rotating
def test_sequential_advice_prefetches_from_first_fault(tier: Tier) -> None:
    region = tier.region("200M")
    array = region.array("u1")
    array[:] = 7
    assert (array == 7).all()  # resident chunks are clean, so that evicting them is fast
    region.advise("sequential")
    wait_until_nothing_is_read(tier)
    before = tier.counts
    at = 50 * 2 * MIB  # after a sweep its beginning is prefetched
    while tier.counts.read_bytes == before.read_bytes:  # some chunks are still resident
        assert array[at] == 7
        at += 2 * MIB
    assert tier.counts.demand_faults == before.demand_faults + 1
    wait_until_nothing_is_read(tier)
    # Without the advice the next chunk would be a demand fault: one fault forms no stream.
    for ahead in range(3):
        assert array[at + 2 * MIB * ahead] == 7
    after = tier.counts
    assert (after.demand_faults, after.in_flight_faults) == (
        before.demand_faults + 1,
        before.in_flight_faults,
    )
    with pytest.raises(InvalidInputError, match="Unknown access pattern 'backward'"):
        region.advise("backward")  # type: ignore[arg-type]


@pytest.mark.rotating
def test_shifted_repetition_is_resident_at_restart(tier: Tier) -> None:
    """Gaussian elimination: each repetition sweeps the remaining, slightly smaller part."""
    array = tier.region("256M").array("u1")
    array[:] = 7
    firsts = range(20, 90, 10)
    for first in firsts:
        wait_until_nothing_is_read(tier)
        before = tier.counts
        assert array[first * 2 * MIB] == 7
        after = tier.counts
        if first >= firsts[4]:  # the earlier ones reveal the distance
            assert (after.demand_faults, after.in_flight_faults) == (
                before.demand_faults,
                before.in_flight_faults,
            )
            assert after.prefetch_hits > before.prefetch_hits
        assert (array[first * 2 * MIB :: 4096] == 7).all()


@pytest.mark.rotating
def test_alternating_grid_fields_are_prefetched(env: dict[str, str], disk: Path) -> None:
    """Bands of all fields alternate, with the previous band of some: one stream for each field.

    No stream evicts prefetched chunks of another one, and chunks of the next band stay resident.
    """
    fields, bands, chunk = 8, 64, MIB // 4
    with Tier(disk, dram="32M", chunk="256K", env=env) as tier:
        array = tier.region(fields * bands * chunk).array("u1")
        array[:] = 7
        grid = array.reshape(fields, bands, chunk)
        waits = []
        for _ in range(4):
            before = tier.counts
            for band in range(bands):
                for field in range(fields):
                    assert (grid[field, band, ::4096] == 7).all()
                for field in range(fields // 2):
                    assert (grid[field, max(band - 1, 0), ::4096] == 7).all()
                time.sleep(0.002)  # lets prefetches complete
            waits.append(tier.counts.demand_faults - before.demand_faults)
        assert min(waits) <= 0.1 * fields * bands, waits


@pytest.mark.rotating
def test_long_stream_maps_prefetched_chunks_in_advance(env: dict[str, str], disk: Path) -> None:
    """A fault takes about as long as computing with a tenth of a chunk."""
    with Tier(disk, dram="256M", env=env) as tier:
        array = tier.region("512M").array("u1")
        array[:] = 7
        for _ in range(3):
            before, faults = tier.counts, faults_of_thread()
            for at in range(0, len(array), 2 * MIB):
                assert (array[at : at + 2 * MIB : 4096] == 7).all()
                time.sleep(0.002)  # lets prefetches complete
            after, faults = tier.counts, faults_of_thread() - faults
        there = (
            after.prefetch_hits
            + after.second_chance_hits
            - before.prefetch_hits
            - before.second_chance_hits
        )
        assert there >= 100
        assert faults <= 0.8 * there


def faults_of_thread() -> int:
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return used.ru_minflt + used.ru_majflt


def test_evicted_range_frees_dram_and_keeps_content(tier: Tier) -> None:
    region = tier.region("24M")
    array = region.array("i4")
    array[:] = np.arange(len(array))
    assert held_bytes(array) == 24 * MIB
    region.evict(8 * MIB, 20 * MIB)
    end = time.monotonic() + 10
    while held_bytes(array) > 12 * MIB and time.monotonic() < end:
        time.sleep(0.01)
    assert held_bytes(array) == 12 * MIB
    assert (array == np.arange(len(array))).all()
    region.evict(1, 2 * MIB)  # contains no whole chunk
    assert held_bytes(array) > 12 * MIB


def test_new_and_discarded_memory_is_zero(tier: Tier) -> None:
    region = tier.region("64M")
    array = region.array("u1")
    assert not array.any()
    array[:] = 1
    region.discard(3 * MIB + 5, 61 * MIB - 5)
    assert (array[: 3 * MIB + 5] == 1).all()
    assert not array[3 * MIB + 5 : 61 * MIB - 5].any()
    assert (array[61 * MIB - 5 :] == 1).all()


def test_prefetched_range_is_resident_at_access(tier: Tier) -> None:
    region = tier.region("64M")
    array = region.array("u1")
    array[:] = 3
    wait_until_nothing_is_read(tier)
    before = tier.counts
    region.prefetch(24 * MIB, 26 * MIB)  # written long ago, so not resident
    until = time.monotonic() + 60
    while tier.counts.read_bytes == before.read_bytes and time.monotonic() < until:
        time.sleep(0.001)
    assert array[24 * MIB] == 3
    assert tier.counts.demand_faults == before.demand_faults


def test_last_view_frees_memory(tier: Tier) -> None:
    array = tier.region("64M").array("f4", (4, MIB))
    view = array[1:3]
    del array
    with pytest.raises(NotPossibleError, match="in use"):
        tier.close()
    view[:] = 2
    assert float(view.sum()) == 4 * MIB
    del view
    tier.close()
    with pytest.raises(NotPossibleError, match="closed"):
        tier.region("1M")


@pytest.mark.rotating
def test_many_small_regions_coexist(tier: Tier) -> None:
    arrays = [tier.region(64 << 10).array("u4") for _ in range(1200)]
    for number, array in enumerate(arrays):
        array[:] = number
    assert all((array == number).all() for number, array in enumerate(arrays))


def test_small_chunks_preserve_content(env: dict[str, str], disk: Path) -> None:
    with Tier(disk, dram="4M", chunk="64K", env=env) as tier:
        array = tier.region("64M").array("u8")
        array[:] = np.arange(len(array))
        rows = array.reshape(64, -1)[:, : 64 << 7]
        assert int(rows[:, 0].sum()) == sum(range(0, len(array), len(array) // 64))


def test_invalid_arguments_are_refused(env: dict[str, str], disk: Path, tier: Tier) -> None:
    with pytest.raises(NotPossibleError, match="cannot be used"):
        Tier(disk / "missing", dram="64M", env=env)
    with pytest.raises(NotPossibleError, match="too little"):
        Tier(disk, dram="8M", env=env)
    with pytest.raises(NotPossibleError, match="a power of two"):
        Tier(disk, dram="64M", chunk=5000, env=env)
    with pytest.raises(InvalidInputError, match="comma"):
        Tier("/a,b", dram="64M", env=env)
    with pytest.raises(NotPossibleError, match="has no pager"):
        Tier(disk, dram="64M", env={"ASSAY_EXEC": str(disk / "assay-exec")})
    with pytest.raises(NotPossibleError, match="Cannot allocate a region"):
        tier.region(1 << 60)
    region = tier.region("4M")
    with pytest.raises(InvalidInputError, match="does not fit"):
        region.array("f8", (1 << 20,))
    with pytest.raises(InvalidInputError, match="exceed the region"):
        region.discard(0, 5 * MIB)
    with pytest.raises(TypeError, match="float"):
        region.prefetch(0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="NoneType"):
        Tier(disk, dram=None, env=env)  # type: ignore[arg-type]


CHILD = """
import os, sys
from assay.tier.region import Tier
tier = Tier(sys.argv[1], dram="32M")
array = tier.region("64M").array("u1")
array[:] = 1
child = os.fork()
if child == 0:
    os._exit(int(array[0]))
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), int(array.sum()))
"""


def test_forked_child_access_is_terminated(env: dict[str, str], disk: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, disk], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(-signal.SIGSEGV), str(64 * MIB)]


def test_closed_tier_keeps_views_and_refuses_regions(tier: Tier) -> None:
    with tier:
        array = tier.region("4M").array("u1")
    array[:] = 7
    assert int(array.sum()) == 7 * array.size
    with pytest.raises(NotPossibleError, match="closed"):
        tier.region("4M")
    del array
    with pytest.raises(NotPossibleError, match="closed"):
        _ = tier.counts


ASKING = CHILD.replace(
    "os._exit(int(array[0]))",
    """
    try: tier.region("4M")
    except Exception as error: os._exit(7 if "forked child" in str(error) else 8)""",
)


def test_forked_child_call_is_refused(env: dict[str, str], disk: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASKING, disk], env=env, capture_output=True, text=True
    )
    assert done.stdout.split() == ["7", str(64 * MIB)], done.stderr


LATER = CHILD.replace(
    "    os._exit(int(array[0]))",
    """    import mmap
    blocks = [mmap.mmap(-1, size << 20) for size in (64, 64, 16, 4, 1) for _ in "1234"]
    for block in blocks:
        block[:: mmap.PAGESIZE] = bytes([2]) * (len(block) // mmap.PAGESIZE)
    os._exit(int(array[-1]))""",
)


def test_forked_child_does_not_reuse_parent_addresses(env: dict[str, str], disk: Path) -> None:
    """The child allocates first; the kernel would place it at the freed addresses."""
    done = subprocess.run(
        [sys.executable, "-c", LATER, disk], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(-signal.SIGSEGV), str(64 * MIB)]
