"""Studies in which the number of instances varies need a comparable metric."""

from __future__ import annotations

import pytest

from assay.errors import InvalidInputError
from assay.records import (
    Arm,
    Budget,
    Choices,
    Configuration,
    Kind,
    Metric,
    Parameter,
    Range,
    Space,
    StudySpec,
    Value,
    Workload,
)
from assay.records.workload import BUILT_IN
from assay.search.space.comparability import check_comparable, instance_count_notes
from assay.study.instance_numbers import with_instance_numbers


def compared(metric: Metric, *configurations: dict[str, Value]) -> StudySpec:
    return StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=("prog", "{instance}"), metrics=(metric,)),
        budget=Budget(launches=10),
        arms=tuple(Arm(name=str(c), configuration=Configuration(c)) for c in configurations),
    )


def searched(metric: Metric, *parameters: Parameter) -> StudySpec:
    return StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("prog",), metrics=(metric,)),
        budget=Budget(launches=10),
        space=Space(parameters=parameters),
    )


WALL = BUILT_IN["wall_s"]
VARIED: list[tuple[dict[str, Value], ...]] = [
    ({}, {"instances": 2}),
    ({"instances": 2}, {"instances": 4}),
    ({"instances": "throughput"}, {"instances": "latency"}),
    ({"instances": "latency"}, {"instances": "latency", "instances.cores": 2}),
    ({}, {"instances.cores": 2}),
]
SAME: list[tuple[dict[str, Value], ...]] = [
    ({}, {"threads": 2}),
    ({}, {"instances": 1}),
    ({"instances": 2}, {"instances": 2, "threads": 1}),
    ({"instances": 2, "instances.cores": 1}, {"instances": 2, "instances.cores": 2}),
    ({"instances": 4, "instances.rank": 0}, {"instances": 2, "instances.rank": 0}),
]


@pytest.mark.parametrize("name", ["wall_s", "user_s", "energy_j", "instructions", "page_faults"])
@pytest.mark.parametrize("arms", VARIED)
def test_total_time_of_several_instances_is_rejected(
    name: str, arms: tuple[dict[str, Value], ...]
) -> None:
    with pytest.raises(
        InvalidInputError, match=f"The number of instances varies, and {name} is the total"
    ) as at:
        check_comparable(compared(BUILT_IN[name], *arms))
    assert "--objective wall_s_per_instance" in (at.value.remedy or "")


@pytest.mark.parametrize("arms", VARIED)
def test_comparable_metrics_are_accepted(arms: tuple[dict[str, Value], ...]) -> None:
    check_comparable(compared(Metric(name="rate", pattern="(.+)"), *arms))
    check_comparable(compared(BUILT_IN["wall_s_per_instance"], *arms))
    check_comparable(compared(BUILT_IN["peak_anon_bytes"], *arms))
    (note,) = instance_count_notes(compared(BUILT_IN["wall_s_per_instance"], *arms))
    assert note.startswith("the number of instances varies: wall_s")


@pytest.mark.parametrize("arms", SAME)
def test_constant_number_of_instances_is_accepted(arms: tuple[dict[str, Value], ...]) -> None:
    check_comparable(compared(WALL, *arms))
    assert instance_count_notes(compared(WALL, *arms)) == []


@pytest.mark.parametrize(
    "parameter",
    [
        Parameter(name="instances", domain=Choices((2,))),
        Parameter(name="instances", domain=Range(1, 4, step=1)),
        Parameter(name="instances.cores", domain=Choices((1, 2))),
    ],
)
def test_search_starts_from_one_instance(parameter: Parameter) -> None:
    with pytest.raises(InvalidInputError, match="The number of instances varies"):
        check_comparable(searched(WALL, parameter))
    for one in (Choices((1,)), Choices((1,), ordered=True), Range(1, 1, step=1)):
        spec = searched(WALL, Parameter(name="instances", domain=one))
        check_comparable(spec)
        assert instance_count_notes(spec) == []


def test_single_launch_is_instance_0_of_1() -> None:
    spec = with_instance_numbers(compared(BUILT_IN["wall_s_per_instance"], {}, {"instances": 2}))
    assert spec.workload.placeholders == {"instance": "0"}
    assert spec.workload.environment == {"ASSAY_INSTANCE": "0", "ASSAY_INSTANCES": "1"}
    assert with_instance_numbers(spec) == spec
    plain = compared(WALL, {}, {"threads": 2})
    assert with_instance_numbers(plain) is plain
