"""Selection of the OpenMP runtime of a program."""

from __future__ import annotations

import pytest

from assay.launch.planner import plan
from assay.launch.preload import preload_objects
from assay.machine.document import Machine, Program
from assay.records import Configuration, GrantStatus, Plan, ReadBack
from assay.settings.base import Suggestion
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine, program

REGISTRY = builtin()
LIB = "/usr/lib/x86_64-linux-gnu"
FILES = {
    "gnu": f"{LIB}/libgomp.so.1.0.0",
    "llvm": "/usr/lib/llvm-14/lib/libomp.so.5",
    "intel": "/venv/lib/libiomp5.so",
}
ALL = machine(libraries={"gomp": FILES["gnu"], "llvm-omp": FILES["llvm"], "iomp": FILES["intel"]})
BARE = machine(libraries={})


def planned(value: str, host: Machine = ALL, program: Program | None = None) -> Plan:
    return plan(Configuration({"omp.runtime": value}), host, REGISTRY, program)


@pytest.mark.parametrize("value", FILES)
def test_runtime_is_preloaded_and_others_removed(value: str) -> None:
    made = planned(value)
    assert not made.refused
    inherited = f"/x/libgomp.so.1:/x/libiomp5.so:{LIB}/libjemalloc.so.2"
    assert preload_objects(made, inherited) == (FILES[value], f"{LIB}/libjemalloc.so.2")


@pytest.mark.parametrize(
    ("value", "package"), [("gnu", "libgomp1"), ("llvm", "libomp5"), ("intel", "intel-openmp")]
)
def test_missing_runtime_names_its_package(value: str, package: str) -> None:
    reason = planned(value, BARE).refused["omp.runtime"].reason
    assert reason is not None
    assert reason.startswith(f"the {value} OpenMP runtime is not installed")
    assert package in reason


def test_link_to_other_vendor_does_not_count() -> None:
    """The libiomp5.so of Debian's libomp-dev is that of LLVM."""
    host = machine(libraries={"iomp": FILES["llvm"]})
    assert planned("intel", host).refused


def test_gnu_runtime_is_not_preloaded_into_llvm_code() -> None:
    assert planned("gnu", program=program("llvm-omp")).refused
    assert planned("gnu", program=program("gomp", "iomp")).refused
    assert not planned("gnu", program=program("gomp")).refused
    assert not planned("intel", program=program("llvm-omp")).refused
    assert planned("llvm", program=program("gomp", static=True)).refused


def test_runtime_and_allocator_are_both_preloaded() -> None:
    host = machine(libraries={"llvm-omp": FILES["llvm"], "jemalloc": f"{LIB}/libjemalloc.so.2"})
    both = Configuration({"omp.runtime": "llvm", "malloc": "jemalloc"})
    made = plan(both, host, REGISTRY)
    assert set(preload_objects(made, "")) == {FILES["llvm"], f"{LIB}/libjemalloc.so.2"}


@pytest.mark.parametrize("value", ["clang", "GNU", 1, True])
def test_unknown_runtime_is_refused(value: str | int) -> None:
    made = plan(Configuration({"omp.runtime": value}), ALL, REGISTRY)
    assert "invalid value: omp.runtime" in (made.refused["omp.runtime"].reason or "")


@pytest.mark.parametrize(
    ("value", "maps", "expected"),
    [
        ("llvm", ("llvm", "gnu"), GrantStatus.GRANTED),
        ("intel", ("intel",), GrantStatus.GRANTED),
        ("gnu", ("gnu",), GrantStatus.GRANTED),
        ("gnu", ("gnu", "llvm"), GrantStatus.REFUSED),
        ("llvm", ("gnu",), GrantStatus.REFUSED),
        ("intel", ("llvm",), GrantStatus.REFUSED),
        ("llvm", (), GrantStatus.REFUSED),
    ],
)
def test_grant_depends_on_maps(value: str, maps: tuple[str, ...], expected: GrantStatus) -> None:
    config = Configuration({"omp.runtime": value})
    found = facts(ReadBack(maps=tuple(FILES[name] for name in maps)))
    assert judge_all(config, REGISTRY, planned(value), found)["omp.runtime"].status is expected


def test_missing_maps_are_unverified() -> None:
    config = Configuration({"omp.runtime": "llvm"})
    grant = judge_all(config, REGISTRY, planned("llvm"), facts())["omp.runtime"]
    assert grant.status is GrantStatus.UNVERIFIED


def test_suggestion_depends_on_installed_runtimes() -> None:
    setting = REGISTRY.get("omp.runtime")
    tried = setting.suggest(program("gomp"), ALL)
    assert isinstance(tried, Suggestion)
    assert tried.domain.values() == ("llvm", "intel")
    for used, host in (
        (program(), ALL),
        (program("gomp"), BARE),
        (program("gomp", static=True), ALL),
        (program("llvm-omp"), ALL),
    ):
        assert isinstance(setting.suggest(used, host), str)
