"""Number of hardware threads per core."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.launch.planner import plan
from assay.machine.document import Machine
from assay.records import Configuration, GrantStatus, Plan, Prospect, ReadBack, Value
from assay.settings.base import Suggestion
from assay.settings.registry import builtin, judge_all
from assay.settings.smt import limit_per_core

from .hosts import facts, machine, program

REGISTRY = builtin()
NAME = "threads.per_core"
SMT = machine(packages=2, caches=2, cores=2, smt=2)  # first threads 0-7, second 8-15
FLAT = machine(cores=4)
POWER = machine(cores=2, smt=4)


def planned(host: Machine, given: dict[str, Value]) -> Plan:
    return plan(Configuration(given), host, REGISTRY)


@pytest.mark.parametrize(
    ("host", "given", "expected"),
    [
        (SMT, {NAME: 1}, (0, 1, 2, 3, 4, 5, 6, 7)),
        (SMT, {NAME: 2}, tuple(range(16))),
        (POWER, {NAME: 2}, (0, 1, 2, 3)),
        (POWER, {NAME: 3}, (0, 1, 2, 3, 4, 5)),
        (FLAT, {NAME: 1}, (0, 1, 2, 3)),
        (SMT, {NAME: 1, "cpus": 2}, (0, 1)),
        (SMT, {NAME: 2, "cpus": 2}, (0, 8)),
        (SMT, {NAME: 1, "cpus": 2, "placement": "scatter"}, (0, 4)),
        (SMT, {NAME: 1, "placement": "one-per-core"}, (0, 1, 2, 3, 4, 5, 6, 7)),
        (POWER, {NAME: 2, "cpus": 3}, (0, 1, 2)),
        # The first thread of core 1 is not allowed: its second one replaces it.
        (machine(cores=2, smt=2, allowed=(0, 2, 3)), {NAME: 1}, (0, 3)),
        # Efficiency cores have one thread each, and keep it.
        (machine(cores=2, smt=2, efficient=2), {NAME: 1}, (0, 1, 4, 5)),
    ],
)
def test_affinity_mask_is_planned_and_judged(
    host: Machine, given: dict[str, Value], expected: tuple[int, ...]
) -> None:
    made = planned(host, given)
    assert not made.refused
    assert made.cpus == expected
    run = facts(ReadBack(cpus=expected))
    grants = judge_all(Configuration(given), REGISTRY, made, run)
    assert {g.status for g in grants.values()} == {GrantStatus.GRANTED}
    wider = facts(ReadBack(cpus=(*expected, 99)))
    grants = judge_all(Configuration(given), REGISTRY, made, wider)
    assert grants[NAME].status is GrantStatus.REFUSED


@pytest.mark.parametrize(
    ("host", "value", "told"),
    [
        (FLAT, 2, "no core has a second usable hardware thread. Remove it"),
        (SMT, 3, "cores have up to 2 usable hardware threads. Use 1 to 2"),
        (SMT, 0, "Use 1 to 2"),
        (SMT, "1", "Use 1 to 2"),
        (SMT, True, "Use 1 to 2"),
        (machine(cores=2, smt=2, allowed=(0, 1)), 2, "no core has a second"),
    ],
)
def test_more_threads_than_cores_have_are_refused(host: Machine, value: Value, told: str) -> None:
    word = planned(host, {NAME: value}).settings[NAME]
    assert word.status is Prospect.REFUSED
    assert told in (word.reason or "")


def test_cores_without_siblings_add_note() -> None:
    word = planned(FLAT, {NAME: 1}).settings[NAME]
    assert (word.status, word.reason) == (
        Prospect.GRANTABLE,
        "no core has more than 1 thread",
    )


def test_cpu_list_takes_precedence() -> None:
    made = planned(SMT, {NAME: 1, "cpus": "0,8"})
    assert made.cpus == (0, 8)
    assert made.settings[NAME].status is Prospect.DEGRADED


def test_count_above_remaining_cpus_is_refused() -> None:
    word = planned(SMT, {NAME: 1, "cpus": 9}).settings["cpus"]
    assert word.status is Prospect.REFUSED and "8 CPUs" in (word.reason or "")


@given(
    st.builds(
        machine,
        packages=st.integers(1, 2),
        cores=st.integers(1, 4),
        smt=st.integers(1, 4),
        efficient=st.sampled_from((0, 3)),
    ),
    st.integers(1, 4),
)
def test_every_core_keeps_the_allowed_threads(host: Machine, count: int) -> None:
    left = Counter(cpu.core for cpu in limit_per_core(host.usable, count))
    had = Counter(cpu.core for cpu in host.usable)
    assert left == {core: min(number, count) for core, number in had.items()}


def test_per_core_is_suggested_with_more_than_two_threads_only() -> None:
    setting = REGISTRY.get(NAME)
    answer = setting.suggest(program(threads_peak=8), POWER)
    assert isinstance(answer, Suggestion) and answer.domain.values() == (2, 3)
    for host, peak, told in (
        (SMT, 8, "one-per-core"),
        (SMT, 1, "one thread"),
        (FLAT, 8, "no core has two"),
    ):
        why = setting.suggest(program(threads_peak=peak), host)
        assert isinstance(why, str) and told in why
    assert (setting.default(POWER), setting.default(FLAT)) == (4, 1)
