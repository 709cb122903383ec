"""Grants from facts as the launcher gives them."""

from __future__ import annotations

import pytest

from assay.launch.planner import plan
from assay.machine.document import HugePages, Machine
from assay.records import Configuration, Granted, Level, RunFacts, Seen, Value
from assay.records.facts import Applied
from assay.settings.pools import POOLS as POOL_VARIABLES
from assay.settings.pools import pool_size_text
from assay.settings.registry import builtin, judge_all

from .hosts import LIBRARIES, facts, machine

REGISTRY = builtin()
HOST = machine(caches=2, cores=2, smt=2)
ALWAYS = machine(huge_pages=HugePages(enabled="always"))
POOLS = {name: pool_size_text(name, "2") for name in POOL_VARIABLES}


def judge(
    given: dict[str, Value], seen: Seen | None, host: Machine = HOST, **others: object
) -> dict[str, tuple[Granted, Level]]:
    config = Configuration(given)
    grants = judge_all(config, REGISTRY, plan(config, host, REGISTRY), facts(seen, **others))
    assert all(grants[name].value == value for name, value in given.items())
    told = {n: g for n, g in grants.items() if g.grant is not Granted.GRANTED}
    assert all(g.reason for g in told.values())
    return {name: (grant.grant, grant.level) for name, grant in grants.items()}


SET = (Granted.GRANTED, Level.SET)
SEEN = (Granted.GRANTED, Level.SEEN)
NOT_SEEN = (Granted.REFUSED, Level.SEEN)
UNREAD = (Granted.UNVERIFIED, Level.SET)
HUGETLB = "glibc.malloc.hugetlb=1"


@pytest.mark.parametrize(
    ("given", "seen", "expected"),
    [
        ({"threads": 2}, Seen(environ=POOLS, threads_peak=3), SET),
        ({"threads": 2}, Seen(environ={**POOLS, "GOMAXPROCS": "8"}), (Granted.REFUSED, Level.SET)),
        ({"threads": 2}, Seen(environ={}), (Granted.REFUSED, Level.SET)),
        ({"threads": 2}, Seen(), UNREAD),
        ({"threads.omp": 3}, Seen(environ={"OMP_NUM_THREADS": "3"}), SET),
        ({"cpus": 2}, Seen(cpus=(0, 4)), SEEN),
        ({"cpus": 2}, Seen(cpus=(0, 1)), NOT_SEEN),
        ({"cpus": 2}, Seen(cpus=(0,)), SEEN),
        ({"cpus": 2}, Seen(cpus=(0, 1, 4)), NOT_SEEN),
        ({"cpus": "0,2"}, Seen(cpus=(0, 2)), SEEN),
        ({"cpus": "0,2"}, Seen(cpus=(0, 1, 2, 3)), NOT_SEEN),
        ({"cpus": "0,2"}, Seen(), UNREAD),
        ({"placement": "one-per-core"}, Seen(cpus=(0, 1, 2, 3)), SEEN),
        ({"placement": "one-per-core"}, Seen(cpus=(0, 1, 2, 3, 4)), NOT_SEEN),
        ({"malloc": "jemalloc"}, Seen(maps=("/usr/lib/libc.so.6", LIBRARIES["jemalloc"])), SEEN),
        ({"malloc": "tcmalloc"}, Seen(maps=("/lib/libtcmalloc_minimal.so.4.5.10",)), SEEN),
        ({"malloc": "jemalloc"}, Seen(maps=("/usr/lib/libc.so.6",)), NOT_SEEN),
        ({"malloc": "jemalloc"}, Seen(maps=("/home/libjemalloc/lib.so",)), NOT_SEEN),
        ({"malloc": "glibc"}, Seen(maps=("/usr/lib/libc.so.6",)), SEEN),
        ({"malloc": "glibc"}, Seen(maps=(LIBRARIES["mimalloc"],)), NOT_SEEN),
        ({"malloc": "glibc"}, Seen(), UNREAD),
        ({"thp": "never"}, Seen(thp_enabled=False), SEEN),
        ({"thp": "never"}, Seen(thp_enabled=True), NOT_SEEN),
        ({"thp": "never"}, Seen(), UNREAD),
        ({"thp": "madvise"}, Seen(thp_enabled=True), SET),
        ({"thp": "madvise"}, Seen(thp_enabled=False), NOT_SEEN),
        ({"thp": "default"}, Seen(), SET),
        (
            {"thp": "always"},
            Seen(thp_enabled=True, environ={"GLIBC_TUNABLES": HUGETLB}, anon_huge_bytes=1 << 24),
            (Granted.DEGRADED, Level.EFFECTIVE),
        ),
        (
            {"thp": "always"},
            Seen(thp_enabled=True, environ={"GLIBC_TUNABLES": HUGETLB}, anon_huge_bytes=0),
            UNREAD,
        ),
        (
            {"thp": "always"},
            Seen(
                thp_enabled=True,
                environ={"GLIBC_TUNABLES": HUGETLB},
                maps=(LIBRARIES["jemalloc"],),
                anon_huge_bytes=1 << 24,
            ),
            NOT_SEEN,
        ),
        ({"thp": "always"}, Seen(thp_enabled=False), NOT_SEEN),
        ({"sched": "batch"}, Seen(policy="batch"), SEEN),
        ({"sched": "batch"}, Seen(policy="other"), NOT_SEEN),
        ({"sched": "batch"}, Seen(), UNREAD),
        ({"nice": 5}, Seen(nice=5), SEEN),
        ({"nice": 0}, Seen(nice=0), SEEN),
        ({"nice": 5}, Seen(nice=0), NOT_SEEN),
        ({"env.FOO": "a b"}, Seen(environ={"FOO": "a b"}), SET),
        ({"env.FOO": "a b"}, Seen(environ={"FOO": "b"}), (Granted.REFUSED, Level.SET)),
        ({"arg.n": 4}, None, SET),
        ({"command": "ls -l"}, None, SET),
        ({"omp.bind": "false"}, Seen(environ={"OMP_PROC_BIND": "false"}), SET),
        (
            {"omp.bind": "close"},
            Seen(environ={"OMP_PROC_BIND": "close"}, thread_cpus=((0,), (1,))),
            SEEN,
        ),
        (
            {"omp.bind": "close"},
            Seen(environ={"OMP_PROC_BIND": "close"}, thread_cpus=((0, 1), (0, 1))),
            UNREAD,
        ),
        (
            {"omp.bind": "primary"},
            Seen(environ={"OMP_PROC_BIND": "master"}, thread_cpus=((0,), (0,), (0, 1))),
            SEEN,
        ),
        ({"omp.bind": "close"}, Seen(environ={}), (Granted.REFUSED, Level.SET)),
        (
            {"omp.places": "cores"},
            Seen(environ={"OMP_PLACES": "cores"}, thread_cpus=((0, 4), (1, 5))),
            SEEN,
        ),
    ],
)
def test_judged(
    given: dict[str, Value], seen: Seen | None, expected: tuple[Granted, Level]
) -> None:
    (name,) = given
    assert judge(given, seen)[name] == expected


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("Core: SkylakeX\n", SEEN),
        ("warming up\nCore: SkylakeX\nCore: SkylakeX\n", SEEN),
        ("Core: Prescott\n", NOT_SEEN),
        ("Core: SkylakeX\nCore: Haswell\n", NOT_SEEN),
        ("Core not found: SkylakeX\nCore: Prescott\n", NOT_SEEN),
        ("no such words. Core: Prescott\n", SET),
        (None, SET),
    ],
)
def test_openblas_says_which_core_it_took(
    told: str | None, expected: tuple[Granted, Level]
) -> None:
    seen = Seen(environ={"OPENBLAS_CORETYPE": "SkylakeX"})
    assert judge({"cpu.isa": "avx512"}, seen, stderr_head=told)["cpu.isa"] == expected


