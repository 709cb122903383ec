"""Real-time classes, their protection of other programs, and ``io.class``."""

from __future__ import annotations

import pytest

from assay.launch.document import launcher_document
from assay.launch.planner import plan
from assay.launch.script import shell_script
from assay.machine.document import Machine, Rights
from assay.records import (
    Configuration,
    GrantStatus,
    IoPriority,
    Launch,
    Plan,
    Prospect,
    ReadBack,
    Sched,
    Stage,
    Value,
    Workload,
)
from assay.records.facts import AppliedStep
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine

REGISTRY = builtin()
NICE = frozenset(["CAP_SYS_NICE"])
ROOT = Rights(uid=0, capabilities=NICE, min_nice=-20, max_rt_priority=99)
HOST = machine(cores=4, rights=ROOT, rt_share=0.95)
OPEN = machine(cores=4, rights=ROOT, rt_share=1.0)
WORK = Workload(argv=("prog",))


def planned(given: dict[str, Value], host: Machine = HOST) -> Plan:
    return plan(Configuration(given), host, REGISTRY)


@pytest.mark.parametrize(
    ("given", "host", "expected"),
    [
        ({"sched": "fifo:10"}, HOST, Sched(policy="fifo", priority=10)),
        ({"sched": "rr:99"}, HOST, Sched(policy="rr", priority=99)),
        ({"sched": "rr:1", "nice": 3}, HOST, Sched(policy="rr", priority=1, nice=3)),
        ({"nice": 3, "sched": "rr:1"}, HOST, Sched(policy="rr", priority=1, nice=3)),
        ({"sched": "fifo:3"}, machine(rights=Rights(uid=1, max_rt_priority=3), rt_share=0.5),
         Sched(policy="fifo", priority=3)),
        ({"sched": "deadline:2ms/10ms"}, HOST,
         Sched(policy="deadline", runtime_ns=2_000_000, period_ns=10_000_000)),
        # No CPU time is reserved for others, but CPUs remain.
        ({"sched": "fifo:10", "cpus": 3}, OPEN, Sched(policy="fifo", priority=10)),
        ({"sched": "fifo:10", "cpus": "0,1"}, OPEN, Sched(policy="fifo", priority=10)),
        ({"sched": "deadline:1s/1s"}, OPEN,
         Sched(policy="deadline", runtime_ns=10**9, period_ns=10**9)),
    ],
)  # fmt: skip
def test_planned(given: dict[str, Value], host: Machine, expected: Sched) -> None:
    made = planned(given, host)
    assert not made.refused
    assert [a for a in made.actions if isinstance(a, Sched)] == [expected]


@pytest.mark.parametrize(
    ("given", "host", "told"),
    [
        ({"sched": "fifo"}, HOST, "fifo:PRIORITY"),
        ({"sched": "fifo:0"}, HOST, "1 to 99"),
        ({"sched": "fifo:100"}, HOST, "1 to 99"),
        ({"sched": "batch:3"}, HOST, "other, batch, idle"),
        ({"sched": "deadline:2ms"}, HOST, "RUNTIME/PERIOD"),
        ({"sched": "deadline:3ms/2ms"}, HOST, "RUNTIME/PERIOD"),
        ({"sched": "deadline:1us/2ms"}, HOST, "RUNTIME/PERIOD"),
        ({"sched": "fifo:1"}, machine(), "prlimit --rtprio"),
        ({"sched": "fifo:4"}, machine(rights=Rights(uid=1, max_rt_priority=3)), "here is 3"),
        # Protection of other programs.
        ({"sched": "fifo:1"}, OPEN, "reserves no time"),
        ({"sched": "rr:1", "cpus": 4}, OPEN, "cpus=COUNT"),
        ({"sched": "rr:1", "cpus": 1}, machine(cores=1, rights=ROOT, rt_share=1.0), "kernel.sched"),
        ({"sched": "fifo:1"}, machine(rights=ROOT), "cannot be read"),
        ({"sched": "deadline:1s/1s"}, HOST, "95% of a CPU"),
        ({"sched": "deadline:1s/1s"}, machine(cores=1, rights=ROOT, rt_share=1.0), "95% of a CPU"),
        ({"sched": "deadline:1ms/1s"}, machine(), "CAP_SYS_NICE"),
        ({"sched": "deadline:1ms/1s"},
         machine(rights=Rights(uid=0, capabilities=NICE, user_namespace=True)), "CAP_SYS_NICE"),
        ({"sched": "deadline:1ms/1s", "cpus": 1}, HOST, "does not support affinity masks"),
        ({"sched": "deadline:1ms/1s", "nice": 1}, HOST, "no nice value"),
        ({"sched": "deadline:1ms/1s"},
         machine(cores=4, rights=ROOT, rt_share=0.95, allowed=(0, 1)), "only 0-1"),
    ],
)  # fmt: skip
def test_refused(given: dict[str, Value], host: Machine, told: str) -> None:
    word = planned(given, host).settings["sched"]
    assert word.status is Prospect.REFUSED
    assert told in (word.reason or "")


