"""assay-exec on a machine with several NUMA nodes, one of them without processors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .batch import Batch, run_batch
from .guest import Guest, Node

pytestmark = pytest.mark.vm

MIB = 8
PAGES = MIB * 256  # of 4 KiB
OBSERVED: dict[str, Any] = {
    # Long, for emulated readings are slow and take a twentieth of the time at most.
    "argv": ["memory", "anon", str(MIB), "1.6"],
    "observe": ["status", "numa_maps"],
}
PLANS: dict[str, dict[str, Any]] = {
    "bind": {**OBSERVED, "mempolicy": {"mode": "bind", "nodes": [1]}},
    "memory-only": {**OBSERVED, "mempolicy": {"mode": "preferred", "nodes": [2]}},
    "interleave": {**OBSERVED, "mempolicy": {"mode": "interleave", "nodes": [0, 1]}},
    "local": {**OBSERVED, "mempolicy": {"mode": "local"}, "affinity": [2, 3]},
    "no-such-node": {**OBSERVED, "mempolicy": {"mode": "bind", "nodes": [5]}},
    "no-such-cpu": {**OBSERVED, "affinity": [7]},
}


@pytest.fixture(scope="module")
def batch(guest_kernel: Path, guest_programs: dict[str, Path | bytes], assay_exec: Path) -> Batch:
    guest = Guest(
        kernel=guest_kernel,
        cpus="4,sockets=2,cores=2,threads=1",
        nodes=[Node(256, "0-1"), Node(256, "2-3"), Node(128)],
        distances={(0, 1): 21, (0, 2): 17, (1, 2): 28},
    )
    return run_batch(guest, {**guest_programs, "/bin/assay-exec": assay_exec}, PLANS, {})


@pytest.mark.parametrize(
    ("name", "nodes"),
    [("bind", "1"), ("memory-only", "2"), ("interleave", "01"), ("local", "1")],
)
def test_memory_lies_where_the_plan_wants_it(batch: Batch, name: str, nodes: str) -> None:
    record = batch.record(name)
    assert record["outcome"] == "exited"
    pages = {node: record["seen"]["numa_pages"].get(node, 0) for node in "012"}
    for node in nodes:
        # Half of its share, for huge pages are interleaved too, and these are few.
        assert pages[node] >= PAGES / len(nodes) / 2
    # The program's own pages of code and data may lie anywhere.
    assert sum(pages[node] for node in nodes) >= PAGES
    assert sum(pages.values()) < PAGES + 400


def test_affinity_is_read_back(batch: Batch) -> None:
    assert batch.record("local")["seen"]["cpus"] == [2, 3]
    assert batch.record("bind")["seen"]["cpus"] == [0, 1, 2, 3]


@pytest.mark.parametrize(("name", "culprit"), [("no-such-node", "5"), ("no-such-cpu", "7")])
def test_what_the_machine_does_not_have_fails_aloud(batch: Batch, name: str, culprit: str) -> None:
    record = batch.record(name)
    assert record["outcome"] in ("bad_plan", "setup_failed")
    assert culprit in record["message"]
