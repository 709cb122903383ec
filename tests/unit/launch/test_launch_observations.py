"""Observations of a launch, and the request to the launcher."""

import msgspec
import pytest

from assay.launch.document import launcher_document
from assay.launch.observations import active_observations
from assay.records import DEFAULT, Launch, Observation, Plan, Stage, Workload
from assay.records.observation import ALL_OBSERVATIONS, DEFAULT_OBSERVATIONS
from assay.records.workload import BUILT_IN

COUNTED = Launch(configuration=DEFAULT, arm="default", stage=Stage.CONFIRM, block=0, position=0)
SURVEY = msgspec.structs.replace(COUNTED, stage=Stage.SURVEY)
PROGRAM = Workload(argv=("true",))


def document(launch: Launch = COUNTED, workload: Workload = PROGRAM, **words: object) -> dict:
    return launcher_document(Plan(configuration=DEFAULT), workload, launch, env={}, **words)


def measuring(*names: str) -> Workload:
    return Workload(argv=("true",), metrics=tuple(BUILT_IN[name] for name in names))


def test_measured_launch_opens_no_counters_and_reads_nothing_back() -> None:
    found = document()
    assert not {"counters", "readback", "environ_names", "map_names", "sampling"} & found.keys()
    assert active_observations(COUNTED, PROGRAM, ()) == DEFAULT_OBSERVATIONS


def test_observe_none_turns_sampling_off() -> None:
    assert document(observe=())["sampling"] == []
    assert active_observations(COUNTED, PROGRAM, (), ()) == ()


def test_observe_all_turns_everything_on() -> None:
    found = document(observe=ALL_OBSERVATIONS)
    assert found["counters"] == ["default"] and "maps" in found["readback"]
    assert "sampling" not in found  # the launcher samples both by itself
    assert active_observations(COUNTED, PROGRAM, (), ALL_OBSERVATIONS) == ALL_OBSERVATIONS


def test_survey_observes_what_measured_launches_leave_out() -> None:
    assert active_observations(SURVEY, PROGRAM, (), ()) == (
        *DEFAULT_OBSERVATIONS,
        Observation.READBACK,
    )


@pytest.mark.parametrize(
    ("asked", "sampled"),
    [((Observation.MEMORY,), ["memory"]), ((Observation.SCHEDULING,), ["scheduling"])],
)
def test_one_of_two_samplings_can_be_chosen(asked: tuple, sampled: list[str]) -> None:
    assert document(observe=asked)["sampling"] == sampled


def test_metric_of_memory_keeps_its_samples_on() -> None:
    work = measuring("wall_s", "peak_anon_bytes")
    assert document(workload=work, observe=())["sampling"] == ["memory"]
    assert active_observations(COUNTED, work, (), ()) == (Observation.MEMORY,)


def test_memory_objective_is_sampled_more_often() -> None:
    assert document(workload=measuring("peak_anon_bytes", "wall_s"))["sampling_share"] == 0.05
    assert "sampling_share" not in document(workload=measuring("wall_s", "peak_anon_bytes"))
    assert "sampling_share" not in document(observe=ALL_OBSERVATIONS)


def test_metric_of_counter_opens_that_counter_alone() -> None:
    work = measuring("instructions")
    assert document(workload=work)["counters"] == ["instructions"]
    assert Observation.COUNTERS in active_observations(COUNTED, work, ())
    assert document(workload=work, observe=ALL_OBSERVATIONS)["counters"] == [
        "default",
        "instructions",
    ]


@pytest.mark.parametrize(
    ("name", "reads"),
    [("thp", True), ("env.MODE", True), ("malloc", True), ("arg.level", False), ("command", False)],
)
def test_varied_setting_is_read_back_unless_it_is_in_the_command(name: str, reads: bool) -> None:
    assert ("readback" in document(varied=(name,), observe=())) is reads
    assert (Observation.READBACK in active_observations(COUNTED, PROGRAM, (name,), ())) is reads


def test_survey_reads_the_program_back_and_opens_no_counters() -> None:
    found = document(SURVEY)
    assert {"maps", "smaps", "numa_maps"} <= set(found["readback"])
    assert "counters" not in found
    assert active_observations(SURVEY, PROGRAM, ()) == (*DEFAULT_OBSERVATIONS, Observation.READBACK)