@pytest.mark.parametrize(
    ("value", "seen", "grant"),
    [
        ("fifo:10", ReadBack(policy="fifo", priority=10), GrantStatus.GRANTED),
        ("fifo:10", ReadBack(policy="fifo", priority=11), GrantStatus.REFUSED),
        ("fifo:10", ReadBack(policy="other"), GrantStatus.REFUSED),
        ("fifo:10", ReadBack(), GrantStatus.UNVERIFIED),
        ("deadline:2ms/10ms", ReadBack(policy="deadline"), GrantStatus.GRANTED),
        ("deadline:2ms/10ms", ReadBack(policy="other"), GrantStatus.REFUSED),
    ],
)
def test_judged(value: str, seen: ReadBack, grant: GrantStatus) -> None:
    config = Configuration({"sched": value})
    got = judge_all(config, REGISTRY, planned(config), facts(seen))["sched"]
    assert (got.status, got.value) == (grant, value)


def documented(made: Plan) -> dict[str, object]:
    launch = Launch(
        configuration=made.configuration, arm="x", stage=Stage.SEARCH, block=0, position=0
    )
    return launcher_document(made, WORK, launch, env={})


@pytest.mark.parametrize(
    ("given", "key", "expected", "words"),
    [
        ({"sched": "fifo:10"}, "sched", {"policy": "fifo", "priority": 10}, "chrt --fifo 10"),
        ({"sched": "batch"}, "sched", {"policy": "batch"}, "chrt --batch 0"),
        ({"sched": "deadline:2ms/10ms"}, "sched",
         {"policy": "deadline", "runtime_ns": 2000000, "period_ns": 10000000},
         "chrt --reset-on-fork --deadline --sched-runtime 2000000 --sched-deadline 10000000 "
         "--sched-period 10000000 0"),
        ({"io.class": "idle"}, "io_priority", {"class": "idle"}, "ionice -c idle"),
        ({"io.class": "best-effort:0"}, "io_priority", {"class": "best-effort", "level": 0},
         "ionice -c best-effort -n 0"),
    ],
)  # fmt: skip
def test_written(
    given: dict[str, Value], key: str, expected: dict[str, object], words: str
) -> None:
    made = planned(given)
    assert documented(made)[key] == expected
    assert words in shell_script(made, WORK)


@pytest.mark.parametrize(
    ("value", "rights", "refused"),
    [
        ("idle", Rights(uid=1), None),
        ("best-effort:7", Rights(uid=1), None),
        ("best-effort:8", Rights(uid=1), "Use idle"),
        ("realtime:0", Rights(uid=1), "CAP_SYS_NICE"),
        ("realtime:0", ROOT, None),
        ("realtime:0", Rights(uid=0, capabilities=NICE, user_namespace=True), "CAP_SYS_NICE"),
    ],
)
def test_io_class(value: str, rights: Rights, refused: str | None) -> None:
    word = planned({"io.class": value}, machine(rights=rights)).settings["io.class"]
    assert word.status is (Prospect.REFUSED if refused else Prospect.GRANTABLE)
    assert (refused or "") in (word.reason or "")


def test_io_class_is_judged_by_the_call() -> None:
    config = Configuration({"io.class": "best-effort:2"})
    made = planned(config)
    assert made.actions == (IoPriority(io_class="best-effort", level=2),)
    for applied, grant in (
        ((), GrantStatus.UNVERIFIED),
        ((AppliedStep(step="io_priority", ok=True),), GrantStatus.GRANTED),
        ((AppliedStep(step="io_priority", ok=False, errno=1),), GrantStatus.REFUSED),
    ):
        got = judge_all(config, REGISTRY, made, facts(ReadBack(), applied=applied))["io.class"]
        assert got.status is grant


def test_cpu_zero_is_rejected_as_count_and_accepted_as_list() -> None:
    assert not planned({"cpus": "0-0"}).refused
    refused = planned({"cpus": 0})
    assert set(refused.refused) == {"cpus"}
    assert 'cpus="0-0"' in str(refused.settings["cpus"].reason)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("nice", -5, "the lowest permitted value here is 0"),
        ("sched", "fifo:5", "no real-time priority is permitted here"),
    ],
)
def test_refusal_without_rights_names_the_limit_only(name: str, value: Value, reason: str) -> None:
    """The value precedes it in every message."""
    refused = planned({name: value}, machine(rights=Rights(uid=1))).refused
    assert (refused[name].reason or "").startswith(reason)
