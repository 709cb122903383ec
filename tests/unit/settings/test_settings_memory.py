"""``mem.policy`` on machines with several nodes and kinds of memory."""

from __future__ import annotations

import msgspec
import pytest

from assay.launch.document import launcher_document, readback_sources
from assay.launch.planner import plan
from assay.launch.script import shell_script
from assay.machine.document import Machine, Node
from assay.records import (
    Configuration,
    GrantStatus,
    Launch,
    MemPolicy,
    Prospect,
    ReadBack,
    Stage,
    Value,
    Workload,
)
from assay.records.facts import AppliedStep
from assay.settings.base import Suggestion
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine, program

REGISTRY = builtin()
NAME = "mem.policy"
FLAT = machine(cores=2)
TWO = machine(packages=2, cores=2)
KINDS: tuple[str | None, ...] = ("dram", "dram", "hbm", "cxl")


def with_kinds(kinds: tuple[str | None, ...] = KINDS, **others: object) -> Machine:
    """Return two nodes with CPUs, and others with memory only."""
    host = machine(packages=2, cores=2, **others)
    cpus = [node.cpus for node in host.nodes] + [()] * (len(kinds) - 2)
    nodes = tuple(
        Node(id=n, cpus=cpus[n], memory_bytes=1 << 30, kind=kind) for n, kind in enumerate(kinds)
    )
    return msgspec.structs.replace(host, nodes=nodes)


MIXED = with_kinds()


@pytest.mark.parametrize(
    ("value", "host", "expected"),
    [
        ("local", FLAT, MemPolicy(mode="local")),
        ("bind:0", FLAT, MemPolicy(mode="bind", nodes=(0,))),
        ("bind:0-1", TWO, MemPolicy(mode="bind", nodes=(0, 1))),
        ("interleave:all", MIXED, MemPolicy(mode="interleave", nodes=(0, 1, 2, 3))),
        ("interleave:dram", MIXED, MemPolicy(mode="interleave", nodes=(0, 1))),
        ("preferred:hbm", MIXED, MemPolicy(mode="preferred", nodes=(2,))),
        ("preferred:0,1", MIXED, MemPolicy(mode="preferred", nodes=(0, 1))),
        ("weighted:0,3", MIXED, MemPolicy(mode="weighted", nodes=(0, 3))),
        ("bind:cxl", MIXED, MemPolicy(mode="bind", nodes=(3,))),
    ],
)
def test_planned(value: str, host: Machine, expected: MemPolicy) -> None:
    made = plan(Configuration({NAME: value}), host, REGISTRY)
    assert made.settings[NAME].status is Prospect.GRANTABLE
    assert made.actions == (expected,)


@pytest.mark.parametrize(
    ("value", "host", "told"),
    [
        ("bind:2", TWO, "Nodes with memory: 0-1"),
        ("bind:", TWO, "invalid nodes in mem.policy: ''"),
        ("bind", TWO, "invalid nodes in mem.policy: ''"),
        ("bind:x", TWO, "invalid nodes in mem.policy: 'x'"),
        ("local:0", TWO, "mem.policy='local:0'"),
        ("best:0", TWO, "mem.policy='best:0'"),
        ("bind:hbm", with_kinds(("dram", "dram", "cxl")), "2: cxl"),
        ("bind:hbm", with_kinds(("dram", "dram", None)), "Name nodes by number"),
        ("weighted:0-1", machine(packages=2, kernel_version=(6, 8)), "interleave:0-1"),
        ("preferred:0-1", machine(packages=2, kernel_version=(5, 14)), "Name one node"),
    ],
)
def test_refused(value: str, host: Machine, told: str) -> None:
    word = plan(Configuration({NAME: value}), host, REGISTRY).settings[NAME]
    assert word.status is Prospect.REFUSED
    assert told in (word.reason or "")


def test_node_without_memory_is_refused() -> None:
    nodes = (TWO.nodes[0], msgspec.structs.replace(TWO.nodes[1], memory_bytes=0))
    host = msgspec.structs.replace(TWO, nodes=nodes)
    word = plan(Configuration({NAME: "bind:1"}), host, REGISTRY).settings[NAME]
    assert "has no memory" in (word.reason or "")


def suggested(host: Machine) -> tuple[Value, ...]:
    answer = REGISTRY.get(NAME).suggest(program(), host)
    assert isinstance(answer, Suggestion), answer
    return answer.domain.values() or ()


def test_policies_are_suggested_with_several_nodes() -> None:
    assert REGISTRY.get(NAME).suggest(program(), FLAT) == "all memory is on one node"
    assert suggested(TWO) == ("interleave:all",)
    assert suggested(MIXED) == ("interleave:all", "weighted:all", "preferred:hbm")
    assert suggested(with_kinds(kernel_version=(6, 8))) == ("interleave:all", "preferred:hbm")


@pytest.mark.parametrize(
    ("value", "told", "grant"),
    [
        ("local", "local", GrantStatus.GRANTED),
        ("local", "default", GrantStatus.REFUSED),
        ("bind:0-1", "bind:0-1", GrantStatus.GRANTED),
        ("bind:0-1", "bind=static:0-1", GrantStatus.GRANTED),
        # A cpuset silently removes nodes.
        ("bind:0-1", "bind:0", GrantStatus.REFUSED),
        ("bind:1", "interleave:1", GrantStatus.REFUSED),
        ("preferred:1", "prefer:1", GrantStatus.GRANTED),
        ("preferred:0-1", "prefer (many):0-1", GrantStatus.GRANTED),
        ("weighted:0-1", "weighted interleave:0-1", GrantStatus.GRANTED),
        ("interleave:0-1", "interleave:?", GrantStatus.REFUSED),
        ("interleave:0-1", None, GrantStatus.UNVERIFIED),
    ],
)
def test_judged(value: str, told: str | None, grant: GrantStatus) -> None:
    config = Configuration({NAME: value})
    made = plan(config, MIXED, REGISTRY)
    seen = ReadBack(mempolicy=told, numa_pages={"0": 7} if told else None)
    got = judge_all(config, REGISTRY, made, facts(seen))[NAME]
    assert got.status is grant
    assert (got.reason is None) == (grant is GrantStatus.GRANTED)
    assert told is None or got.observed == f"{told}; pages: node 0: 7"


def test_rejected_policy_is_refused() -> None:
    config = Configuration({NAME: "bind:1"})
    run = facts(ReadBack(), applied=(AppliedStep(step="mempolicy", ok=False, errno=22),))
    got = judge_all(config, REGISTRY, plan(config, MIXED, REGISTRY), run)[NAME]
    assert got.status is GrantStatus.REFUSED


def test_policy_is_in_document_readback_and_script() -> None:
    config = Configuration({NAME: "weighted:0-1"})
    made = plan(config, MIXED, REGISTRY)
    launch = Launch(configuration=config, arm="x", stage=Stage.SEARCH, block=0, position=0)
    document = launcher_document(made, Workload(argv=("prog",)), launch, env={})
    assert document["mempolicy"] == {"mode": "weighted", "nodes": [0, 1]}
    assert "numa_maps" in document["readback"]
    assert "numa_maps" not in readback_sources(["cpus"])
    assert "numactl --weighted-interleave=0-1" in shell_script(made, Workload(argv=("prog",)))
