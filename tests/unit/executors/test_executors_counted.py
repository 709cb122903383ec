"""Metrics that the launcher counts, and hosts that cannot."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from assay.errors import NotPossibleError
from assay.executors.metrics.extract import metrics_of, parse_metric
from assay.launch.document import launcher_document
from assay.records import (
    Configuration,
    Counter,
    Goal,
    Launch,
    Metric,
    Outcome,
    Plan,
    RunFacts,
    Sample,
    Stage,
    Workload,
)
from assay.records.workload import BUILT_IN, HOST_DEPENDENT_METRICS, PERF_METRICS
from assay.study.demands import demand_available, demand_objective

LAUNCH = Launch(
    configuration=Configuration(), arm="default", stage=Stage.SURVEY, block=0, position=0
)


def count(value: float) -> Counter:
    return Counter(value=value, enabled_s=1.0, running_s=1.0, scope="all")


def read(name: str, **facts: Any) -> float | str:
    """The value of one built-in metric, or why there is none."""
    made = RunFacts(outcome="exited", **facts)
    found = metrics_of((BUILT_IN[name],), made, ())
    return found.values[name] if name in found.values else found.absent[name]


@pytest.mark.parametrize("name", sorted(PERF_METRICS))
def test_a_counter_is_a_metric(name: str) -> None:
    assert read(name, counters={name: count(12.5)}) == 12.5
    assert read(name, unavailable={f"counters.{name}": "none here"}) == "none here"
    assert read(name) == "the launcher reported no value"


def test_kinds_of_cores_are_added_up_or_nothing_is_said() -> None:
    both = {"cycles.cpu_core": count(5.0), "cycles.cpu_atom": count(7.0)}
    assert read("cycles", counters={**both, "cycles_of_another": count(1.0)}) == 12.0
    half = {"cycles.cpu_core": count(5.0)}
    assert read("cycles", counters=half, unavailable={"counters.cycles.cpu_atom": "no"}) == "no"


def test_a_sampled_number_of_migrations_is_no_count() -> None:
    assert read("cpu_migrations", migrations=5) == "the launcher reported no value"


def test_kernel_sums_need_no_counter() -> None:
    facts = {
        "minor_faults": 10,
        "major_faults": 2,
        "voluntary_switches": 3,
        "involuntary_switches": 4,
    }
    assert read("page_faults", **facts) == 12.0
    assert read("context_switches", **facts) == 7.0
    assert read("page_faults", minor_faults=1) == "the launcher reported no value"


def test_energy_is_a_metric() -> None:
    assert read("energy_j", energy_j=3.5) == 3.5
    assert read("energy_j", unavailable={"energy_j": "root only"}) == "root only"


def test_built_in_metrics_have_units_and_less_is_better() -> None:
    for name in (*HOST_DEPENDENT_METRICS, "context_switches", "page_faults"):
        metric = parse_metric(name, {})
        assert metric == BUILT_IN[name]
        assert metric.unit and metric.goal is Goal.LOWER and metric.pattern is None


@pytest.mark.parametrize(
    ("metrics", "counters"),
    [
        (("wall_s",), None),
        (("wall_s", "page_faults", "energy_j"), None),
        (("instructions", "wall_s"), ["instructions"]),
        (("wall_s", "cpu_migrations", "cycles"), ["cpu_migrations", "cycles"]),
    ],
)
def test_the_launcher_counts_what_the_metrics_need(
    metrics: tuple[str, ...], counters: list[str] | None
) -> None:
    workload = Workload(argv=("true",), metrics=tuple(BUILT_IN[name] for name in metrics))
    document = launcher_document(Plan(configuration=Configuration()), workload, LAUNCH, env={})
    assert document.get("counters") == counters


def test_a_figure_of_the_output_may_have_the_name_of_a_counter() -> None:
    workload = Workload(argv=("true",), metrics=(Metric(name="cycles", pattern="c=(.*)"),))
    document = launcher_document(Plan(configuration=Configuration()), workload, LAUNCH, env={})
    assert "counters" not in document


def test_where_memory_lies_is_read_where_time_does_not_count() -> None:
    workload = Workload(argv=("true",))
    made = Plan(configuration=Configuration())
    survey = launcher_document(made, workload, LAUNCH, env={}, varied=("thp",))["readback"]
    assert {"numa_maps", "smaps"} <= set(survey) and len(set(survey)) == len(survey)
    timed = msgspec.structs.replace(LAUNCH, stage=Stage.CONFIRM)
    assert not {"numa_maps", "smaps"} & set(
        launcher_document(made, workload, timed, env={}, varied=("malloc",))["readback"]
    )


def sample(outcome: Outcome = Outcome.OK, **metrics: float) -> Sample:
    return Sample(
        launch=LAUNCH, outcome=outcome, metrics=metrics, unavailable={"instructions": "no counter"}
    )


def test_a_study_of_what_the_host_does_not_give_is_refused_with_the_reason() -> None:
    asked = (BUILT_IN["wall_s"], BUILT_IN["instructions"])
    with pytest.raises(NotPossibleError, match="instructions: no counter"):
        demand_available(sample(wall_s=1.0), asked)
    with pytest.raises(NotPossibleError, match="instructions: no counter"):
        demand_objective(sample(wall_s=1.0), asked[1])
    demand_available(sample(wall_s=1.0, instructions=5.0), asked)
    demand_available(sample(Outcome.FAILED), asked)


def test_a_reading_that_a_short_program_lacks_refuses_nothing() -> None:
    demand_available(sample(wall_s=1.0), (BUILT_IN["wall_s"], BUILT_IN["peak_anon_bytes"]))
