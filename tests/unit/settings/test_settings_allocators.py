"""Options of allocators and tunables of glibc: actions, refusals, merging and judgement."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assay.errors import InvalidInputError
from assay.launch.document import launcher_document
from assay.launch.planner import plan
from assay.machine.document import HugePages
from assay.records import (
    Choices,
    Configuration,
    EnvSet,
    GrantStatus,
    Launch,
    Level,
    Parameter,
    Prospect,
    Range,
    ReadBack,
    Space,
    Stage,
    Value,
    Workload,
)
from assay.search.space.search_space import SearchSpace
from assay.settings.conditions import with_conditions
from assay.settings.list_variables import restore_environment
from assay.settings.malloc.encodings import AllocatorOption
from assay.settings.malloc.glibc import TUNABLES, GlibcTunable
from assay.settings.malloc.library import PREFIXES
from assay.settings.malloc.options import OPTIONS
from assay.settings.registry import builtin, judge_all

from .hosts import AVX2, LIBRARIES, facts, machine

REGISTRY = builtin()
HOST = machine()
LIBC = "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"


def variables(given: dict[str, Value]) -> dict[str, str]:
    made = plan(Configuration(given), HOST, REGISTRY)
    assert not made.refused, made.settings
    return {a.name: a.value for a in made.actions if isinstance(a, EnvSet)}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"malloc": "glibc", "malloc.arenas": 2},
            {"GLIBC_TUNABLES": "glibc.malloc.arena_max=2"},
        ),
        ({"malloc": "jemalloc", "malloc.arenas": 2}, {"MALLOC_CONF": "narenas:2"}),
        (
            {"malloc.arenas": 2},
            {"GLIBC_TUNABLES": "glibc.malloc.arena_max=2", "MALLOC_CONF": "narenas:2"},
        ),
        (
            {"malloc": "jemalloc", "malloc.decay_ms": 0},
            {"MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"},
        ),
        (
            {"malloc": "mimalloc", "malloc.decay_ms": 50},
            {"MIMALLOC_DECOMMIT_DELAY": "50", "MIMALLOC_PURGE_DELAY": "50"},
        ),
        (
            {"malloc": "jemalloc", "malloc.background": "on"},
            {"MALLOC_CONF": "background_thread:true"},
        ),
        ({"malloc": "jemalloc", "malloc.tcache": "off"}, {"MALLOC_CONF": "tcache:false"}),
        (
            {"malloc": "glibc", "malloc.tcache": "off"},
            {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"},
        ),
        (
            {"malloc": "glibc", "malloc.hugepages": "thp"},
            {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
        ),
        (
            {"malloc": "glibc", "malloc.hugepages": "hugetlb"},
            {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=2"},
        ),
        (
            {"malloc": "jemalloc", "malloc.hugepages": "metadata"},
            {"MALLOC_CONF": "metadata_thp:auto"},
        ),
        ({"malloc": "tcmalloc", "tcmalloc.release_rate": 10}, {"TCMALLOC_RELEASE_RATE": "10"}),
        (
            {"malloc": "jemalloc", "jemalloc.oversize_threshold": 1, "malloc.background": "on"},
            {"MALLOC_CONF": "oversize_threshold:1,background_thread:true"},
        ),
        (
            {"glibc.top_pad": 4096, "glibc.trim_threshold": 0},
            {"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=0:glibc.malloc.top_pad=4096"},
        ),
        (
            {"glibc.mutex_spin_count": 0},
            {"GLIBC_TUNABLES": "glibc.pthread.mutex_spin_count=0"},
        ),
        ({"glibc.rseq": "off"}, {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}),
    ],
)
def test_each_allocator_gets_its_own_variables(
    given: dict[str, Value], expected: dict[str, str]
) -> None:
    found = variables(given)
    assert found.keys() == expected.keys()
    for name, text in expected.items():
        mark = ":" if name == "GLIBC_TUNABLES" else ","
        assert sorted(found[name].split(mark)) == sorted(text.split(mark))


@pytest.mark.parametrize("option", OPTIONS, ids=lambda o: o.name)
@pytest.mark.parametrize("malloc", ["glibc", *PREFIXES])
def test_unsupported_allocator_is_refused_with_remedy(option: AllocatorOption, malloc: str) -> None:
    domain = option.domain(HOST)
    assert isinstance(domain, Choices | Range)
    value = domain.options[-1] if isinstance(domain, Choices) else int(domain.low)
    word = plan(Configuration({"malloc": malloc, option.name: value}), HOST, REGISTRY).settings
    told = word[option.name]
    if malloc in option.owners(Choices((value,))):
        assert told.status is not Prospect.REFUSED
    else:
        assert told.status is Prospect.REFUSED
        assert told.reason is not None
        assert malloc in told.reason and "Use malloc=" in told.reason


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"malloc": "jemalloc", "malloc.hugepages": "hugetlb"}, "Use malloc=glibc."),
        ({"malloc.arenas": 0}, "Use"),
        ({"glibc.mmap_threshold": 2**26}, "Use"),
        ({"tcmalloc.release_rate": 11}, "Use"),
    ],
)
def test_invalid_values_are_refused(given: dict[str, Value], told: str) -> None:
    made = plan(Configuration(given), HOST, REGISTRY)
    assert any(told in (made.settings[name].reason or "") for name in made.refused)


@pytest.mark.parametrize("value", ["thp", "metadata"])
@pytest.mark.parametrize("mode", ["never", None])
def test_disabled_huge_pages_are_refused(value: str, mode: str | None) -> None:
    host = machine(huge_pages=HugePages(enabled=mode))
    given = Configuration({"malloc": "jemalloc", "malloc.hugepages": value})
    assert "malloc.hugepages" in plan(given, host, REGISTRY).refused


def test_hugetlb_pages_are_degraded() -> None:
    made = plan(Configuration({"malloc.hugepages": "hugetlb"}), HOST, REGISTRY)
    assert made.settings["malloc.hugepages"].status is Prospect.DEGRADED


def test_elision_needs_transactions() -> None:
    on, off = Configuration({"glibc.elision": "on"}), Configuration({"glibc.elision": "off"})
    without, with_it = machine(flags=AVX2), machine(flags=AVX2 | {"rtm"})
    assert "RTM" in (plan(on, without, REGISTRY).settings["glibc.elision"].reason or "")
    assert plan(on, without, REGISTRY).refused
    assert not plan(off, without, REGISTRY).refused
    assert plan(on, with_it, REGISTRY).actions == (
        EnvSet(name="GLIBC_TUNABLES", value="glibc.elision.enable=1"),
    )
    assert plan(on, machine(arch="aarch64", flags=AVX2), REGISTRY).refused


def documented(given: dict[str, Value], env: dict[str, str]) -> dict[str, str]:
    config = Configuration(given)
    launch = Launch(configuration=config, arm="x", stage=Stage.SEARCH, block=0, position=0)
    made = plan(config, HOST, REGISTRY)
    document = launcher_document(made, Workload(argv=("prog",)), launch, env=env)
    found: dict[str, str] = document["env_set"]
    return found


def test_inherited_assignments_are_kept() -> None:
    inherited = {
        "GLIBC_TUNABLES": "glibc.malloc.perturb=3:glibc.malloc.arena_max=9",
        "MALLOC_CONF": "junk:false,narenas:9",
    }
    found = documented({"malloc.arenas": 1}, inherited)
    assert found["GLIBC_TUNABLES"] == "glibc.malloc.perturb=3:glibc.malloc.arena_max=1"
    assert found["MALLOC_CONF"] == "junk:false,narenas:1"


def test_options_merge_with_thp_and_env_settings() -> None:
    found = variables({"malloc": "glibc", "thp": "always", "malloc.hugepages": "thp"})
    assert found == {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    given: dict[str, Value] = {
        "malloc": "jemalloc",
        "env.MALLOC_CONF": "narenas:7,abort_conf:true",
        "malloc.decay_ms": 5,
    }
    expected = ["abort_conf:true", "dirty_decay_ms:5", "muzzy_decay_ms:5", "narenas:7"]
    assert sorted(variables(given)["MALLOC_CONF"].split(",")) == expected


@pytest.mark.parametrize(
    "given",
    [
        {"malloc": "jemalloc", "env.MALLOC_CONF": "narenas:7", "malloc.arenas": 2},
        {"malloc": "glibc", "thp": "always", "malloc.hugepages": "off"},
        {"malloc": "glibc", "malloc.tcache": "off", "glibc.tcache_count": 3},
    ],
)
def test_contradicting_assignments_are_not_both_granted(given: dict[str, Value]) -> None:
    assert plan(Configuration(given), HOST, REGISTRY).refused


def judged(
    given: dict[str, Value], seen: ReadBack, **others: object
) -> tuple[GrantStatus, Level, str]:
    config = Configuration(given)
    made = plan(config, HOST, REGISTRY)
    name = next(n for n in given if n != "malloc")
    grant = judge_all(config, REGISTRY, made, facts(seen, **others))[name]
    assert grant.reason or grant.status is GrantStatus.GRANTED
    return grant.status, grant.level, grant.reason or ""


JEMALLOC = ReadBack(maps=(LIBC, LIBRARIES["jemalloc"]), environ={"MALLOC_CONF": "x:1,narenas:2"})
GLIBC = ReadBack(maps=(LIBC,), environ={"GLIBC_TUNABLES": "glibc.malloc.arena_max=2"})


@pytest.mark.parametrize(
    ("given", "seen", "expected"),
    [
        ({"malloc": "jemalloc", "malloc.arenas": 2}, JEMALLOC, GrantStatus.GRANTED),
        ({"malloc.arenas": 2}, JEMALLOC, GrantStatus.GRANTED),
        ({"malloc.arenas": 2}, GLIBC, GrantStatus.GRANTED),
        ({"malloc": "jemalloc", "malloc.arenas": 2}, GLIBC, GrantStatus.REFUSED),
        ({"malloc.arenas": 3}, GLIBC, GrantStatus.REFUSED),
        ({"malloc.decay_ms": 3}, GLIBC, GrantStatus.REFUSED),
        ({"malloc.arenas": 2}, ReadBack(), GrantStatus.UNVERIFIED),
        ({"malloc.arenas": 2}, ReadBack(maps=tuple(LIBRARIES.values())), GrantStatus.UNVERIFIED),
        ({"glibc.rseq": "off"}, GLIBC, GrantStatus.REFUSED),
        (
            {"glibc.rseq": "off"},
            ReadBack(environ={"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}),
            GrantStatus.GRANTED,
        ),
    ],
)
def test_judged(given: dict[str, Value], seen: ReadBack, expected: GrantStatus) -> None:
    assert judged(given, seen)[0] is expected


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("<jemalloc>: Invalid conf pair: narenas:2\n", GrantStatus.REFUSED),
        ("hm\n<jemalloc>: Out-of-range conf value: narenas:2\n", GrantStatus.REFUSED),
        ("<jemalloc>: Invalid conf pair: x:1\n", GrantStatus.GRANTED),
        ("", GrantStatus.GRANTED),
    ],
)
def test_jemalloc_error_refuses_option(told: str, expected: GrantStatus) -> None:
    found = judged({"malloc": "jemalloc", "malloc.arenas": 2}, JEMALLOC, stderr_head=told)
    assert found[0] is expected
    assert (found[1] is Level.SEEN) == (expected is GrantStatus.REFUSED)


def test_huge_pages_in_use_are_effective() -> None:
    given: dict[str, Value] = {"malloc": "glibc", "malloc.hugepages": "thp"}
    told = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    got = ReadBack(maps=(LIBC,), environ=told, anon_huge_bytes=1 << 24)
    none = ReadBack(maps=(LIBC,), environ=told, anon_huge_bytes=0)
    assert judged(given, got)[:2] == (GrantStatus.GRANTED, Level.EFFECTIVE)
    assert judged(given, none)[:2] == (GrantStatus.GRANTED, Level.SET)


def space_of(**domains: Choices | Range) -> Space:
    names = {name.replace("_of_", "."): domain for name, domain in domains.items()}
    return Space(parameters=tuple(Parameter(name=n, domain=d) for n, d in names.items()))


def test_option_varies_only_with_its_allocator() -> None:
    space = space_of(
        malloc=Choices(("glibc", "jemalloc")),
        malloc_of_decay_ms=Choices((0, 1000)),
        threads=Choices((1, 2)),
    )
    bound = SearchSpace(with_conditions(space, REGISTRY))
    kept = bound.without_inactive(Configuration({"malloc": "jemalloc", "malloc.decay_ms": 0}))
    assert set(kept) == {"malloc", "malloc.decay_ms"}
    for malloc in ({}, {"malloc": "glibc"}):
        given = Configuration({**malloc, "malloc.decay_ms": 0, "threads": 2})
        assert set(bound.without_inactive(given)) == {*malloc, "threads"}


def test_condition_of_user_is_kept() -> None:
    space = Space(
        parameters=(
            Parameter(name="malloc", domain=Choices(("mimalloc", "jemalloc"))),
            Parameter(name="malloc.decay_ms", domain=Choices((0, 1)), condition="threads > 1"),
            Parameter(name="threads", domain=Choices((1, 2))),
        )
    )
    bound = SearchSpace(with_conditions(space, REGISTRY))
    single = Configuration({"malloc": "jemalloc", "malloc.decay_ms": 0, "threads": 1})
    assert set(bound.without_inactive(single)) == {"malloc", "threads"}


def test_fixed_malloc_adds_no_condition() -> None:
    space = space_of(malloc_of_arenas=Choices((1, 2)))
    assert with_conditions(space, REGISTRY) == space


def test_option_without_allocator_in_space_is_rejected() -> None:
    space = space_of(malloc=Choices(("tcmalloc",)), malloc_of_background=Choices(("on", "off")))
    with pytest.raises(InvalidInputError) as told:
        with_conditions(space, REGISTRY)
    assert "malloc=tcmalloc,jemalloc" in str(told.value.remedy)


@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda t: t.name)
def test_every_tunable_exists_in_installed_glibc(tunable: GlibcTunable) -> None:
    """Compare with the list of ld.so, if it supports that (glibc 2.33 and later)."""
    loader = Path("/lib64/ld-linux-x86-64.so.2")
    if os.uname().machine != "x86_64" or not loader.exists():
        pytest.skip("no x86-64 loader here")
    done = subprocess.run([str(loader), "--list-tunables"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("this ld.so lists no tunables")
    listed = {line.partition(":")[0] for line in done.stdout.splitlines()}
    version = os.confstr("CS_GNU_LIBC_VERSION") or ""
    if version != "glibc 2.36":
        pytest.skip(f"the table follows glibc 2.36, this is {version}")
    assert tunable.tunable in listed


def test_split_glibc_tunables_are_restored() -> None:
    """The environment in /proc/PID/environ with glibc 2.36."""
    cut = {"GLIBC_TUNABLES": "glibc.malloc.arena_max=2", "glibc.malloc.top_pad": "0", "A": "b"}
    whole = {"GLIBC_TUNABLES": "glibc.malloc.arena_max=2:glibc.malloc.top_pad=0", "A": "b"}
    assert restore_environment(cut) == restore_environment(whole) == whole
    assert restore_environment({"glibc.malloc.top_pad": "0"}) == {}
    given: dict[str, Value] = {"malloc": "glibc", "glibc.top_pad": 0, "malloc.arenas": 2}
    assert judged(given, ReadBack(maps=(LIBC,), environ=cut))[0] is GrantStatus.GRANTED
    assert (
        judged({"glibc.top_pad": 1}, ReadBack(maps=(LIBC,), environ=cut))[0] is GrantStatus.REFUSED
    )


def test_each_assignment_is_found_by_name() -> None:
    config = Configuration({"malloc": "glibc", "malloc.arenas": 2, "glibc.top_pad": 0})
    launch = Launch(configuration=config, arm="x", stage=Stage.SEARCH, block=0, position=0)
    made = plan(config, HOST, REGISTRY)
    document = launcher_document(made, Workload(argv=("prog",)), launch, env={})
    names = {"GLIBC_TUNABLES", "glibc.malloc.arena_max", "glibc.malloc.top_pad"}
    assert names <= set(document["environ_names"])
