"""Several instances: division of cores, planning and judgement."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInputError
from assay.launch.driver import Driver
from assay.launch.planner import plan
from assay.machine.document import Machine
from assay.records import (
    Affinity,
    Choices,
    Configuration,
    Grant,
    GrantStatus,
    Instances,
    MemPolicy,
    Parameter,
    Plan,
    Prospect,
    ReadBack,
    RunFacts,
    Space,
    Value,
    decode,
    encode,
)
from assay.records.facts import InstanceFacts
from assay.search.space.search_space import SearchSpace
from assay.settings.conditions import with_conditions
from assay.settings.core_division import (
    cores_by_node,
    count_fitting,
    divide_cores,
    groups_by_node,
    max_cores_each,
)
from assay.settings.registry import builtin, judge_all
from assay.study.laboratory import Laboratory
from assay.study.space_choice import grantable_space

from .hosts import facts, machine, program

REGISTRY = builtin()
TWO_NODES = machine(packages=2, cores=8, smt=2)
"""A host with cores 0 to 7 and 8 to 15; CPU n and n + 16 are of one core."""

SHAPES = st.builds(
    machine,
    packages=st.integers(1, 2),
    nodes=st.integers(1, 3),
    caches=st.integers(1, 2),
    cores=st.integers(1, 5),
    smt=st.integers(1, 2),
    efficient=st.sampled_from((0, 0, 3)),
)


@st.composite
def hosts(draw: st.DrawFn) -> Machine:
    """Yield whole machines, and machines with some unusable CPUs."""
    whole = draw(SHAPES)
    ids = [cpu.id for cpu in whole.cpus]
    kept = draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
    allowed = draw(st.sampled_from((tuple(ids), tuple(sorted(kept)))))
    return msgspec.structs.replace(whole, allowed_cpus=allowed)


def planned(host: Machine, given: Mapping[str, Value]) -> Plan:
    return plan(Configuration(dict(given)), host, REGISTRY)


def groups(host: Machine, **given: Value) -> tuple[tuple[int, ...], ...]:
    made = planned(host, {name.replace("__", "."): value for name, value in given.items()})
    assert not made.refused
    return tuple(cpus for _, cpus in made.instances)


def nodes_of(host: Machine, group: tuple[int, ...]) -> set[int]:
    return {cpu.node for cpu in host.cpus if cpu.id in group}


def cores_of(host: Machine, group: tuple[int, ...]) -> set[int]:
    return {cpu.core for cpu in host.cpus if cpu.id in group}


# --- division of cores ---------------------------------------------------------------------------


@given(hosts(), st.data())
def test_instances_have_disjoint_cores(host: Machine, data: st.DataObject) -> None:
    """Groups are disjoint, allowed, whole cores, and cross a node only if necessary."""
    total = sum(cores_by_node(host.usable).values())
    count = data.draw(st.integers(1, total))
    cores = data.draw(st.integers(1, total // count))
    got = divide_cores(host.usable, count, cores)
    assert len(got) == count
    for group in got:
        assert set(group) <= set(host.allowed_cpus)
        assert len(cores_of(host, group)) == cores
        whole = {c.id for c in host.usable if c.core in cores_of(host, group)}
        assert set(group) == whole
    for one, other in combinations(got, 2):
        assert not cores_of(host, one) & cores_of(host, other)
    crossing = sum(len(nodes_of(host, group)) > 1 for group in got)
    assert crossing == max(0, count - count_fitting(host.usable, cores))


@given(hosts(), st.data())
def test_count_alone_never_crosses_nodes(host: Machine, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, sum(cores_by_node(host.usable).values())))
    cores = max_cores_each(host.usable, count)
    assert count_fitting(host.usable, cores) >= count
    assert count_fitting(host.usable, cores + 1) < count
    assert all(len(nodes_of(host, group)) == 1 for group in divide_cores(host.usable, count, cores))


@given(hosts())
def test_one_instance_per_node_has_all_its_cores(host: Machine) -> None:
    got = groups_by_node(host.usable, None)
    assert sorted(cpu for group in got for cpu in group) == list(host.allowed_cpus)
    assert [nodes_of(host, group) for group in got] == [
        {node} for node in cores_by_node(host.usable)
    ]


def test_nodes_are_filled_evenly_and_caches_kept_together() -> None:
    host = machine(packages=2, caches=2, cores=4)
    assert groups(host, instances=2, instances__cores=4) == ((0, 1, 2, 3), (8, 9, 10, 11))
    assert groups(host, instances=4, instances__cores=3) == (
        (0, 1, 2),
        (4, 5, 6),
        (8, 9, 10),
        (12, 13, 14),
    )


# --- planning ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"instances": "throughput"}, [range(8), range(8, 16)]),
        ({"instances": "throughput", "instances.cores": 2}, [(0, 1), (8, 9)]),
        ({"instances": "latency"}, [range(4), range(4, 8), range(8, 12), range(12, 16)]),
        ({"instances": "latency", "instances.cores": 8}, [range(8), range(8, 16)]),
        ({"instances.cores": 6}, [range(6), range(8, 14)]),
        ({"instances": 2}, [range(8), range(8, 16)]),
        ({"instances": 3}, [range(4), range(4, 8), range(8, 12)]),
        ({"instances": 1, "instances.cores": 3}, [range(3)]),
        ({"instances": 2, "cpus": "0-3"}, [(0, 1), (2, 3)]),
        ({"instances": 2, "cpus": "0-3,16-19"}, [(0, 1, 16, 17), (2, 3, 18, 19)]),
        ({"instances": 2, "cpus": 4, "placement": "one-per-core"}, [(0, 1), (2, 3)]),
    ],
)
def test_instances_get_expected_cpus(
    given: dict[str, Value], expected: list[tuple[int, ...] | range]
) -> None:
    if "cpus" not in given:
        given = {**given, "threads.per_core": 1}
    made = planned(TWO_NODES, given)
    assert not made.refused
    assert [list(cpus) for _, cpus in made.instances] == [list(group) for group in expected]
    assert set(made.cpus) == {cpu for group in expected for cpu in group}


def test_siblings_stay_together() -> None:
    assert groups(TWO_NODES, instances="throughput") == (
        (*range(8), *range(16, 24)),
        (*range(8, 16), *range(24, 32)),
    )


def test_instance_larger_than_node_is_degraded() -> None:
    made = planned(TWO_NODES, {"instances": 1, "instances.cores": 12})
    word = made.settings["instances"]
    assert word.status is Prospect.DEGRADED
    assert word.reason == "1 instance has cores of several NUMA nodes: no node has enough cores"


def test_idle_cores_are_reported() -> None:
    word = planned(TWO_NODES, {"instances": 3}).settings["instances"]
    assert word.reason == "on CPUs 0-3,16-19 | 4-7,20-23 | 8-11,24-27; 4 cores are idle"


def test_memory_is_local_with_several_nodes() -> None:
    assert MemPolicy(mode="local") in planned(TWO_NODES, {"instances": 2}).actions
    policies = [a for a in planned(machine(), {"instances": 2}).actions if type(a) is MemPolicy]
    assert not policies
    chosen = planned(TWO_NODES, {"instances": 2, "mem.policy": "interleave:all"})
    assert [a.mode for a in chosen.actions if isinstance(a, MemPolicy)] == ["interleave"]


def test_single_instance_adds_no_actions() -> None:
    made = planned(TWO_NODES, {"instances": 1})
    assert not made.actions
    assert made.settings["instances"].status is Prospect.GRANTABLE


def test_rank_starts_single_instance() -> None:
    made = planned(TWO_NODES, {"instances": "throughput", "instances.rank": 1})
    assert made.instances == ((1, (*range(8, 16), *range(24, 32))),)
    assert made.total_instances == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"instances": 17}, "17 instances do not fit: 16 cores usable"),
        ({"instances": 4, "instances.cores": 5}, "4 instances of 5 cores each"),
        ({"instances": 0}, "instances=0"),
        ({"instances": "many"}, "instances='many'"),
        ({"instances": True}, "instances=True"),
        ({"instances": 2.5}, "instances=2.5"),
        ({"instances.cores": 17}, "instances.cores=17; 16 cores usable"),
        ({"instances": "throughput", "instances.cores": 9}, "a NUMA node has 8 cores"),
        ({"instances": "latency", "cpus": 2}, "each instance would need 4"),
        ({"instances": 2, "instances.rank": 2}, "there are 2 instances"),
        ({"instances": 2, "arg.instance": "x"}, "both replace {instance}"),
        ({"instances": 2, "sched": "deadline"}, "sched=deadline needs all CPUs"),
    ],
)
def test_invalid_values_are_refused(given: dict[str, Value], told: str) -> None:
    refused = planned(TWO_NODES, given).refused
    assert any(told in (word.reason or "") for word in refused.values())


def test_rank_alone_is_refused() -> None:
    made = planned(TWO_NODES, {"instances.rank": 0})
    word = made.settings["instances.rank"]
    assert word.status is Prospect.REFUSED
    assert "Add instances" in (word.reason or "")


def test_rank_varies_among_several_only() -> None:
    space = Space(
        parameters=(
            Parameter(name="instances", domain=Choices((1, 2)), default=1),
            Parameter(name="instances.rank", domain=Choices((0, 1))),
        )
    )
    found, refused = grantable_space(
        with_conditions(space, REGISTRY), lambda config: planned(TWO_NODES, dict(config))
    )
    assert found.parameters[1].domain.values() == (0, 1)
    assert not refused
    bound = SearchSpace(found)
    assert not bound.without_inactive(Configuration({"instances.rank": 0}))
    assert len(bound.without_inactive(Configuration({"instances": 2, "instances.rank": 0}))) == 2


def test_a_space_with_rank_alone_is_refused() -> None:
    space = Space(parameters=(Parameter(name="instances.rank", domain=Choices((0, 1))),))
    with pytest.raises(InvalidInputError, match="selects one of several instances"):
        with_conditions(space, REGISTRY)


def test_setting_is_never_suggested() -> None:
    setting = REGISTRY.get("instances")
    assert isinstance(setting.suggest(program("gomp"), TWO_NODES), str)


# --- judgement -----------------------------------------------------------------------------------


def judged(given: Mapping[str, Value], found: RunFacts) -> dict[str, Grant]:
    config = Configuration(dict(given))
    return judge_all(config, REGISTRY, plan(config, TWO_NODES, REGISTRY), found)


def on(*masks: tuple[int, ...] | None, **others: object) -> RunFacts:
    return facts(instances=tuple(InstanceFacts(cpus=mask, wall_s=1.0) for mask in masks), **others)


PAIR = {"instances": 2, "instances.cores": 2, "threads.per_core": 1}


def test_grant_depends_on_read_back_masks() -> None:
    assert judged(PAIR, on((0, 1), (8, 9)))["instances"] == Grant(
        value=2,
        status=GrantStatus.GRANTED,
        level=REGISTRY.get("instances").evidence,
        observed="2 instances on 0-1 | 8-9",
    )
    wrong = judged(PAIR, on((0, 1), (0, 1)))["instances"]
    assert wrong.status is GrantStatus.REFUSED
    assert wrong.reason == "instance 1 was planned on 8-9"
    assert judged(PAIR, on((0, 1), None))["instances"].status is GrantStatus.UNVERIFIED
    assert judged(PAIR, on())["instances"].status is GrantStatus.UNVERIFIED


def test_cpus_are_those_of_all_instances() -> None:
    given = {"instances": 2, "cpus": "0-3"}
    assert judged(given, on((0, 1), (2, 3)))["cpus"].observed == "ran on 0-3"
    assert judged(given, on((0, 1), (2, 9)))["cpus"].status is GrantStatus.REFUSED


def test_mask_of_instance_is_not_a_bound_thread() -> None:
    given = {**PAIR, "omp.bind": "close"}
    environ = {"OMP_PROC_BIND": "close"}

    def grant(*masks: tuple[int, ...]) -> GrantStatus:
        seen = ReadBack(environ=environ, thread_cpus=masks)
        return judged(given, on((0, 1), (8, 9), seen=seen))["omp.bind"].status

    assert grant((0, 1), (8, 9)) is GrantStatus.UNVERIFIED
    assert grant((0,), (1,), (8,), (9,)) is GrantStatus.GRANTED


def test_wall_time_is_divided_by_instances() -> None:
    assert on((0,), (1,), wall_s=3.0).wall_s_per_instance == 1.5
    assert facts(wall_s=3.0).wall_s_per_instance == 3.0
    assert facts().wall_s_per_instance is None


def test_instances_action_round_trips_json() -> None:
    made = planned(TWO_NODES, PAIR)
    assert decode(encode(made), Plan) == made
    assert Instances(cpus=((0, 1), (8, 9))) in made.actions


# --- in slots ---------------------------------------------------------------------------------


@pytest.fixture
def divided() -> Laboratory:
    host = machine(packages=2, cores=4)
    return Laboratory(host, REGISTRY, Driver(Path("assay-exec"), {})).divided(2)


@pytest.mark.parametrize("slot", [0, 1])
@pytest.mark.parametrize(
    ("settings", "cpus_each"), [({"instances": 2}, 2), ({"instances.cores": 1}, 1)]
)
def test_instances_share_the_cores_of_their_slot(
    divided: Laboratory, settings: dict[str, Value], cpus_each: int, slot: int
) -> None:
    found = divided.plan(Configuration(settings), slot)
    assert not found.refused
    assert found.cpus == divided.slots[slot]
    assert [len(cpus) for _, cpus in found.instances] == [cpus_each] * (4 // cpus_each)
    assert not any(isinstance(action, Affinity) for action in found.actions)


def test_more_instances_than_a_slot_has_cores_are_refused(divided: Laboratory) -> None:
    assert not divided.admits(Configuration({"instances": 5}))
    assert divided.admits(Configuration({"instances": 4}))
