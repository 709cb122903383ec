"""Stress tests of the pager: concurrent threads that verify each word, few frames, sanitizers, and
failing disks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from swapping import swap_file

from cases import cases
from native_build import native_build

QUIET = {**os.environ, "ASAN_OPTIONS": "handle_sigbus=0:handle_abort=0"}
"""Sanitizers report by exit status only, because the tests check how a program ends."""


PROGRAMS = ["assay-tier-fuzz", "assay-tier-errors"]


@pytest.fixture(scope="module")
def programs(tier_allowed: None) -> Path:
    """Build the programs with the address and undefined-behaviour sanitizers."""
    return native_build(PROGRAMS, "address,undefined") / "tier"


@pytest.fixture(scope="module")
def raced(tier_allowed: None) -> Path:
    """Build the programs with the thread sanitizer."""
    return native_build(PROGRAMS, "thread") / "tier"


def fuzzed(programs: Path, path: Path, words: str) -> dict[str, int]:
    """Return the report of a run of limited duration."""
    done = subprocess.run(
        [programs / "assay-tier-fuzz", "--path", path, *words.split()],
        capture_output=True,
        text=True,
        timeout=120,
        env=QUIET,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result: dict[str, int] = json.loads(done.stdout)
    return result


def swapped_out() -> int:
    """Return the number of pages swapped since the machine was started."""
    lines = Path("/proc/vmstat").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("pswpout "))


SHAPES = [
    "--threads 1",
    "--threads 4 --frames 8",
    "--threads 2 --chunk 65536 --chunks 400 --frames 16",
    "--threads 3 --disk threads --frames 9",
    "--threads 2 --chunk 4096 --chunks 1000 --frames 32",
    "--threads 2 --chunk 262144 --part 4096 --chunks 200 --frames 12",
    "--threads 3 --exchange copy --frames 9",
    "--threads 2 --exchange copy --chunk 262144 --part 4096 --chunks 200 --frames 12",
]


@pytest.mark.rotating
@pytest.mark.parametrize("shape", SHAPES)
def test_pager_preserves_words(programs: Path, disk: Path, shape: str) -> None:
    result = fuzzed(programs, disk, f"{shape} --ms 1500")
    assert result["wrong"] == 0
    assert result["written_bytes"] > 0
    assert result["demand_faults"] > 0


@pytest.mark.rotating
@pytest.mark.parametrize("shape", cases([SHAPES[0], SHAPES[5]], slow=[SHAPES[1], SHAPES[6]]))
def test_replay_of_any_trace_preserves_words(
    programs: Path, disk: Path, tmp_path: Path, shape: str
) -> None:
    """The threads repeat the recorded run for a while and then diverge."""
    assert fuzzed(programs, disk, f"{shape} --ms 1500 --trace {tmp_path}")["wrong"] == 0
    for seed in (1, 2):
        result = fuzzed(programs, disk, f"{shape} --ms 1500 --seed {seed} --replay {tmp_path}")
        assert result["wrong"] == 0
        assert result["written_bytes"] > 0


@pytest.fixture
def two_nodes(tmp_path: Path) -> Path:
    """Return the sysfs and procfs files of a machine with two nodes."""
    top = tmp_path / "sys" / "devices" / "system" / "node"
    for node in range(2):
        folder = top / f"node{node}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(f"{node}\n")
        (folder / "distance").write_text("10 20\n" if node == 0 else "20 10\n")
    for name in ("online", "has_memory", "has_cpu"):
        (top / name).write_text("0-1\n")
    return tmp_path


@pytest.mark.rotating
@pytest.mark.parametrize("exchange", ["move", "copy"])
@pytest.mark.parametrize("numa", ["follow", "interleave", "local"])
def test_frames_of_several_nodes_preserve_words(
    programs: Path, disk: Path, two_nodes: Path, numa: str, exchange: str
) -> None:
    """One of the nodes is always exhausted, because this machine does not have it."""
    words = f"--threads 3 --frames 9 --numa {numa} --root {two_nodes} --exchange {exchange}"
    result = fuzzed(programs, disk, f"{words} --ms 1500")
    assert result["wrong"] == 0
    assert result["demand_faults"] > 0


@pytest.fixture
def swap(tmp_path: Path) -> Iterator[None]:
    """Provide half a gigabyte of swap for the whole machine."""
    with swap_file(tmp_path, 512 << 20):
        yield


@pytest.mark.rotating
@pytest.mark.alone
@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[5], SHAPES[6]])
def test_kernel_swapping_preserves_words(
    programs: Path, disk: Path, swap: None, shape: str
) -> None:
    """Linux 6.18 moves pages in swap without always counting them."""
    before = swapped_out()
    result = fuzzed(programs, disk, f"{shape} --ms 2000 --pageout 1")
    assert result["wrong"] == 0
    assert swapped_out() > before


@pytest.mark.rotating
def test_sparse_access_fetches_parts(programs: Path, disk: Path) -> None:
    # With more chunks the metadata of pages would exceed a quarter of the frames.
    result = fuzzed(programs, disk, "--threads 2 --chunk 262144 --part 4096 --chunks 120 --ms 3000")
    assert result["wrong"] == 0
    assert result["read_bytes"] % 262144 != 0
    assert result["read_bytes"] < 100_000 * result["demand_faults"]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_pager_preserves_words_over_long_run(
    programs: Path, disk: Path, shape: str, seed: int
) -> None:
    assert fuzzed(programs, disk, f"{shape} --ms 10000 --seed {seed}")["wrong"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_pager_has_no_data_races(raced: Path, disk: Path, shape: str) -> None:
    assert fuzzed(raced, disk, f"{shape} --ms 5000")["wrong"] == 0


@pytest.mark.rotating
def test_stopped_program_continues(programs: Path, disk: Path) -> None:
    words = [
        "--threads",
        "3",
        "--frames",
        "8",
        "--chunk",
        "65536",
        "--chunks",
        "200",
        "--ms",
        "3000",
    ]
    with subprocess.Popen(
        [programs / "assay-tier-fuzz", "--path", disk, *words],
        stdout=subprocess.PIPE,
        text=True,
        env=QUIET,
        process_group=0,
    ) as running:
        while running.poll() is None:
            running.send_signal(signal.SIGSTOP)
            running.send_signal(signal.SIGCONT)
            try:
                running.wait(0.01)
            except subprocess.TimeoutExpired:
                continue
        assert running.stdout is not None
        assert json.loads(running.stdout.read())["wrong"] == 0


def failing(programs: Path, path: Path, how: str) -> subprocess.CompletedProcess[str]:
    """Run a program whose disk fails in one way."""
    return subprocess.run(
        [programs / "assay-tier-errors", "--path", path, how],
        capture_output=True,
        text=True,
        timeout=120,
        env=QUIET,
    )


def test_unreadable_chunk_raises_sigbus(programs: Path, disk: Path) -> None:
    done = failing(programs, disk, "read")
    assert done.returncode == -signal.SIGBUS
    assert f"could not be read from {disk} (EIO)" in done.stderr


def test_unwritable_chunk_stays_in_memory(programs: Path, disk: Path) -> None:
    done = failing(programs, disk, "write")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"wrong": 0}
    assert f"could not be written to {disk} (EIO)" in done.stderr


@pytest.mark.rotating
def test_unwritable_disk_aborts_program(programs: Path, disk: Path) -> None:
    done = failing(programs, disk, "writes")
    assert done.returncode == -signal.SIGABRT
    assert "no memory can be freed for a page fault" in done.stderr


def test_lost_write_is_detected(programs: Path, disk: Path) -> None:
    """The oracle itself can fail."""
    done = failing(programs, disk, "lost")
    assert done.returncode == 1
    assert json.loads(done.stdout)["wrong"] > 0
