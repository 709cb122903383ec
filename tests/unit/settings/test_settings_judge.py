"""Grants from facts of the launcher."""

from __future__ import annotations

import pytest

from assay.launch.planner import plan
from assay.machine.document import HugePages, Machine
from assay.records import Configuration, GrantStatus, Level, ReadBack, RunFacts, Value
from assay.records.facts import AppliedStep
from assay.settings.pools import POOLS as POOL_VARIABLES
from assay.settings.pools import pool_size_text
from assay.settings.registry import builtin, judge_all

from .hosts import LIBRARIES, facts, machine

REGISTRY = builtin()
HOST = machine(caches=2, cores=2, smt=2)
ALWAYS = machine(huge_pages=HugePages(enabled="always"))
POOLS = {name: pool_size_text(name, "2") for name in POOL_VARIABLES}


def judge(
    given: dict[str, Value], seen: ReadBack | None, host: Machine = HOST, **others: object
) -> dict[str, tuple[GrantStatus, Level]]:
    config = Configuration(given)
    grants = judge_all(config, REGISTRY, plan(config, host, REGISTRY), facts(seen, **others))
    assert all(grants[name].value == value for name, value in given.items())
    told = {n: g for n, g in grants.items() if g.status is not GrantStatus.GRANTED}
    assert all(g.reason for g in told.values())
    return {name: (grant.status, grant.level) for name, grant in grants.items()}


SET = (GrantStatus.GRANTED, Level.SET)
SEEN = (GrantStatus.GRANTED, Level.SEEN)
NOT_SEEN = (GrantStatus.REFUSED, Level.SEEN)
UNREAD = (GrantStatus.UNVERIFIED, Level.SET)
HUGETLB = "glibc.malloc.hugetlb=1"


