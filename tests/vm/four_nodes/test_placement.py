"""Placement of memory as planned, read from the kernel in three ways.

`place` asks move_pages(2) and reads its own numa_maps; assay-exec reads numa_maps from outside.
"""

from __future__ import annotations

import json
import re

import pytest

from assay.machine.document import Machine
from assay.records import GrantStatus, MemPolicy, Prospect
from vm.alive import Alive
from vm.trial import Trial, attempt, launch, plan_on

from .machine import MEMORY_ONLY, NODES, WITH_CPUS

pytestmark = pytest.mark.vm

MIB = 4
PAGES = MIB * 256  # of 4 KiB
SLACK = 8
"""Pages beside it that take a turn in interleaving."""
SEEN_S = 1.6
"""Long, for emulated readings are slow and take a twentieth of the time at most."""
ONE_CPU_EACH = "0,2,4,6"


def run(
    guest: Alive, known: Machine, policy: str, how: str = "main", held_s: float = 0, **more: str
) -> Trial:
    values = {"mem.policy": policy, **more}
    return attempt(guest, known, values, ["place", how, str(MIB), str(held_s)])


def where(trial: Trial) -> dict[int, int]:
    """Return the pages of each node, as the program reads them in both ways."""
    result = json.loads(trial.stdout)
    assert result["move_pages"] == result["numa_maps"], "two words of one kernel"
    pages = {int(node): count for node, count in result["move_pages"].items()}
    assert sum(pages.values()) == PAGES and min(pages) >= 0
    return pages


@pytest.mark.parametrize(
    ("policy", "nodes"),
    [
        ("bind:1", (1,)),
        ("bind:cxl", (MEMORY_ONLY,)),
        ("preferred:2", (2,)),
        (f"preferred:{MEMORY_ONLY}", (MEMORY_ONLY,)),
        ("interleave:0,3", (0, 3)),
        ("interleave:all", tuple(range(len(NODES)))),
        ("interleave:dram", WITH_CPUS),
    ],
)
def test_policy_places_memory(
    guest: Alive, known: Machine, policy: str, nodes: tuple[int, ...]
) -> None:
    pages = where(run(guest, known, policy))
    assert set(pages) == set(nodes)
    assert all(abs(count - PAGES / len(nodes)) <= SLACK for count in pages.values())


@pytest.mark.parametrize("policy", ["bind:1", "interleave:all", "preferred:1-2"])
def test_placement_is_granted_by_external_reading(
    guest: Alive, known: Machine, policy: str
) -> None:
    planned = plan_on(known, {"mem.policy": policy})
    assert planned.settings["mem.policy"].status is Prospect.GRANTABLE
    trial = run(guest, known, policy, held_s=SEEN_S)
    grant = trial.grants["mem.policy"]
    assert grant.status is GrantStatus.GRANTED, grant
    (action,) = trial.plan.actions
    assert isinstance(action, MemPolicy)
    inside = where(trial)
    assert set(inside) <= set(action.nodes)
    assert trial.facts.readback is not None and trial.facts.readback.numa_pages is not None
    assert set(trial.facts.readback.numa_pages) >= {str(node) for node in inside}


@pytest.mark.parametrize("node", WITH_CPUS)
def test_local_memory_follows_first_touch(guest: Alive, known: Machine, node: int) -> None:
    cpu = NODES[node].cpus.partition("-")[0]
    trial = run(guest, known, "local", cpus=cpu)
    assert where(trial) == {node: PAGES}


def test_first_touch_by_one_thread_fills_one_node(guest: Alive, known: Machine) -> None:
    pages = where(run(guest, known, "local", "main", cpus=ONE_CPU_EACH))
    # The scheduler may move the one thread in the middle of it.
    assert max(pages.values()) > PAGES / 2


