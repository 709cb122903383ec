"""Direction of improvement of a figure where no option gives it."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from assay.api.options.metrics import parse_metrics
from assay.cli.arguments.workload import workload_options
from assay.cli.parsing.parser import parse
from assay.errors import InvalidInputError
from assay.executors.metrics.direction import demand_directed, is_rate, is_speed
from assay.executors.metrics.extract import metrics_of
from assay.executors.metrics.reading import demand_figures
from assay.records import Goal, Metric, Progress, RateForm, RunFacts, Workload


@pytest.mark.parametrize(
    ("name", "unit", "pattern", "rate"),
    [
        ("throughput", "", "(.+)", True),
        ("tokensPerS", "", "(.+)", True),
        ("read_iops", "", "(.+)", True),
        ("GFLOPS", "", "(.+)", True),
        ("got", "MB/s", "(.+)", True),
        ("got", "1/s", "(.+)", True),
        ("got", "", "([0-9.]+) [kMG]?B/s", True),
        ("got", "", "([0-9.]+) requests per second", True),
        ("got", "", r"([0-9.]+) MB\/s", True),
        ("got", "", r"([0-9]+) (\w+)/s", True),
        ("got", "", "Throughput: ([0-9.]+)", True),
        ("GFLOPs", "", "(.+)", True),
        ("hit_rate", "", "(.+)", True),
        ("tput", "", "(.+)", True),
        ("p99", "ms", "p99: ([0-9.]+) ms", False),
        ("error_rate", "", "(.+)", False),
        ("missRate", "", "(.+)", False),
        ("operations", "", "(.+)", False),
        ("upper_s", "", "(.+)", False),
        ("loss", "", "loss ([0-9.]+)", False),
        ("per_step", "ms/step", "(.+)", False),
        *((name, "", "(.+)", True) for name in ("bw", "goodput", "req_s", "tok_s", "hitrate")),
        *((name, "", "(.+)", True) for name in ("write_mb_s", "rows_sec", "read_bw")),
        *((name, "", "(.+)", False) for name in ("step_s", "reqs", "wall_s", "kbs", "missrate")),
        *(("v", unit, "(.+)", True) for unit in ("fps", "FPS", "QPS", "/s", "per second", "MIPS")),
        *(("v", unit, "(.+)", True) for unit in ("ns/day", "records/min", "Mpps", "rows per hour")),
        *(
            ("v", unit, "(.+)", False)
            for unit in ("s/it", "ms", "steps", "hours/ns", "ops", "mips2")
        ),
    ],
)
def test_rates(name: str, unit: str, pattern: str, rate: bool) -> None:
    assert is_rate(Metric(name=name, unit=unit, pattern=pattern)) == rate


def asked(verb: str, *words: str) -> Metric:
    """Return the objective of a command line."""
    metrics = parse_metrics(workload_options(parse([verb, *words, "--", "true"]).arguments))
    demand_directed(metrics)
    return metrics[0]


@pytest.mark.parametrize("verb", ["tune", "compare"])
def test_a_rate_asks_for_its_goal(verb: str) -> None:
    with pytest.raises(InvalidInputError, match="throughput looks like a rate") as refused:
        asked(verb, "--metric", "throughput=([0-9]+)")
    assert "--goal higher" in str(refused.value.remedy)
    for goal in ("higher", "throughput=higher"):
        found = asked(verb, "--metric", "throughput=([0-9]+)", "--goal", goal)
        assert (found.goal, found.goal_assumed) == (Goal.HIGHER, False)
    found = asked(verb, "--metric", "throughput=([0-9]+)", "--goal", "lower")
    assert (found.goal, found.goal_assumed) == (Goal.LOWER, False)


def test_assumed_goal_is_marked() -> None:
    assert asked("compare", "--metric", "p99=([0-9]+)").goal_assumed
    assert not asked("compare", "--metric", "wall_s").goal_assumed
    assert not asked("measure", "--metric", "throughput=([0-9]+)").goal_assumed


def test_a_figure_may_be_taken_as_it_is() -> None:
    words = ("--metric", "n=([0-9]+)", "--metric-as-is")
    assert asked("compare", *words, "n").ignore_unit
    assert not asked("compare", *words[:2]).ignore_unit
    with pytest.raises(InvalidInputError, match="Unknown metric: 'm'"):
        asked("compare", *words, "m")


def test_a_rate_that_shows_at_the_first_launch_asks_too(tmp_path: Path) -> None:
    metric = asked("compare", "--metric", "got=got ([0-9]+)")
    output = tmp_path / "out"
    for text, refused in (
        ("got 5 MB/s", True),
        ("got 5 ms", False),
        ("got 5", False),
        ("got 5 fps", True),
        ("got 5 per second", True),
        ("got 5 M rows/s", True),
        ("got 5 million ops/s", True),
        ("got 5/s", True),
        ("got 5 ns/day", True),
        ("got 5 files", False),
        ("time[s] rate[kB/s]\ngot 5 7", False),
        ("of [kB/s]\ngot 5", True),
    ):
        output.write_text(text)
        workload = Workload(argv=("x",), metrics=(metric,))
        reading = metrics_of(workload.metrics, RunFacts(outcome="exited"), [output])
        with (
            pytest.raises(InvalidInputError, match="got looks like a rate")
            if refused
            else nullcontext()
        ):
            demand_figures(workload, reading)


@pytest.mark.parametrize(
    ("name", "pattern", "speed"),
    [
        ("sps", "samples/s: ([0-9.]+)", True),
        ("step_ms", None, True),
        ("got", "([0-9.]+) ms/step", True),
        ("got", "took ([0-9.]+)", True),
        ("epoch_time", None, True),
        ("loss", "loss: ([0-9.]+)", False),
        ("val_loss", None, False),
        ("acc", "acc: ([0-9.]+)", False),
        ("got", "value ([0-9.]+)", False),
    ],
)
def test_speed_differs_from_a_level(name: str, pattern: str | None, speed: bool) -> None:
    assert is_speed(Metric(name=name, progress=Progress(pattern=pattern))) is speed


def test_level_is_averaged_whatever_its_goal() -> None:
    for goal in Goal:
        metric = Metric(name="acc", goal=goal, progress=Progress(), level=True)
        assert metric.rate_form is RateForm.LEVEL
