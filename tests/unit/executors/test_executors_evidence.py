"""Evidence from the launcher's facts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.executors.sample import build_sample
from assay.records import (
    Configuration,
    Counter,
    Evidence,
    Launch,
    ReadBack,
    RunFacts,
    Stage,
    Workload,
    decode,
)
from assay.records.facts import HostActivity

LAUNCH = Launch(
    configuration=Configuration(), arm="default", stage=Stage.CONFIRM, block=0, position=0
)


def evidence(**facts: Any) -> dict[str, Evidence]:
    made = RunFacts(outcome="exited", exit_status=0, **facts)
    sample = build_sample(LAUNCH, Workload(argv=("true",)), made, (), {})
    found = {e.kind: e for e in sample.evidence}
    assert len(found) == len(sample.evidence), "each kind once"
    return found


def test_unread_maps_give_no_evidence() -> None:
    assert set(evidence()) == {"containment"}
    assert set(evidence(host=HostActivity())) == {"containment"}


def test_others_are_neither_the_tree_nor_the_launcher() -> None:
    found = evidence(
        host=HostActivity(
            cpus=4, busy_s=2.0, process_tree_cpu_s=1.5, launcher_cpu_s=0.125, steal_s=0.5
        )
    )
    assert found["foreign_load"].value == pytest.approx(0.375)
    assert found["steal"].value == 0.5
    assert found["host_cpus"].value == 4


@pytest.mark.parametrize(
    "host",
    [
        HostActivity(busy_s=1.0),
        HostActivity(process_tree_cpu_s=1.0),
        HostActivity(launcher_cpu_s=1.0),
    ],
)
def test_the_time_of_others_takes_two_readings(host: HostActivity) -> None:
    assert "foreign_load" not in evidence(host=host)


def test_coarse_ticks_fall_out_of_the_sum_of_many_launches() -> None:
    low = evidence(host=HostActivity(busy_s=0.0, process_tree_cpu_s=0.005, launcher_cpu_s=0.0))[
        "foreign_load"
    ].value
    high = evidence(host=HostActivity(busy_s=0.01, process_tree_cpu_s=0.005, launcher_cpu_s=0.0))[
        "foreign_load"
    ].value
    assert low is not None and high is not None
    assert low + high == pytest.approx(0.0)


def test_only_what_others_do_is_outside() -> None:
    host = HostActivity(
        cpus=2,
        steal_s=0.1,
        busy_s=1.0,
        process_tree_cpu_s=0.5,
        launcher_cpu_s=0.1,
        swap_in_pages=1,
        swap_out_pages=2,
        throttle_events=3,
        frequency_ratio=1.25,
        clock_source="tsc",
    )
    found = evidence(host=host, migrations=4, run_queue_wait_s=0.25, energy_j=7.0)
    assert {kind for kind, e in found.items() if e.external} == {"steal", "foreign_load"}
    read = {kind: (e.value, e.unit) for kind, e in found.items() if e.value is not None}
    assert (
        read.items()
        >= {
            "swap_in": (1.0, "pages"),
            "swap_out": (2.0, "pages"),
            "throttle_events": (3.0, "events"),
            "frequency_ratio": (1.25, ""),
            "migrations": (4.0, ""),
            "run_queue_wait": (0.25, "s"),
            "energy": (7.0, "J"),
        }.items()
    )
    assert found["clock_source"].note == "tsc" and found["clock_source"].value is None


def test_counters_say_what_they_cover() -> None:
    def counter(value: float, running_s: float = 2.0, scope: str = "all") -> Counter:
        return Counter(
            value=value,
            enabled_s=2.0,
            running_s=running_s,
            scope=scope,
            scaled=running_s < 2.0,
        )

    found = evidence(
        counters={
            "cycles": counter(10.0),
            "task_clock_s": counter(1.5),
            "page_faults": counter(3.0, scope="user"),
            "branch_misses": counter(4.0, running_s=0.5, scope="user"),
            "cycles.cpu_core": counter(5.0, running_s=0.5),
        }
    )
    assert found["counter.cycles"] == Evidence(kind="counter.cycles", value=10.0)
    assert found["counter.task_clock_s"].unit == "s"
    assert found["counter.page_faults"].note == "user mode only"
    assert found["counter.branch_misses"].note == "user mode only, scaled from 25% of the time"
    assert found["counter.cycles.cpu_core"].note == "scaled", "the rest was another kind of core"


def test_where_memory_lay_and_in_what_pages() -> None:
    seen = ReadBack(page_bytes={"4096": 8192, "2097152": 4194304}, numa_pages={"0": 5, "1": 6})
    found = evidence(readback=seen)
    assert found["page_size.2097152"].value == 4194304.0
    assert (found["node.1"].value, found["node.1"].unit) == (6.0, "pages")


def test_the_scope_of_energy_is_told() -> None:
    assert evidence(energy_j=1.0, energy_scope="package")["energy"].note == "package"


def test_a_record_of_the_launcher_is_read_whole() -> None:
    """The keys are those of docs/reference/assay-exec.md."""
    document = {
        "schema": 2,
        "outcome": "exited",
        "exit_status": 0,
        "migrations": 3,
        "run_queue_wait_s": 0.5,
        "energy_j": 2.5,
        "energy_scope": "package",
        "counters": {"cycles": {"value": 7, "enabled_s": 1, "running_s": 1, "scope": "all"}},
        "host": {"cpus": 2, "launcher_cpu_s": 0.25, "swap_in_pages": 0, "clock_source": "tsc"},
        "readback": {"page_bytes": {"4096": 1}},
    }
    facts = decode(json.dumps(document), RunFacts)
    assert facts.counters["cycles"] == Counter(value=7, enabled_s=1, running_s=1, scope="all")
    assert facts.host == HostActivity(
        cpus=2, launcher_cpu_s=0.25, swap_in_pages=0, clock_source="tsc"
    )
    assert facts.readback == ReadBack(page_bytes={"4096": 1})
    assert (facts.migrations, facts.run_queue_wait_s, facts.energy_j) == (3, 0.5, 2.5)
