"""Cores of recorded machines, divided between instances."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.launch.planner import plan
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.records import Configuration, Value
from assay.settings.registry import builtin

REGISTRY = builtin()
# name: (settings, instances, CPUs of each, number of instances across nodes)
SHARED: list[tuple[str, dict[str, Value], int, int, int]] = [
    ("memorysidecaches", {"instances": "throughput"}, 4, 20, 0),
    ("memorysidecaches", {"instances": "latency"}, 8, 8, 0),
    ("memorysidecaches", {"instances": "latency", "threads.per_core": 1}, 8, 4, 0),
    ("memorysidecaches", {"instances": 3}, 3, 20, 0),
    ("memorysidecaches", {"instances": 6, "instances.cores": 6}, 6, 12, 2),
    ("32amd64-4s2n4c-cgroup2", {"instances": 2}, 2, 2, 0),
    ("32amd64-4s2n4c-cgroup2", {"instances": 2, "instances.cores": 3}, 2, 3, 1),
    ("16amd64-8n2c-cpusets", {"instances": 5}, 5, 1, 0),
    ("16amd64-8n2c-cpusets", {"instances": 4}, 4, 2, 0),
    ("48amd64-4pa2n6c-sparse", {"instances": "throughput"}, 8, 6, 0),
    ("48amd64-4pa2n6c-sparse", {"instances": "latency"}, 8, 4, 0),
    ("48amd64-4pa2n6c-sparse", {"instances": 16}, 16, 3, 0),
    ("fakecpuid1f-64intel64-2p4d2n2c2t", {"instances": "throughput"}, 16, 4, 0),
    ("fakecpuid1f-64intel64-2p4d2n2c2t", {"instances.cores": 1}, 32, 2, 0),
    (
        "fakecpuid1f-64intel64-2p4d2n2c2t",
        {"instances": "throughput", "threads.per_core": 1},
        16,
        2,
        0,
    ),
    ("20em64t-hybrid-1p6c2t+2ca4co1t", {"instances": 6, "instances.cores": 1}, 6, 2, 0),
    ("nvidia-dgx-gb10", {"instances": "latency"}, 5, 4, 0),
]


@pytest.mark.parametrize(("name", "given", "count", "cpus", "crossing"), SHARED)
def test_instances_get_expected_cores(
    recorded: Callable[[str], Root],
    name: str,
    given: dict[str, Value],
    count: int,
    cpus: int,
    crossing: int,
) -> None:
    host = read_machine(recorded(name))
    made = plan(Configuration(given), host, REGISTRY)
    assert not made.refused, made.refused
    groups = [group for _, group in made.instances]
    assert [len(group) for group in groups] == [cpus] * count
    assert len({cpu for group in groups for cpu in group}) == count * cpus
    by_id = {cpu.id: cpu for cpu in host.usable}
    nodes = [{by_id[number].node for number in group} for group in groups]
    assert sum(len(found) > 1 for found in nodes) == crossing
    cores = [{by_id[number].core for number in group} for group in groups]
    assert sum(map(len, cores)) == len(set().union(*cores))
