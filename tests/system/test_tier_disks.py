"""Throughput of two throttled disks: twice that of one."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.tier import disks

from cases import cases

MIB = 1 << 20
RATE = 100 * 10**6
"""Limit of a disk in bytes per second, low enough to be the only bottleneck."""
DRAM, DATA = 64 * MIB, 256 * MIB
AT_LEAST = 1.5
"""Required speed-up over one disk; sharing in full yields 2, as the benchmark shows."""

ORDERS = {
    "forward": ("--variant", "forward"),
    "written": ("--variant", "forward", "--update", "1"),
    "columns": ("--variant", "tiles"),
}


@dataclass(frozen=True)
class Sweep:
    """Result of a program: its rate, and the traffic of each disk."""

    bytes_per_s: float
    of_disks: tuple[int, ...]


@pytest.fixture(scope="module")
def slow(
    tmp_path_factory: pytest.TempPathFactory, tier_allowed: None, assay_exec: Path
) -> Iterator[disks.Disks]:
    if os.environ.get("ASSAY_TEST_SYSTEM") != "1" or os.geteuid() != 0:
        pytest.skip("disks are made on this host: root, with ASSAY_TEST_SYSTEM=1")
    if lacking := disks.lacking():
        pytest.skip(lacking)
    folder = tmp_path_factory.mktemp("disks")
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(disks.throttled(folder, 2 * DATA, (RATE, RATE)))
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no throttled disks can be had here: {error}")
        yield made


def moved(path: Path) -> int:
    """Return the bytes that a disk has read and written."""
    number = path.stat().st_dev
    stat = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")
    fields = stat.read_text().split()
    return 512 * (int(fields[2]) + int(fields[6]))


def swept(slow: disks.Disks, count: int, order: str, native: Path) -> Sweep:
    """Run a program whose data are spread over a number of disks."""
    before = [moved(path) for path in slow.paths]
    done = subprocess.run(
        [
            *("sh", "-c", 'echo $$ >"$1"; shift; exec env "$@"', "sh", slow.members),
            f"LD_PRELOAD={native / 'libassay-tier.so'}",
            f"ASSAY_TIER_PATH={','.join(map(str, slow.paths[:count]))}",
            f"ASSAY_TIER_DRAM={DRAM}",
            *(native / "assay-kernel-traversal", "--size", str(DATA), "--seconds", "0"),
            *("--samples", "1", *ORDERS[order]),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[0])
    assert result["status"] == "ok"
    after = [moved(path) for path in slow.paths]
    return Sweep(
        result["bytes"] / result["median_s"],
        tuple(later - earlier for earlier, later in zip(before, after, strict=True)),
    )


@pytest.mark.rotating
@pytest.mark.parametrize("order", cases(["columns"], slow=["forward", "written"]))
def test_two_disks_share_transfers(slow: disks.Disks, assay_exec: Path, order: str) -> None:
    one, two = (swept(slow, count, order, assay_exec.parent) for count in (1, 2))
    least, most = sorted(two.of_disks)
    assert least > 0.9 * most, two
    assert two.bytes_per_s > AT_LEAST * one.bytes_per_s, (one, two)