def test_parallel_initialisation_spreads_memory(guest: Alive, known: Machine) -> None:
    pages = where(run(guest, known, "local", "each", cpus=ONE_CPU_EACH))
    assert pages == dict.fromkeys(WITH_CPUS, PAGES // len(WITH_CPUS))


def test_full_preferred_node_falls_back(guest: Alive, known: Machine) -> None:
    """A binding that cannot be kept ends the program; a preference does not."""
    size = NODES[MEMORY_ONLY].memory_mib + 16
    policy = {"mem.policy": f"preferred:{MEMORY_ONLY}"}
    trial = attempt(guest, known, policy, ["place", "main", str(size), "0"])
    pages = json.loads(trial.stdout)["move_pages"]
    assert len(pages) > 1 and pages[str(MEMORY_ONLY)] > 32 * 256
    assert sum(pages.values()) == size * 256
    policy = {"mem.policy": f"bind:{MEMORY_ONLY}"}
    trial = attempt(guest, known, policy, ["place", "main", str(size), "0"])
    assert trial.facts.outcome == "signaled" and trial.facts.signal == 9
    assert trial.facts.oom_kills is None or trial.facts.oom_kills >= 0


def test_missing_nodes_are_refused(known: Machine) -> None:
    refused = plan_on(known, {"mem.policy": "bind:7"}).refused["mem.policy"]
    assert "node 7 does not exist" in (refused.reason or "")
    refused = plan_on(known, {"mem.policy": "bind:hbm"}).refused["mem.policy"]
    assert "4: cxl" in (refused.reason or "")


@pytest.mark.parametrize(
    ("step", "culprit"),
    [({"mempolicy": {"mode": "bind", "nodes": [7]}}, "7"), ({"affinity": [9]}, "9")],
)
def test_launcher_reports_missing_node(guest: Alive, step: dict[str, object], culprit: str) -> None:
    """The launcher reports it without the planner."""
    record = json.loads(launch(guest, {"argv": ["true"], **step}))
    assert record["outcome"] in ("bad_plan", "setup_failed")
    assert culprit in record["message"]


PRODUCT = (
    "assay-kernel-dgemm --variant packed-avx2 --m 64 --n 200 --k 400 --seconds {} --tile-node {}"
)


def test_only_product_tiles_lie_in_other_memory_kind(guest: Alive) -> None:
    """As on a machine with fast memory in a separate node."""
    # An emulated CPU fills the tiles slowly: the map is read when ten pages are there, not one.
    filled = f"bind:{MEMORY_ONLY}.*N{MEMORY_ONLY}=[1-9][0-9]"
    script = (
        f"{PRODUCT.format(600, MEMORY_ONLY)} > /dev/null & "
        f"for i in $(seq 300); do grep -q '{filled}' /proc/$!/numa_maps"
        " && break; usleep 100000; done; cat /proc/$!/numa_maps; kill -KILL $!"
    )
    maps = guest.output(script).splitlines()
    (bound,) = (line for line in maps if f"bind:{MEMORY_ONLY}" in line)
    pages = {int(n): int(count) for n, count in re.findall(r" N(\d+)=(\d+)", bound)}
    assert set(pages) == {MEMORY_ONLY} and pages[MEMORY_ONLY] >= 10
    # Pages of files lie where an earlier reader of the guest put them into the page cache.
    own = [line for line in maps if line is not bound and " file=" not in line]
    elsewhere = [line for line in own if f" N{MEMORY_ONLY}=" in line]
    assert elsewhere == [], "the matrices stay where they are"


@pytest.mark.parametrize(
    ("node", "words"), [(7, "no NUMA node 7 with memory"), (1024, "from -1 to 1023")]
)
def test_tiles_on_missing_node_are_refused(guest: Alive, node: int, words: str) -> None:
    status, result = guest.run(PRODUCT.format(0, node))
    assert status == 2 and words in result


def test_pool_of_1_gib_pages_from_boot_is_read(guest: Alive) -> None:
    """One page is available, but no second one."""
    assert guest.run("place none 1024 0 huge")[0] == 0
    assert guest.run("place none 2048 0 huge")[0] == 3
