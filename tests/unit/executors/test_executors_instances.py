"""Figures and checks of several instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.executors.metrics.instances import InstanceOutputs, metrics_of_instances
from assay.executors.sample import build_sample
from assay.records import (
    Combine,
    Configuration,
    Goal,
    Launch,
    Metric,
    Outcome,
    RunFacts,
    Stage,
    Workload,
)
from assay.records.facts import InstanceFacts

ENDED = (InstanceFacts(exit_status=0, wall_s=1.0, cpus=(0, 1)), InstanceFacts(exit_status=0))
FACTS = RunFacts(outcome="exited", exit_status=0, wall_s=4.0, instances=ENDED)
LAUNCH = Launch(
    configuration=Configuration({"instances": 2}),
    arm="a",
    stage=Stage.CONFIRM,
    block=0,
    position=0,
)


@pytest.fixture
def instances(tmp_path: Path) -> InstanceOutputs:
    found = []
    for number, figure in ((0, "30"), (3, "50")):
        files = (tmp_path / f"stdout.{number}", tmp_path / f"stderr.{number}")
        files[0].write_text(f"rate={figure}\n")
        files[1].write_text("done\n")
        found.append((number, files))
    return found


@pytest.mark.parametrize(
    ("goal", "combine", "expected"),
    [
        (Goal.HIGHER, None, 80.0),
        (Goal.LOWER, None, 50.0),
        (Goal.LOWER, Combine.SUM, 80.0),
        (Goal.HIGHER, Combine.MEAN, 40.0),
        (Goal.HIGHER, Combine.MIN, 30.0),
        (Goal.HIGHER, Combine.MAX, 50.0),
    ],
)
def test_figures_become_one(
    instances: InstanceOutputs, goal: Goal, combine: Combine | None, expected: float
) -> None:
    metric = Metric(name="rate", pattern="rate=(.+)", goal=goal, combine=combine)
    found = metrics_of_instances((metric,), FACTS, instances)
    assert (found.values, found.absent) == ({"rate": expected}, {})


def test_launcher_metrics_cover_all_instances(instances: InstanceOutputs) -> None:
    metrics = (Metric(name="wall_s"), Metric(name="wall_s_per_instance"))
    found = metrics_of_instances(metrics, FACTS, instances)
    assert found.values == {"wall_s": 4.0, "wall_s_per_instance": 2.0}


def test_a_figure_that_one_lacks_is_none(instances: InstanceOutputs) -> None:
    instances[1][1][0].write_text("no figure\n")
    metric = Metric(name="rate", pattern="rate=(.+)")
    found = metrics_of_instances((metric,), FACTS, instances)
    assert found.values == {}
    assert found.absent["rate"].startswith("instance 3: no match of 'rate=(.+)' in the output")


def test_figures_of_instances_in_different_units_are_none(instances: InstanceOutputs) -> None:
    for (_, files), unit in zip(instances, ("MB/s", "GB/s"), strict=True):
        files[0].write_text(f"rate=3 {unit}\n")
    metric = Metric(name="rate", pattern="rate=([0-9]+)")
    found = metrics_of_instances((metric,), FACTS, instances)
    assert found.values == {}
    assert found.absent["rate"] == "the units of the instances differ: GB/s and MB/s"


def test_the_check_holds_in_each(instances: InstanceOutputs) -> None:
    work = Workload(argv=("x",), check="done")
    files = [file for _, own in instances for file in own]
    sample = build_sample(LAUNCH, work, FACTS, files, {}, (), instances=instances)
    assert sample.outcome is Outcome.OK
    assert [output.stream for output in sample.outputs] == [file.name for file in files]
    instances[1][1][1].write_text("")
    sample = build_sample(LAUNCH, work, FACTS, files, {}, (), instances=instances)
    assert sample.outcome is Outcome.FAILED
    assert sample.message == "the output has no match of the check 'done' of instance 3"


def test_a_failure_names_its_instance(instances: InstanceOutputs) -> None:
    failed = RunFacts(outcome="exited", exit_status=7, instances=ENDED, first_failed_instance=1)
    sample = build_sample(LAUNCH, Workload(argv=("x",)), failed, (), {}, (), instances=instances)
    assert sample.message == "instance 3: exit status 7"
    killed = RunFacts(outcome="signaled", signal=11, instances=ENDED, first_failed_instance=0)
    sample = build_sample(LAUNCH, Workload(argv=("x",)), killed, (), {}, (), instances=instances)
    assert sample.message == "instance 0: ended by SIGSEGV"


def test_how_long_each_took_is_evidence(instances: InstanceOutputs) -> None:
    sample = build_sample(LAUNCH, Workload(argv=("x",)), FACTS, (), {}, (), instances=instances)
    pieces = {e.kind: e for e in sample.evidence}
    assert (pieces["instance.0"].value, pieces["instance.0"].note) == (1.0, "on CPUs 0-1")
    assert pieces["instance.1"].value is None
