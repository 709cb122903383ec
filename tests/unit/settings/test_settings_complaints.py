"""A setting whose variable the program rejects on standard error is not granted."""

from __future__ import annotations

import msgspec
import pytest

from assay.launch.planner import plan
from assay.records import Configuration, Grant, GrantStatus, ReadBack, Value
from assay.settings.pools import POOLS, pool_size_text
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine

REGISTRY = builtin()
HOST = machine(caches=2, cores=2, smt=2)


def judge(given: dict[str, Value], seen: ReadBack, said: str) -> dict[str, Grant]:
    config = Configuration(given)
    found = msgspec.structs.replace(facts(seen), stderr_head=said)
    return judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), found)


@pytest.mark.parametrize(
    "said",
    [
        "\nlibgomp: Invalid value for environment variable OMP_NUM_THREADS\n",
        'OMP: Warning #42: OMP_NUM_THREADS: "1.0" is an invalid value; ignored.\n',
    ],
)
def test_rejected_variable_is_refused(said: str) -> None:
    seen = ReadBack(environ={"OMP_NUM_THREADS": "1.0"})
    grant = judge({"env.OMP_NUM_THREADS": "1.0"}, seen, said)["env.OMP_NUM_THREADS"]
    assert grant.status is GrantStatus.REFUSED
    assert "the program reports: " in (grant.reason or "") and "OMP_NUM_THREADS" in (
        grant.reason or ""
    )


def test_one_rejected_variable_of_many_degrades() -> None:
    seen = ReadBack(environ={name: pool_size_text(name, "2") for name in POOLS}, nice=3)
    said = "RAYON_NUM_THREADS is ignored"
    grants = judge({"threads": 2, "nice": 3}, seen, said)
    assert grants["threads"].status is GrantStatus.DEGRADED
    assert grants["nice"].status is GrantStatus.GRANTED


def test_missing_value_keeps_its_own_reason() -> None:
    said = "Invalid value for environment variable OMP_NUM_THREADS"
    grant = judge({"env.OMP_NUM_THREADS": "1.0"}, ReadBack(environ={}), said)["env.OMP_NUM_THREADS"]
    assert grant.status is GrantStatus.REFUSED
    assert "the program reports" not in (grant.reason or "")


@pytest.mark.parametrize(
    "said",
    [
        "using OMP_NUM_THREADS=1.0",
        "unknown host",
        "Invalid value for environment variable OMP_NUM_THREADS_X",
        "warning: 3 invalid records",
    ],
)
def test_other_lines_refuse_nothing(said: str) -> None:
    seen = ReadBack(environ={"OMP_NUM_THREADS": "1.0"})
    grant = judge({"env.OMP_NUM_THREADS": "1.0"}, seen, said)["env.OMP_NUM_THREADS"]
    assert grant.status is GrantStatus.GRANTED
