"""Division of CPUs into slots: disjoint, equal, whole cores, on recorded and synthetic machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import NotPossibleError
from assay.machine.document import Cpu
from assay.machine.root import Root
from assay.machine.slots import Slot, slots, unassigned_cpus
from assay.machine.topology import read_topology

RECORDED = (
    "16amd64-4n4c-cgroup-distance-merge",
    "16em64t-4s2c2t-offlines",
    "20em64t-hybrid-1p6c2t+2ca4co1t",
    "2arm-2c",
    "2ps3-2t",
    "32amd64-4s2n4c-cgroup2",
    "48amd64-4pa2n6c-sparse",
    "8em64t-2s2ca2c-buggynuma",
    "8ia64-2s2c2t",
    "fakecpuid1f-64intel64-2p4d2n2c2t",
    "memorysidecaches",
    "nvidia-dgx-gb10",
    "offline-cpu0-node0",
)


def check(cpus: tuple[Cpu, ...], found: tuple[Slot, ...], count: int) -> None:
    by_id = {cpu.id: cpu for cpu in cpus}
    used = [cpu for slot in found for cpu in slot]
    assert len(found) == count
    assert all(found)
    assert len(used) == len(set(used)), "disjoint"
    assert set(used) <= set(by_id)
    for slot in found:
        for cpu in slot:
            core = {other.id for other in cpus if other.core == by_id[cpu].core}
            assert core <= set(slot), "whole cores"
    assert len({shape([by_id[cpu] for cpu in slot]) for slot in found}) == 1, "equal"
    assert set(unassigned_cpus(cpus, found)) == set(by_id) - set(used)


def shape(slot: list[Cpu]) -> tuple[object, ...]:
    """Return cores by kind and threads, and their distribution over places."""
    threads = Counter(cpu.core for cpu in slot)
    kinds = Counter((cpu.kind, threads[cpu.core]) for cpu in slot)
    places = [
        tuple(sorted(Counter(getattr(cpu, level) for cpu in slot).values()))
        for level in ("package", "node", "l3")
    ]
    return tuple(sorted(kinds.items(), key=str)), tuple(places)


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
def test_recorded_machines(recorded: Callable[[str], Root], name: str, count: int) -> None:
    cpus = read_topology(recorded(name)).cpus
    cores = len({cpu.core for cpu in cpus})
    try:
        found = slots(cpus, count)
    except NotPossibleError:
        kinds = Counter(
            {core: (cpu.kind, len(cpu.siblings)) for cpu in cpus for core in [cpu.core]}.values()
        )
        assert cores < count or max(kinds.values()) < count
    else:
        check(cpus, found, count)


def test_packages_nodes_and_caches_are_not_divided(
    recorded: Callable[[str], Root],
) -> None:
    cpus = read_topology(recorded("32amd64-4s2n4c-cgroup2")).cpus
    for count, level, each in ((2, "package", 2), (4, "package", 1), (8, "l3", 1)):
        by_id = {cpu.id: cpu for cpu in cpus}
        for slot in slots(cpus, count):
            assert len({getattr(by_id[cpu], level) for cpu in slot}) == each
        assert not unassigned_cpus(cpus, slots(cpus, count))


def test_hybrid_slots_have_cores_of_both_kinds(
    recorded: Callable[[str], Root],
) -> None:
    cpus = read_topology(recorded("20em64t-hybrid-1p6c2t+2ca4co1t")).cpus
    by_id = {cpu.id: cpu for cpu in cpus}
    for slot in slots(cpus, 2):
        assert Counter(len(by_id[cpu].siblings) for cpu in slot) == {2: 6, 1: 4}


def test_siblings_stay_in_one_slot() -> None:
    one_core = tuple(Cpu(id=i, core=0, siblings=(0, 1)) for i in range(2))
    with pytest.raises(NotPossibleError, match="cannot be divided into 2 equal slots"):
        slots(one_core, 2)


def test_too_few_cores_report_available_ones() -> None:
    two = tuple(Cpu(id=i, core=i, siblings=(i,)) for i in range(2))
    assert slots(two, 2) == ((0,), (1,))
    with pytest.raises(NotPossibleError, match=r"The 2 CPUs that assay may use \(0-1\)") as caught:
        slots(two, 3)
    assert "--parallel" in str(caught.value.remedy)


@st.composite
def machines(draw: st.DrawFn) -> tuple[Cpu, ...]:
    """Packages of caches of cores with one or two threads, without some CPUs."""
    cpus: list[Cpu] = []
    for package in range(draw(st.integers(1, 3))):
        for _ in range(draw(st.integers(1, 3))):
            l3 = len(cpus)
            for _ in range(draw(st.integers(1, 5))):
                core, threads = len(cpus), draw(st.integers(1, 2))
                names = tuple(range(core, core + threads))
                kind = draw(st.sampled_from([None, "performance", "efficiency"]))
                cpus += [
                    Cpu(id=i, core=core, siblings=names, package=package, l3=l3, kind=kind)
                    for i in names
                ]
    kept = [cpu for cpu in cpus if draw(st.integers(0, 9)) > 0]
    return tuple(kept or cpus)


@given(machines(), st.integers(2, 6))
def test_slots_are_disjoint_and_equal_or_impossible(cpus: tuple[Cpu, ...], count: int) -> None:
    try:
        found = slots(cpus, count)
    except NotPossibleError:
        threads = Counter(cpu.core for cpu in cpus)
        kinds = Counter(
            {cpu.core: (cpu.package, cpu.l3, cpu.kind, threads[cpu.core]) for cpu in cpus}.values()
        )
        assert max(kinds.values()) < count
    else:
        check(cpus, found, count)
        assert found == slots(cpus, count)
