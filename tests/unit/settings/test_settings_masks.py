"""Thread counts under a mask with fewer CPUs."""

from __future__ import annotations

import pytest

from assay.launch.planner import plan
from assay.machine.document import CpuRestriction
from assay.records import Configuration, GrantStatus, Prospect, ReadBack, RunFacts, Value
from assay.records.facts import HostActivity
from assay.settings.pools import POOLS, pool_size_text
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine

REGISTRY = builtin()
HOST = machine(cores=2)


def judged(given: dict[str, Value], masks: tuple[tuple[int, ...], ...], had: int) -> GrantStatus:
    config = Configuration(given)
    environ = {name: pool_size_text(name, str(given["threads"])) for name in POOLS}
    seen = ReadBack(environ=environ, cpus=masks[0], thread_cpus=masks)
    found: RunFacts = facts(seen, host=HostActivity(cpus=had))
    return judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), found)["threads"].status


@pytest.mark.parametrize(
    ("given", "masks", "had", "grant"),
    [
        ({"threads": 2}, ((0,),), 2, GrantStatus.DEGRADED),
        ({"threads": 2}, ((0, 1), (0, 1)), 2, GrantStatus.GRANTED),
        # Each bound thread has its own mask, the first one included.
        ({"threads": 2}, ((0,), (1,)), 2, GrantStatus.GRANTED),
        # More threads than CPUs of the machine, or than requested, are intended.
        ({"threads": 8}, ((0, 1),), 2, GrantStatus.GRANTED),
        ({"threads": 2, "cpus": 1}, ((0,),), 1, GrantStatus.GRANTED),
        ({"threads": 1}, ((0,),), 2, GrantStatus.GRANTED),
    ],
)
def test_threads_within_a_mask_of_fewer_cpus_are_degraded(
    given: dict[str, Value], masks: tuple[tuple[int, ...], ...], had: int, grant: GrantStatus
) -> None:
    assert judged(given, masks, had) is grant


def test_plan_is_degraded_under_mask_of_caller() -> None:
    bound = machine(cores=2, allowed=(0,), cpu_restriction=CpuRestriction(granted_cpus=(0, 1)))
    words = plan(Configuration({"threads": 2}), bound, REGISTRY).settings["threads"]
    assert words.status is Prospect.DEGRADED and "CPU 0" in (words.reason or "")
    assert plan(Configuration({"threads": 1}), bound, REGISTRY).settings["threads"].reason is None
    alone = machine(cores=2, allowed=(0,))  # a cpuset without other CPUs
    assert plan(Configuration({"threads": 2}), alone, REGISTRY).settings["threads"].reason is None
