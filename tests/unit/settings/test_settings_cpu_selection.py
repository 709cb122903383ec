"""Selection of CPUs on synthetic machines of many shapes."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine.document import Machine
from assay.settings import cpu_selection

from .hosts import machine

SHAPES = st.builds(
    machine,
    packages=st.integers(1, 2),
    nodes=st.integers(1, 2),
    caches=st.integers(1, 3),
    cores=st.integers(1, 4),
    smt=st.integers(1, 2),
    efficient=st.sampled_from((0, 0, 3)),
)


@st.composite
def hosts(draw: st.DrawFn) -> Machine:
    whole = draw(SHAPES)
    ids = [cpu.id for cpu in whole.cpus]
    kept = draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
    return draw(st.sampled_from((whole, machine_with(whole, tuple(sorted(kept))))))


def machine_with(whole: Machine, allowed: tuple[int, ...]) -> Machine:
    return msgspec.structs.replace(whole, allowed_cpus=allowed)


def shared(host: Machine, ids: tuple[int, ...], level: str) -> int:
    return len({getattr(cpu, level) for cpu in host.cpus if cpu.id in ids})


@given(hosts(), st.data())
def test_layouts_select_requested_number_of_allowed_cpus(
    host: Machine, data: st.DataObject
) -> None:
    usable = host.usable
    count = data.draw(st.integers(1, len(usable)))
    for layout in (cpu_selection.compact, cpu_selection.scatter):
        got = layout(usable, count)
        assert len(got) == len(set(got)) == count
        assert set(got) <= set(host.allowed_cpus)
        assert list(got) == sorted(got)


@given(hosts(), st.data())
def test_one_per_core_selects_different_cores(host: Machine, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(host.cores)))
    got = cpu_selection.one_per_core(host.usable, count)
    assert len(got) == count == shared(host, got, "core")
    assert set(got) <= set(host.allowed_cpus)
    assert shared(host, cpu_selection.one_per_core(host.usable), "core") == len(host.cores)


@given(hosts(), st.data())
def test_scatter_uses_as_many_cores_and_packages_as_possible(
    host: Machine, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, len(host.usable)))
    got = cpu_selection.scatter(host.usable, count)
    assert shared(host, got, "core") == min(count, len(host.cores))
    packages = len({cpu.package for cpu in host.usable})
    assert shared(host, got, "package") == min(count, packages)


@given(hosts(), st.data())
def test_compact_stays_within_one_group_if_possible(host: Machine, data: st.DataObject) -> None:
    usable = host.usable
    count = data.draw(st.integers(1, len(usable)))
    got = cpu_selection.compact(usable, count)
    for level in ("package", "node", "l3", "core"):
        fits = any(len(group) >= count for group in cpu_selection.groups(usable, level))
        assert not fits or shared(host, got, level) == 1


@given(hosts())
def test_layouts_of_all_cpus_are_equal(host: Machine) -> None:
    everything = tuple(sorted(host.allowed_cpus))
    assert cpu_selection.compact(host.usable, len(everything)) == everything
    assert cpu_selection.scatter(host.usable, len(everything)) == everything


@pytest.mark.parametrize(
    ("layout", "count", "expected"),
    [
        # Two packages of two caches of two cores with two threads: 0-7 first, 8-15 second threads.
        (cpu_selection.compact, 2, (0, 8)),
        (cpu_selection.compact, 4, (0, 1, 8, 9)),
        (cpu_selection.compact, 8, (0, 1, 2, 3, 8, 9, 10, 11)),
        (cpu_selection.scatter, 2, (0, 4)),
        (cpu_selection.scatter, 4, (0, 2, 4, 6)),
        (cpu_selection.scatter, 8, (0, 1, 2, 3, 4, 5, 6, 7)),
        (cpu_selection.one_per_core, 2, (0, 1)),
        (cpu_selection.one_per_core, 4, (0, 1, 2, 3)),
    ],
)
def test_layouts_select_expected_cpus(
    layout: object, count: int, expected: tuple[int, ...]
) -> None:
    host = machine(packages=2, caches=2, cores=2, smt=2)
    assert layout(host.usable, count) == expected  # type: ignore[operator]


def test_compact_prefers_sufficient_cache_to_first() -> None:
    host = machine(caches=2, cores=4, allowed=(2, 3, 4, 5, 6, 7))
    assert cpu_selection.compact(host.usable, 4) == (4, 5, 6, 7)


def test_performance_cores_come_first() -> None:
    host = machine(cores=2, smt=2, efficient=4)
    assert cpu_selection.compact(host.usable, 4) == (0, 1, 2, 3)
    assert cpu_selection.one_per_core(host.usable, 3) == (0, 1, 4)
    assert cpu_selection.scatter(host.usable, 2) == (0, 1)


def test_layouts_of_large_machine_select_distinct_cpus() -> None:
    host = machine(packages=2, nodes=4, caches=4, cores=8, smt=2)
    for place in (cpu_selection.compact, cpu_selection.scatter):
        chosen = place(host.usable, 511)
        assert len(set(chosen)) == 511
        assert set(chosen) < {cpu.id for cpu in host.usable}