def test_always_needs_nothing_where_the_system_is_set_so() -> None:
    seen = Seen(thp_enabled=True, environ={}, anon_huge_bytes=1 << 21)
    effective = (Granted.GRANTED, Level.EFFECTIVE)
    assert judge({"thp": "always"}, seen, ALWAYS)["thp"] == effective


def test_the_narrower_setting_is_held_against_its_own_variables() -> None:
    environ = {**POOLS, "OMP_NUM_THREADS": "1"}
    got = judge({"threads": 2, "threads.omp": 1}, Seen(environ=environ))
    assert got == {"threads": SET, "threads.omp": SET}


def test_what_the_plan_calls_degraded_is_never_granted() -> None:
    environ = {**POOLS, "GOMAXPROCS": "1"}
    got = judge({"threads": 2, "env.GOMAXPROCS": "1"}, Seen(environ=environ))
    assert got["env.GOMAXPROCS"] == SET
    assert got["threads"][0] is Granted.DEGRADED


@pytest.mark.parametrize("name", ["threads", "cpus", "malloc", "sched", "nice", "omp.bind"])
def test_a_program_too_short_to_be_read_is_unverified(name: str) -> None:
    value = {"malloc": "jemalloc", "sched": "batch", "omp.bind": "close"}.get(name, 2)
    run = facts(None, absent={"seen": "it ended within 1 ms"})
    config = Configuration({name: value})
    (grant,) = judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), run).values()
    assert grant.grant is Granted.UNVERIFIED
    assert grant.reason == "it ended within 1 ms"


@pytest.mark.parametrize(
    ("given", "step"),
    [({"cpus": 2}, "affinity"), ({"thp": "never"}, "prctl"), ({"sched": "idle"}, "sched.policy"),
     ({"nice": 3}, "sched.nice")],
)  # fmt: skip
def test_a_step_that_the_kernel_refused(given: dict[str, Value], step: str) -> None:
    (got,) = judge(given, Seen(), applied=(Applied(what=step, ok=False, errno=1),)).values()
    assert got == (Granted.REFUSED, Level.SET)


def test_a_program_that_never_ran_verifies_nothing() -> None:
    config = Configuration({"threads": 2, "arg.n": 1, "cpus": 1})
    run = RunFacts(outcome="exec_failed", message="No such file")
    grants = judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), run)
    assert {g.grant for g in grants.values()} == {Granted.UNVERIFIED}
    assert all("No such file" in (g.reason or "") for g in grants.values())
