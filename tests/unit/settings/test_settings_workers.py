"""Settings are judged by the processes that did the work, not by their wrapper."""

from __future__ import annotations

import pytest

from assay.launch.planner import plan
from assay.records import Configuration, Grant, GrantStatus, ReadBack, Value
from assay.records.facts import ProcessState
from assay.settings.registry import builtin, judge_all

from .hosts import LIBRARIES, facts, machine

REGISTRY = builtin()
HOST = machine(caches=2, cores=2, smt=2)
LIBC = "/usr/lib/libc.so.6"
MIB = 1 << 20


def judge(given: dict[str, Value], *workers: ProcessState) -> Grant:
    """Return the grant of the first setting in a launch of these processes."""
    config = Configuration(given)
    first = workers[0]
    every = tuple(path for worker in workers for path in worker.maps or ())
    seen = ReadBack(maps=every, environ=workers[-1].environ, nice=first.nice, workers=workers)
    grants = judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), facts(seen))
    return grants[next(iter(given))]


def worker(
    comm: str, cpu_s: float, *maps: str, held_mib: int = 1, nice: int = 0, **environ: str
) -> ProcessState:
    return ProcessState(
        comm=comm,
        cpu_s=cpu_s,
        resident_bytes=held_mib * MIB,
        maps=(LIBC, *maps),
        environ=environ,
        nice=nice,
        cpus=(0, 1),
    )


JEMALLOC = LIBRARIES["jemalloc"]
PAGER = "/opt/assay/libassay-tier.so"
TIER: dict[str, Value] = {"mem.tier": "/tmp", "mem.dram": "64M"}


def test_library_in_wrapper_alone_is_refused() -> None:
    grant = judge({"malloc": "jemalloc"}, worker("big", 2.0), worker("sh", 0.01, JEMALLOC))
    assert grant.status is GrantStatus.REFUSED
    assert "'big', which used 100 % of the observed CPU time" in (grant.reason or "")


def test_library_in_worker_alone_is_granted() -> None:
    grant = judge({"malloc": "jemalloc"}, worker("big", 2.0, JEMALLOC), worker("sh", 0.01))
    assert grant.status is GrantStatus.GRANTED


def test_part_of_the_work_without_the_setting_is_degraded() -> None:
    grant = judge({"malloc": "jemalloc"}, worker("a", 3.0, JEMALLOC), worker("b", 1.0))
    assert grant.status is GrantStatus.DEGRADED and "25 %" in (grant.reason or "")


def test_many_small_workers_decide_over_busy_parent() -> None:
    pool = [worker(f"w{i}", 0.5) for i in range(6)]
    grant = judge({"malloc": "jemalloc"}, worker("main", 1.0, JEMALLOC), *pool)
    assert grant.status is GrantStatus.REFUSED


@pytest.mark.parametrize(
    ("given", "busy", "idle"),
    [
        ({"env.MODE": "fast"}, worker("big", 1.0), worker("sh", 0.0, MODE="fast")),
        ({"threads.omp": 2}, worker("big", 1.0), worker("sh", 0.0, OMP_NUM_THREADS="2")),
        ({"nice": 3}, worker("big", 1.0, nice=8), worker("sh", 0.0, nice=3)),
    ],
)
def test_every_kind_of_setting_is_judged_by_the_worker(
    given: dict[str, Value], busy: ProcessState, idle: ProcessState
) -> None:
    assert judge(given, busy, idle).status is GrantStatus.REFUSED
    turned = (
        ProcessState(**{**{f: getattr(idle, f) for f in idle.__struct_fields__}, "cpu_s": 1.0}),
        ProcessState(**{**{f: getattr(busy, f) for f in busy.__struct_fields__}, "cpu_s": 0.0}),
    )
    assert judge(given, *turned).status is GrantStatus.GRANTED


def test_process_with_most_memory_decides_on_its_storage() -> None:
    calculates = worker("solve", 5.0, PAGER, held_mib=20)
    holds = worker("cache", 0.3, held_mib=300)
    config = Configuration(TIER)
    host = machine(libraries={**LIBRARIES, "assay-tier": PAGER})
    seen = ReadBack(maps=(PAGER,), workers=(calculates, holds))
    grants = judge_all(config, REGISTRY, plan(config, host, REGISTRY), facts(seen))
    assert {grant.status for grant in grants.values()} == {GrantStatus.REFUSED}
    assert "'cache', which held 94 % of the memory" in (grants["mem.tier"].reason or "")


def test_unreadable_worker_leaves_setting_unverified() -> None:
    """A process of another user, or one that began after the last reading."""
    unread = ProcessState(comm="sudo-ed", cpu_s=2.0, resident_bytes=MIB)
    for given, before in (
        ({"malloc": "jemalloc"}, worker("sh", 0.01, JEMALLOC)),
        ({"env.MODE": "fast"}, worker("sh", 0.01, MODE="fast")),
        ({"nice": 3}, worker("sh", 0.01, nice=3)),
    ):
        grant = judge(given, unread, before)
        assert grant.status is GrantStatus.UNVERIFIED
        assert "'sudo-ed' ended, or has other privileges" in (grant.reason or "")


def test_launch_shorter_than_a_tick_is_judged_by_its_latest_process() -> None:
    assert judge({"env.MODE": "a"}, worker("big", 0.0), worker("sh", 0.0, MODE="a")).status is (
        GrantStatus.REFUSED
    )


def test_helpers_decide_nothing() -> None:
    busy = worker("app", 9.5, JEMALLOC)
    assert judge({"malloc": "jemalloc"}, busy, worker("uname", 0.5)).status is GrantStatus.GRANTED


def test_launcher_of_parallel_job_decides_nothing() -> None:
    """It polls as busily as the processes that it starts."""
    job = worker("app", 1.0, JEMALLOC)
    assert judge({"malloc": "jemalloc"}, worker("mpirun", 9.0), job).status is GrantStatus.GRANTED
    assert judge({"malloc": "jemalloc"}, worker("mpirun", 9.0)).status is GrantStatus.REFUSED


def test_process_with_most_memory_degrades_memory_settings() -> None:
    calculates, holds = worker("solve", 5.0, JEMALLOC, MODE="a"), worker("cache", 0.3, held_mib=300)
    grant = judge({"malloc": "jemalloc"}, calculates, holds)
    assert grant.status is GrantStatus.DEGRADED
    assert "of the memory" in (grant.reason or "")
    assert judge({"env.MODE": "a"}, calculates, holds).status is GrantStatus.GRANTED


def test_single_process_is_judged_by_itself() -> None:
    config = Configuration({"env.MODE": "fast"})
    seen = ReadBack(environ={"MODE": "fast"}, workers=(worker("big", 1.0),))
    grants = judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), facts(seen))
    assert grants["env.MODE"].status is GrantStatus.REFUSED
