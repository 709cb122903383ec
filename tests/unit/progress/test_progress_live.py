"""Launches that end by the rule on their reports, and the values of such launches."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from assay.executors.progress.live import (
    DRAIN_VARIATION,
    LiveReports,
    drain_interval_s,
    no_notices,
)
from assay.executors.progress.notices import Notice
from assay.executors.progress.values import ReportedValues, reported_values
from assay.executors.progress.watch import DRAIN_INTERVAL_S, ProgressWatch
from assay.records import (
    Combine,
    Derivation,
    DerivationKind,
    EndRule,
    Goal,
    Metric,
    Progress,
    Workload,
)
from assay.stats.progress.end import EndReason

SPS = Metric(
    name="sps",
    goal=Goal.HIGHER,
    progress=Progress(pattern=r"step (?P<step>\d+) sps (?P<value>\S+)"),
)
LOSS = Metric(name="loss", progress=Progress(pattern=r"step (?P<step>\d+).* loss (?P<value>\S+)"))
RULE = EndRule(warmup_steps=5.0, steady_steps=20.0)


@dataclass
class Running:
    """Launch that counts the requests to end."""

    requests: int = 0
    ended: bool = False
    waited_s: list[float] = field(default_factory=list)

    def ask_to_end(self) -> float:
        self.requests += 1
        return 0.0

    def finished(self, timeout_s: float) -> bool:
        self.waited_s.append(timeout_s)
        return self.ended

    def resume_if_stopped(self) -> None:
        """Nothing stops this launch."""


class Case:
    """Reports of one launch with some instances, written by hand."""

    def __init__(
        self,
        folder: Path,
        rule: EndRule | None = RULE,
        metrics: tuple[Metric, ...] = (SPS,),
        instances: int = 1,
        listener=no_notices,
        timeout_s: float | None = None,
    ) -> None:
        self.workload = Workload(argv=("app",), metrics=metrics)
        self.rule = rule
        self.running = Running()
        self.files = [folder / f"stdout.{number}" for number in range(instances)]
        watch = ProgressWatch(self.workload, [[file] for file in self.files])
        self.live = LiveReports(
            watch, self.workload.steady_metric, rule, listener, timeout_s=timeout_s
        )

    def write(self, first: int, last: int, instance: int = 0, sps: float = 100.0) -> None:
        with self.files[instance].open("a") as file:
            for step in range(first, last + 1):
                file.write(f"step {step} sps {sps} loss {1 / step}\n")

    def observe(self) -> None:
        self.live.observe(self.running)  # type: ignore[arg-type]

    def values(self) -> ReportedValues:
        self.live.finish()
        with self.live:
            return reported_values(self.workload, self.live, self.rule)


# --- end ------------------------------------------------------------------------------------------


def test_launch_ends_once_its_steady_steps_are_complete(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.write(1, 24)
    case.observe()
    assert case.live.ended is None
    case.write(25, 25)
    case.observe()
    case.observe()
    assert case.live.ended is EndReason.ENOUGH
    assert case.running.requests == 1


def test_reports_after_the_request_to_end_do_not_count(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.write(1, 25)
    case.observe()  # delays a first batch
    case.observe()
    case.write(26, 90, sps=1.0)
    case.observe()
    found = case.values()
    assert case.live.is_cut
    assert found.series["sps"].steps[-1] == 25
    assert found.values["sps"] == pytest.approx(100.0)


def test_launch_without_a_rule_is_read_to_its_end(tmp_path: Path) -> None:
    case = Case(tmp_path, rule=None)
    case.write(1, 90)
    case.observe()
    case.write(91, 95)
    assert case.values().series["sps"].steps[-1] == 95
    assert case.live.ended is None
    assert not case.live.is_cut
    assert case.running.requests == 0


@pytest.mark.parametrize("steps", [0, 3])
def test_longest_time_of_a_first_look_ends_it_without_enough_reports(
    tmp_path: Path, steps: int
) -> None:
    case = Case(tmp_path, rule=EndRule(first_look=True, max_s=0.0))
    case.write(1, steps)
    case.observe()
    assert case.live.ended is EndReason.TIME


def test_reports_after_the_time_out_do_not_count(tmp_path: Path) -> None:
    case = Case(tmp_path, timeout_s=0.0)
    case.write(1, 50)
    case.observe()
    found = case.values()
    assert case.live.is_cut
    assert case.running.requests == 0
    assert found.series == {}


def test_launch_ends_when_every_instance_has_enough(tmp_path: Path) -> None:
    case = Case(tmp_path, instances=2)
    case.write(1, 40, instance=0)
    case.observe()
    case.write(1, 24, instance=1)
    case.observe()
    assert case.live.ended is None
    case.write(25, 26, instance=1)
    case.observe()
    assert case.live.ended is EndReason.ENOUGH


def test_wait_ends_with_the_program_or_the_time(tmp_path: Path) -> None:
    case = Case(tmp_path)
    assert not case.live.is_finished(case.running, 0.0)  # type: ignore[arg-type]
    case.running.ended = True
    assert case.live.is_finished(case.running, None)  # type: ignore[arg-type]
    assert case.running.waited_s[0] == 0.0


def test_distance_of_readings_varies() -> None:
    found = {drain_interval_s() for _ in range(50)}
    assert len(found) > 10
    assert min(found) >= (1 - DRAIN_VARIATION) * DRAIN_INTERVAL_S
    assert max(found) <= (1 + DRAIN_VARIATION) * DRAIN_INTERVAL_S


def test_findings_after_the_end_are_evidence_only(tmp_path: Path) -> None:
    heard: list[Notice] = []
    case = Case(tmp_path, rule=None, listener=heard.append)
    case.files[0].write_text("nothing\n" * 5)
    found = case.values()
    assert heard == []
    assert [one.kind for one in found.evidence] == ["progress_never.sps"]
    assert found.absent["sps"] == "the program reported no value"


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "combine", "value"),
    [
        (Goal.HIGHER, None, 300.0),
        (Goal.LOWER, None, 200.0),
        (Goal.HIGHER, Combine.MEAN, 150.0),
        (Goal.HIGHER, Combine.MIN, 100.0),
    ],
)
def test_instances_have_one_value(
    tmp_path: Path, goal: Goal, combine: Combine | None, value: float
) -> None:
    metric = Metric(name="sps", goal=goal, combine=combine, progress=SPS.progress)
    case = Case(tmp_path, metrics=(metric,), instances=2)
    case.write(1, 60, instance=0, sps=100.0)
    case.write(1, 60, instance=1, sps=200.0)
    assert case.values().values["sps"] == pytest.approx(value)


def test_instance_without_a_report_leaves_no_value(tmp_path: Path) -> None:
    case = Case(tmp_path, instances=2)
    case.write(1, 60, instance=1)
    found = case.values()
    assert found.absent["sps"] == "1 of 2 instances reported a value"
    assert found.values == {}


@pytest.mark.parametrize("steps", [1, 2])
def test_too_few_reports_give_no_value(tmp_path: Path, steps: int) -> None:
    case = Case(tmp_path, rule=None)
    case.write(1, steps)
    found = case.values()
    assert found.absent["sps"] == f"the program reported too few values: {steps}, of at least 3"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e300"])
def test_values_that_are_no_numbers_are_left_out(tmp_path: Path, value: str) -> None:
    case = Case(tmp_path, rule=None)
    case.write(1, 30)
    with case.files[0].open("a") as file:
        file.write(f"step 31 sps {value}\n")
    case.write(32, 60)
    found = case.values()
    assert found.values["sps"] == pytest.approx(100.0)
    assert any(one.kind.startswith("progress_not_finite") for one in found.evidence)


def test_launch_within_the_known_warm_up_counts_from_its_middle(tmp_path: Path) -> None:
    case = Case(tmp_path, rule=EndRule(warmup_steps=70.0, steady_steps=20.0))
    case.write(1, 60)
    found = case.values()
    assert found.values["sps"] == pytest.approx(100.0)
    assert not found.steady["sps"].settled
    assert found.steady["sps"].begin_step == pytest.approx(30, abs=2)


def derived(kind: DerivationKind, **others: float | bool) -> Metric:
    derivation = Derivation(kind=kind, metric="loss", **others)  # type: ignore[arg-type]
    return Metric(name="derived", derivation=derivation)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (derived(DerivationKind.AT, step=50.0), 1 / 50),
        (derived(DerivationKind.FINAL), 1 / 60),
    ],
)
def test_derived_values_of_a_whole_launch(tmp_path: Path, metric: Metric, value: float) -> None:
    case = Case(tmp_path, rule=None, metrics=(SPS, LOSS, metric))
    case.write(1, 60)
    assert case.values().values["derived"] == pytest.approx(value, rel=0.2)


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        (derived(DerivationKind.FINAL), "assay ended the launch before its last value"),
        (derived(DerivationKind.AT, step=500.0), "no report near step 500"),
        (
            derived(DerivationKind.TIME_TO, level=0.001),
            "never reached loss<=0.001",
        ),
    ],
)
def test_derived_values_of_an_ended_launch(tmp_path: Path, metric: Metric, reason: str) -> None:
    case = Case(tmp_path, metrics=(SPS, LOSS, metric))
    case.write(1, 60)
    case.observe()  # delays a first batch
    case.observe()
    found = case.values()
    assert "derived" not in found.values
    assert reason in found.absent["derived"]


def test_time_to_a_level_is_a_time_within_the_launch(tmp_path: Path) -> None:
    metric = derived(DerivationKind.TIME_TO, level=0.05)
    case = Case(tmp_path, rule=None, metrics=(SPS, LOSS, metric))
    case.write(1, 60)
    found = case.values()
    assert 0.0 <= found.values["derived"] <= found.series["loss"].times_s[-1]


def test_derived_metric_without_a_source_is_absent(tmp_path: Path) -> None:
    step = Metric(name="step_s", derivation=Derivation(kind=DerivationKind.STEP))
    case = Case(tmp_path, rule=None, metrics=(step, SPS, LOSS, derived(DerivationKind.FINAL)))
    found = case.values()
    assert set(found.absent) == {"step_s", "sps", "loss", "derived"}
