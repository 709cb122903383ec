"""The pager without UFFDIO_MOVE: Linux 6.1, a separate disk, and two NUMA nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from native_build import native_build

from .guest import Disk, Guest, Node, Result, with_libraries

pytestmark = [pytest.mark.vm, pytest.mark.slow]

WALK = (
    "export LD_PRELOAD=/lib/libassay-tier.so ASSAY_TIER_DRAM=33554432 ASSAY_TIER_PATH=/mnt/0"
    " ASSAY_TIER_THRESHOLD=1048576 ASSAY_TIER_REPORT=/out/report;"
    " exec assay-kernel-traversal --seconds 0 --n 12000000 --update 1 --variant {}"
)
ORDERS = ("forward", "rows")
DISK_RATE = 8 << 20
"""Limit of each of two disks in bytes per second, low enough for any guest."""
ON_TWO_DISKS = """
stat() { cat /sys/block/nvme1n1/stat /sys/block/nvme2n1/stat; }
stat >/out/before
(
    export LD_PRELOAD=/lib/libassay-tier.so ASSAY_TIER_DRAM=16777216 ASSAY_TIER_PATH=/mnt/1,/mnt/2
    export ASSAY_TIER_THRESHOLD=1048576
    assay-kernel-traversal --seconds 0 --n 4000000 --update 1 --variant forward >/out/told
    unset LD_PRELOAD
    : >/out/over
) &
until [ -e /out/over ]; do
    echo $(cat /sys/block/nvme1n1/inflight /sys/block/nvme2n1/inflight)
    usleep 200000
done >/out/in-flight
stat >/out/after
cat /out/told
"""
PROGRAMS = ("tier/assay-tier-fuzz", "tier/assay-tier-semantics", "assay-tier-probe")

SHAPES = (
    "--threads 2 --chunks 60",
    "--threads 2 --chunk 65536 --chunks 400 --frames 16",
    "--threads 2 --chunk 262144 --part 4096 --chunks 200 --frames 12",
    "--threads 2 --disk threads --chunks 60",
    "--threads 2 --numa interleave --chunks 60",
)
ROWS = ("remapped-range-faults", "differing-protections-do-not-remap", "unmap-raises-event")


@pytest.fixture(scope="module")
def programs(assay_exec: Path) -> dict[str, Path]:
    """Return the programs for the guest, and their libraries."""
    if not (assay_exec.parent / "libassay-tier.so").exists():
        pytest.skip("the pager is not built here: liburing or xxHash is missing")
    build = native_build([Path(one).name for one in PROGRAMS])
    return with_libraries({f"/bin/{Path(one).name}": build / one for one in PROGRAMS})


@pytest.fixture(scope="module")
def older(
    guest_kernel: Path,
    programs: dict[str, Path],
    assay_exec: Path,
    assay_kernels: tuple[Path, ...],
) -> dict[str, Result]:
    """Return the results of the commands on a kernel that may lack UFFDIO_MOVE."""
    commands = [["assay-tier-probe", "--path", "/mnt/0", "--bytes", str(16 << 20)]]
    commands += [["assay-tier-semantics", "--path", "/mnt/0", "--row", row] for row in ROWS]
    commands += [
        ["assay-tier-fuzz", "--path", "/mnt/0", "--ms", "3000", *shape.split()] for shape in SHAPES
    ]
    commands += [["sh", "-c", WALK.format(order)] for order in ORDERS]
    native = assay_exec.parent
    ours = {
        "/lib/libassay-tier.so": native / "libassay-tier.so",
        "/bin/assay-kernel-traversal": native / "assay-kernel-traversal",
    }
    commands += [["sh", "-c", ON_TWO_DISKS]]
    slow = Disk(128, bytes_per_s=DISK_RATE)
    nodes = (Node(448, "0"), Node(320, "1"))
    guest = Guest(kernel=guest_kernel, cpus=2, nodes=nodes, disks=[Disk(512), slow, slow])
    results = guest.run(
        {**programs, **with_libraries(ours)}, commands, timeout_s=400, command_timeout_s=120
    )
    keys = ("probe", *ROWS, *SHAPES, *ORDERS, "two disks")
    return dict(zip(keys, results, strict=True))


def message(result: Result) -> dict[str, Any]:
    assert result.status == 0, str(result)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_probe_reports_kernel_features(older: dict[str, Result]) -> None:
    found = message(older["probe"])
    assert found["userfaultfd"]["in_kernel"] and found["userfaultfd"]["copy"]
    (path,) = found["paths"]
    assert "problem" not in path and path["read_bytes_per_s"] > 0


@pytest.mark.parametrize("row", ROWS)
def test_kernel_matches_pager_assumptions(older: dict[str, Result], row: str) -> None:
    assert message(older[row])["status"] == "ok"


@pytest.mark.parametrize("shape", SHAPES)
def test_pager_preserves_words(older: dict[str, Result], shape: str) -> None:
    found = message(older[shape])
    assert found["wrong"] == 0
    assert found["demand_faults"] > 0 and found["written_bytes"] > 0


@pytest.mark.parametrize("order", ORDERS)
def test_program_larger_than_dram_computes_correctly(older: dict[str, Result], order: str) -> None:
    assert message(older[order])["status"] == "ok"
    counts = json.loads(older[order].files["/out/report"])
    assert counts["read_bytes"] > 0 and counts["written_bytes"] > 48 << 20
    if not message(older["probe"])["userfaultfd"]["move"]:
        assert b"copies pages" in older[order].stderr


def test_two_disks_share_concurrent_transfers(older: dict[str, Result]) -> None:
    assert message(older["two disks"])["status"] == "ok"
    files = older["two disks"].files
    before, after = (moved_bytes(files[f"/out/{name}"]) for name in ("before", "after"))
    least, most = sorted(there - here for here, there in zip(before, after, strict=True))
    assert least > 40 << 20 and least > 0.9 * most
    # Reads and writes of the first disk, then of the second.
    samples = [list(map(int, line.split())) for line in files["/out/in-flight"].splitlines()]
    busy = [(any(one[:2]), any(one[2:])) for one in samples]
    assert sum(map(all, busy)) > 0.5 * sum(map(any, busy)) > 0, busy


def moved_bytes(stat: bytes) -> list[int]:
    """Return the sectors of 512 bytes that each disk has read and written."""
    fields = [line.split() for line in stat.decode().splitlines()]
    return [512 * (int(one[2]) + int(one[6])) for one in fields]
