"""NUMA nodes of the pager's frames, as reported for each page."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from .guest import Disk, Guest, Node, Result, with_libraries

pytestmark = [pytest.mark.vm, pytest.mark.slow]

PROGRAM = Path(__file__).parent / "programs" / "spread.cpp"
# The last node has no CPUs.
NODES = (Node(384, "0"), Node(320, "1"), Node(96))
DRAM_MIB, PART_MIB = 64, 80
TIER = (
    "export LD_PRELOAD=/lib/libassay-tier.so ASSAY_TIER_PATH=/mnt/0"
    f" ASSAY_TIER_DRAM={DRAM_MIB << 20} ASSAY_TIER_THRESHOLD=1048576;"
)
ENTER = "mkdir {0}; echo {1} >{0}/cpuset.mems; echo $$ >{0}/cgroup.procs;"
SPREAD = f"exec spread {PART_MIB} 3"
COMMANDS = {
    # NUMA balancing would migrate the pages.
    "still": "echo 0 >/proc/sys/kernel/numa_balancing",
    "usual": f"{TIER} {SPREAD} each",
    "follow": f"{TIER} ASSAY_TIER_NUMA=follow {SPREAD} turns",
    "local": f"{TIER} ASSAY_TIER_NUMA=local {SPREAD} each",
    "interleave": f"{TIER} ASSAY_TIER_NUMA=interleave {SPREAD} each",
    "cpuset": ENTER.format("/sys/fs/cgroup/one", 1) + f"{TIER} {SPREAD} each",
    "policy": f"{TIER} ASSAY_TIER_NUMA=follow exec spread bind:1 {PART_MIB} 3 each",
    "wrong": f"{TIER} ASSAY_TIER_NUMA=near {SPREAD} each",
}


@dataclass(frozen=True)
class Spread:
    """Locations of pages: of each thread's memory at its end, and of all memory at last."""

    parts: list[dict[int, int]]
    all_mib: dict[int, int]

    @property
    def nodes(self) -> set[int]:
        return {node for part in self.parts for node in part}


@pytest.fixture(scope="module", params=["6.1", "newer"])
def guest(
    request: pytest.FixtureRequest, assay_exec: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Result]:
    """Return the results of the commands, with page copies and with page moves."""
    kernel = request.getfixturevalue("newer_kernel" if request.param == "newer" else "guest_kernel")
    library = assay_exec.parent / "libassay-tier.so"
    if not library.exists():
        pytest.skip("the pager is not built here: liburing or xxHash is missing")
    program = tmp_path_factory.mktemp("spread") / "spread"
    flags = ["-std=c++20", "-O1", "-pthread", "-o", program]
    subprocess.run(["g++", *flags, PROGRAM], check=True)
    files = with_libraries({"/bin/spread": program, "/lib/libassay-tier.so": library})
    described = Guest(
        kernel=kernel, cpus="2,sockets=2,cores=1,threads=1", nodes=NODES, disks=[Disk(512)]
    )
    commands = [["sh", "-c", text] for text in COMMANDS.values()]
    results = described.run(files, commands, timeout_s=550, command_timeout_s=120)
    return dict(zip(COMMANDS, results, strict=True))


def spread(result: Result) -> Spread:
    """All pages had their content, and both threads had resident ones."""
    assert result.status == 0, str(result)
    shown_result = json.loads(result.stdout)
    assert shown_result["wrong"] == 0
    parts = [{int(node): pages for node, pages in part.items()} for part in shown_result["parts"]]
    assert len(parts) == 2 and all(parts), parts
    # At most the DRAM, and a good part of it.
    assert all(8 <= sum(part.values()) / 256 <= DRAM_MIB for part in parts), parts
    return Spread(parts, {int(node): mib for node, mib in shown_result["all_mib"].items()})


@pytest.mark.parametrize("how", ["usual", "follow"])
def test_memory_follows_threads(guest: dict[str, Result], how: str) -> None:
    """Also if one thread occupied all frames on its node before the other one started."""
    found = spread(guest[how])
    assert [set(part) for part in found.parts] == [{0}, {1}]


def test_local_policy_uses_one_node(guest: dict[str, Result]) -> None:
    found = spread(guest["local"])
    assert len(found.nodes) == 1


def test_interleave_policy_uses_all_nodes_evenly(guest: dict[str, Result]) -> None:
    found = spread(guest["interleave"])
    assert found.nodes == {0, 1}
    assert all(set(part) == {0, 1} for part in found.parts)
    # The resident memory of a thread is a sample; all frames are even within a chunk or two.
    # Libraries and metadata of chunks add to it.
    other_mib = 16
    assert abs(found.all_mib[0] - found.all_mib[1]) <= other_mib, found
    assert min(found.all_mib[0], found.all_mib[1]) >= DRAM_MIB // 2 - 8, found


def test_cpuset_limits_memory_nodes(guest: dict[str, Result]) -> None:
    assert spread(guest["cpuset"]).nodes == {1}


def test_inherited_memory_policy_takes_precedence(guest: dict[str, Result]) -> None:
    assert spread(guest["policy"]).nodes == {1}
    reported = guest["policy"].stderr.decode()
    assert "the NUMA policy is not applied: the program was started with a memory" in reported
    assert b"the NUMA policy is not applied" not in guest["follow"].stderr


def test_invalid_policy_is_refused_with_valid_ones(guest: dict[str, Result]) -> None:
    assert guest["wrong"].status == 125
    assert b"use follow, local or interleave" in guest["wrong"].stderr
