"""``affinity.calls``: planning, judgement and script."""

from __future__ import annotations

import subprocess
import sys

import pytest

from assay.launch.document import launcher_document
from assay.launch.planner import plan
from assay.launch.script import shell_script
from assay.machine.document import Machine, Rights
from assay.records import (
    Affinity,
    AffinityCalls,
    Configuration,
    GrantStatus,
    Launch,
    Level,
    Plan,
    Prospect,
    ReadBack,
    Stage,
    Value,
    Workload,
)
from assay.records.facts import AppliedStep
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine

REGISTRY = builtin()
TOOK = (AppliedStep(step="affinity_calls", ok=True),)
LOST = (AppliedStep(step="affinity_calls", ok=False, errno=22),)


def planned(given: dict[str, Value], host: Machine | None = None) -> Plan:
    return plan(Configuration(given), host or machine(), REGISTRY)


@pytest.mark.parametrize(
    ("value", "actions"),
    [
        ("allowed", ()),
        ("ignored", (AffinityCalls(answer="ignored"),)),
        ("refused", (AffinityCalls(answer="refused"),)),
    ],
)
def test_planned(value: str, actions: tuple[AffinityCalls, ...]) -> None:
    made = planned({"affinity.calls": value})
    assert made.settings["affinity.calls"].status is Prospect.GRANTABLE
    assert made.actions == actions
    launch = Launch(
        configuration=made.configuration, arm="x", stage=Stage.SEARCH, block=0, position=0
    )
    document = launcher_document(made, Workload(argv=("prog",)), launch, env={})
    assert document.get("affinity_calls") == (actions[0].answer if actions else None)


def test_affinity_is_set_before_the_filter() -> None:
    kinds = [type(action) for action in planned({"affinity.calls": "ignored", "cpus": 1}).actions]
    assert kinds == [Affinity, AffinityCalls]


@pytest.mark.parametrize(
    ("value", "told"), [("never", "allowed,ignored,refused"), ("ignored", "CONFIG_SECCOMP_FILTER")]
)
def test_refused(value: str, told: str) -> None:
    host = machine(rights=Rights(uid=0, call_filters=False))
    word = planned({"affinity.calls": value}, host).settings["affinity.calls"]
    assert word.status is Prospect.REFUSED and told in (word.reason or "")


def test_allowed_installs_no_filter() -> None:
    host = machine(rights=Rights(uid=0, call_filters=False))
    assert not planned({"affinity.calls": "allowed"}, host).refused


@pytest.mark.parametrize(
    ("value", "seen", "applied", "grant", "level"),
    [
        ("allowed", None, (), GrantStatus.GRANTED, Level.SET),
        ("ignored", ReadBack(call_filters=1), TOOK, GrantStatus.GRANTED, Level.SEEN),
        ("refused", ReadBack(call_filters=2), TOOK, GrantStatus.GRANTED, Level.SEEN),
        ("refused", ReadBack(call_filters=0), TOOK, GrantStatus.REFUSED, Level.SEEN),
        ("refused", ReadBack(), TOOK, GrantStatus.GRANTED, Level.SET),
        ("refused", None, TOOK, GrantStatus.UNVERIFIED, Level.SET),
        ("refused", None, LOST, GrantStatus.REFUSED, Level.SET),
    ],
)
def test_judged(
    value: str,
    seen: ReadBack | None,
    applied: tuple[AppliedStep, ...],
    grant: GrantStatus,
    level: Level,
) -> None:
    config = Configuration({"affinity.calls": value})
    got = judge_all(config, REGISTRY, planned(config), facts(seen, applied=applied))
    assert (got["affinity.calls"].status, got["affinity.calls"].level) == (grant, level)


CHOOSE = """
import os, sys
try:
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    print("took")
except PermissionError:
    print("refused")
sys.stdout.flush()
os.system("nproc")
"""


@pytest.mark.parametrize(("value", "answer"), [("ignored", "took"), ("refused", "refused")])
def test_script_installs_same_filter(value: str, answer: str) -> None:
    work = Workload(argv=(sys.executable, "-c", CHOOSE))
    script = shell_script(planned({"affinity.calls": value}), work)
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    all_of_them = subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout
    words = done.stdout.split()
    assert (words[0], words[-1]) == (answer, all_of_them.strip()), done
