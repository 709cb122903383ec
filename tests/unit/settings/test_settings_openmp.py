"""Schedules and waiting of OpenMP."""

from __future__ import annotations

import pytest

from assay.launch.planner import plan
from assay.records import Configuration, EnvSet, GrantStatus, Level, Plan, Prospect, ReadBack, Value
from assay.settings.base import Suggestion
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine, program

REGISTRY = builtin()
HOST = machine(cores=2)
GNU = ("/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0",)
LLVM = ("/usr/lib/llvm-14/lib/libomp.so.5",)
ENDLESS = {"KMP_BLOCKTIME": "infinite", "GOMP_SPINCOUNT": "INFINITE"}


def planned(given: dict[str, Value]) -> Plan:
    return plan(Configuration(given), HOST, REGISTRY)


def variables(given: dict[str, Value]) -> dict[str, str]:
    made = planned(given)
    assert not made.refused
    return {a.name: a.value for a in made.actions if isinstance(a, EnvSet)}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"omp.schedule": "dynamic,64"}, {"OMP_SCHEDULE": "dynamic,64"}),
        ({"omp.schedule": "auto"}, {"OMP_SCHEDULE": "auto"}),
        ({"omp.wait": "active"}, {"OMP_WAIT_POLICY": "active", **ENDLESS}),
        (
            {"omp.wait": "passive"},
            {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0"},
        ),
        ({"omp.blocktime": 0}, {"KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0"}),
        ({"omp.blocktime": 3}, {"KMP_BLOCKTIME": "3", "GOMP_SPINCOUNT": "300000"}),
        ({"omp.blocktime": "infinite"}, ENDLESS),
        (
            {"omp.wait": "active", "omp.blocktime": 1},
            {"OMP_WAIT_POLICY": "active", "KMP_BLOCKTIME": "1", "GOMP_SPINCOUNT": "100000"},
        ),
    ],
)
def test_variables_of_each_runtime_are_set(
    given: dict[str, Value], expected: dict[str, str]
) -> None:
    assert variables(given) == expected


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("omp.schedule", "static,0", "static, dynamic"),
        ("omp.schedule", "STATIC", "static, dynamic"),
        ("omp.schedule", "dynamic, 4", "static, dynamic"),
        ("omp.schedule", "auto,4", "does not support a chunk size"),
        ("omp.wait", "sometimes", "active,passive"),
        ("omp.blocktime", -1, "milliseconds"),
        ("omp.blocktime", 1.5, "milliseconds"),
        ("omp.blocktime", 2**31 - 1, "milliseconds"),
        ("omp.blocktime", "forever", "milliseconds"),
    ],
)
def test_unsupported_values_are_refused(name: str, value: Value, told: str) -> None:
    word = planned({name: value}).settings[name]
    assert word.status is Prospect.REFUSED
    assert told in (word.reason or "")


def judged(given: dict[str, Value], seen: ReadBack) -> dict[str, tuple[GrantStatus, Level, str]]:
    grants = judge_all(Configuration(given), REGISTRY, planned(given), facts(seen))
    return {name: (g.status, g.level, g.reason or "") for name, g in grants.items()}


def test_libgomp_gets_number_of_spins() -> None:
    given: dict[str, Value] = {"omp.blocktime": 3}
    environ = variables(given)
    alone = judged(given, ReadBack(environ=environ, maps=GNU))["omp.blocktime"]
    assert alone[:2] == (GrantStatus.DEGRADED, Level.SET) and "spins" in alone[2]
    beside = judged(given, ReadBack(environ=environ, maps=(*GNU, *LLVM)))["omp.blocktime"]
    assert beside[:2] == (GrantStatus.GRANTED, Level.SET)
    unknown = judged(given, ReadBack(environ=environ))["omp.blocktime"]
    assert unknown[0] is GrantStatus.GRANTED


@pytest.mark.parametrize("value", [0, "infinite"])
def test_extreme_times_are_exact_in_libgomp(value: Value) -> None:
    given = {"omp.blocktime": value}
    seen = ReadBack(environ=variables(given), maps=GNU)
    assert judged(given, seen)["omp.blocktime"][0] is GrantStatus.GRANTED


def test_missing_variable_is_refused() -> None:
    seen = ReadBack(environ={"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"})
    grant, _, reason = judged({"omp.wait": "passive"}, seen)["omp.wait"]
    assert grant is GrantStatus.REFUSED and "KMP_BLOCKTIME is not set" in reason
    seen = ReadBack(environ={"OMP_SCHEDULE": "static"})
    assert judged({"omp.schedule": "guided"}, seen)["omp.schedule"][0] is GrantStatus.REFUSED


def test_env_settings_take_precedence() -> None:
    given: dict[str, Value] = {"omp.wait": "active", "env.KMP_BLOCKTIME": "1"}
    assert variables(given)["KMP_BLOCKTIME"] == "1"
    assert planned(given).settings["omp.wait"].status is Prospect.DEGRADED


def test_only_long_spinning_is_suggested() -> None:
    answer = REGISTRY.get("omp.wait").suggest(program("iomp"), HOST)
    assert isinstance(answer, Suggestion) and answer.domain.values() == ("passive",)
    for name, runtimes, told in (
        ("omp.wait", ("gomp",), "few milliseconds"),
        ("omp.wait", (), "no OpenMP"),
        ("omp.schedule", ("gomp",), "schedule(runtime)"),
        ("omp.schedule", (), "no OpenMP"),
        ("omp.blocktime", ("iomp",), "omp.wait"),
        ("omp.blocktime", (), "no OpenMP"),
    ):
        why = REGISTRY.get(name).suggest(program(*runtimes), HOST)
        assert isinstance(why, str) and told in why
    why = REGISTRY.get("omp.wait").suggest(program("iomp"), machine(cores=1))
    assert why == "only one CPU is usable"