@pytest.mark.parametrize(
    ("given", "seen", "expected"),
    [
        ({"threads": 2}, ReadBack(environ=POOLS, threads_peak=3), SET),
        (
            {"threads": 2},
            ReadBack(environ={**POOLS, "GOMAXPROCS": "8"}),
            (GrantStatus.REFUSED, Level.SET),
        ),
        ({"threads": 2}, ReadBack(environ={}), (GrantStatus.REFUSED, Level.SET)),
        ({"threads": 2}, ReadBack(), UNREAD),
        ({"threads.omp": 3}, ReadBack(environ={"OMP_NUM_THREADS": "3"}), SET),
        ({"cpus": 2}, ReadBack(cpus=(0, 4)), SEEN),
        ({"cpus": 2}, ReadBack(cpus=(0, 1)), NOT_SEEN),
        ({"cpus": 2}, ReadBack(cpus=(0,)), SEEN),
        ({"cpus": 2}, ReadBack(cpus=(0, 1, 4)), NOT_SEEN),
        ({"cpus": "0,2"}, ReadBack(cpus=(0, 2)), SEEN),
        ({"cpus": "0,2"}, ReadBack(cpus=(0, 1, 2, 3)), NOT_SEEN),
        ({"cpus": "0,2"}, ReadBack(), UNREAD),
        ({"placement": "one-per-core"}, ReadBack(cpus=(0, 1, 2, 3)), SEEN),
        ({"placement": "one-per-core"}, ReadBack(cpus=(0, 1, 2, 3, 4)), NOT_SEEN),
        (
            {"malloc": "jemalloc"},
            ReadBack(maps=("/usr/lib/libc.so.6", LIBRARIES["jemalloc"])),
            SEEN,
        ),
        ({"malloc": "tcmalloc"}, ReadBack(maps=("/lib/libtcmalloc_minimal.so.4.5.10",)), SEEN),
        ({"malloc": "jemalloc"}, ReadBack(maps=("/usr/lib/libc.so.6",)), NOT_SEEN),
        ({"malloc": "jemalloc"}, ReadBack(maps=("/home/libjemalloc/lib.so",)), NOT_SEEN),
        ({"malloc": "glibc"}, ReadBack(maps=("/usr/lib/libc.so.6",)), SEEN),
        ({"malloc": "glibc"}, ReadBack(maps=(LIBRARIES["mimalloc"],)), NOT_SEEN),
        ({"malloc": "glibc"}, ReadBack(), UNREAD),
        ({"thp": "never"}, ReadBack(thp_enabled=False), SEEN),
        ({"thp": "never"}, ReadBack(thp_enabled=True), NOT_SEEN),
        ({"thp": "never"}, ReadBack(), UNREAD),
        ({"thp": "madvise"}, ReadBack(thp_enabled=True), SET),
        ({"thp": "madvise"}, ReadBack(thp_enabled=False), NOT_SEEN),
        ({"thp": "default"}, ReadBack(), SET),
        (
            {"thp": "always"},
            ReadBack(
                thp_enabled=True, environ={"GLIBC_TUNABLES": HUGETLB}, anon_huge_bytes=1 << 24
            ),
            (GrantStatus.DEGRADED, Level.EFFECTIVE),
        ),
        (
            {"thp": "always"},
            ReadBack(thp_enabled=True, environ={"GLIBC_TUNABLES": HUGETLB}, anon_huge_bytes=0),
            UNREAD,
        ),
        (
            {"thp": "always"},
            ReadBack(
                thp_enabled=True,
                environ={"GLIBC_TUNABLES": HUGETLB},
                maps=(LIBRARIES["jemalloc"],),
                anon_huge_bytes=1 << 24,
            ),
            NOT_SEEN,
        ),
        ({"thp": "always"}, ReadBack(thp_enabled=False), NOT_SEEN),
        ({"sched": "batch"}, ReadBack(policy="batch"), SEEN),
        ({"sched": "batch"}, ReadBack(policy="other"), NOT_SEEN),
        ({"sched": "batch"}, ReadBack(), UNREAD),
        ({"nice": 5}, ReadBack(nice=5), SEEN),
        ({"nice": 0}, ReadBack(nice=0), SEEN),
        ({"nice": 5}, ReadBack(nice=0), NOT_SEEN),
        ({"env.FOO": "a b"}, ReadBack(environ={"FOO": "a b"}), SET),
        ({"env.FOO": "a b"}, ReadBack(environ={"FOO": "b"}), (GrantStatus.REFUSED, Level.SET)),
        ({"arg.n": 4}, None, SET),
        ({"command": "ls -l"}, None, SET),
        ({"omp.bind": "false"}, ReadBack(environ={"OMP_PROC_BIND": "false"}), SET),
        (
            {"omp.bind": "close"},
            ReadBack(environ={"OMP_PROC_BIND": "close"}, thread_cpus=((0,), (1,))),
            SEEN,
        ),
        (
            {"omp.bind": "close"},
            ReadBack(environ={"OMP_PROC_BIND": "close"}, thread_cpus=((0, 1), (0, 1))),
            UNREAD,
        ),
        (
            {"omp.bind": "primary"},
            ReadBack(environ={"OMP_PROC_BIND": "master"}, thread_cpus=((0,), (0,), (0, 1))),
            SEEN,
        ),
        ({"omp.bind": "close"}, ReadBack(environ={}), (GrantStatus.REFUSED, Level.SET)),
        (
            {"omp.places": "cores"},
            ReadBack(environ={"OMP_PLACES": "cores"}, thread_cpus=((0, 4), (1, 5))),
            SEEN,
        ),
    ],
)
def test_judged(
    given: dict[str, Value], seen: ReadBack | None, expected: tuple[GrantStatus, Level]
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
def test_openblas_core_report_decides(
    told: str | None, expected: tuple[GrantStatus, Level]
) -> None:
    seen = ReadBack(environ={"OPENBLAS_CORETYPE": "SkylakeX"})
    assert judge({"cpu.isa": "avx512"}, seen, stderr_head=told)["cpu.isa"] == expected


def test_always_needs_no_action_if_system_mode_is_always() -> None:
    seen = ReadBack(thp_enabled=True, environ={}, anon_huge_bytes=1 << 21)
    effective = (GrantStatus.GRANTED, Level.EFFECTIVE)
    assert judge({"thp": "always"}, seen, ALWAYS)["thp"] == effective


def test_narrower_setting_is_judged_by_own_variables() -> None:
    environ = {**POOLS, "OMP_NUM_THREADS": "1"}
    got = judge({"threads": 2, "threads.omp": 1}, ReadBack(environ=environ))
    assert got == {"threads": SET, "threads.omp": SET}


def test_degraded_in_plan_is_never_granted() -> None:
    environ = {**POOLS, "GOMAXPROCS": "1"}
    got = judge({"threads": 2, "env.GOMAXPROCS": "1"}, ReadBack(environ=environ))
    assert got["env.GOMAXPROCS"] == SET
    assert got["threads"][0] is GrantStatus.DEGRADED


@pytest.mark.parametrize("name", ["threads", "cpus", "malloc", "sched", "nice", "omp.bind"])
def test_unreadable_short_program_is_unverified(name: str) -> None:
    value = {"malloc": "jemalloc", "sched": "batch", "omp.bind": "close"}.get(name, 2)
    run = facts(None, unavailable={"readback": "it ended within 1 ms"})
    config = Configuration({name: value})
    (grant,) = judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), run).values()
    assert grant.status is GrantStatus.UNVERIFIED
    assert grant.reason == "it ended within 1 ms"


@pytest.mark.parametrize(
    ("given", "step"),
    [({"cpus": 2}, "affinity"), ({"thp": "never"}, "prctl"), ({"sched": "idle"}, "sched.policy"),
     ({"nice": 3}, "sched.nice")],
)  # fmt: skip
def test_rejected_step_is_refused(given: dict[str, Value], step: str) -> None:
    (got,) = judge(given, ReadBack(), applied=(AppliedStep(step=step, ok=False, errno=1),)).values()
    assert got == (GrantStatus.REFUSED, Level.SET)


def test_program_that_never_ran_is_unverified() -> None:
    config = Configuration({"threads": 2, "arg.n": 1, "cpus": 1})
    run = RunFacts(outcome="exec_failed", message="No such file")
    grants = judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), run)
    assert {g.status for g in grants.values()} == {GrantStatus.UNVERIFIED}
    assert all("No such file" in (g.reason or "") for g in grants.values())
