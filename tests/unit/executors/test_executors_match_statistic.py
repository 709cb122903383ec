"""Figures of all matches of a launch, from its output and from files that it writes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.errors import InvalidInputError
from assay.executors.metrics.extract import parse_metric
from assay.executors.metrics.figures import read_figure
from assay.executors.metrics.match_statistic import demand_statistic
from assay.executors.metrics.matching import WINDOW_BYTES
from assay.executors.metrics.metric_files import read_file_states
from assay.executors.metrics.reading import read_metrics
from assay.records import Metric, RunFacts, Workload
from assay.search.claims.requirement import parse_requirements

LATENCY = "latency: ([0-9.]+)"
FACTS = RunFacts(outcome="exited", exit_status=0, wall_s=1.5)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("way", "value"),
    [
        ("p99", 99.01),
        ("p99.9", 99.901),
        ("median", 50.5),
        ("mean", 50.5),
        ("max", 100.0),
        ("min", 1.0),
        ("sum", 5050.0),
    ],
)
def test_all_matches_become_one_figure(output: Path, way: str, value: float) -> None:
    output.write_text("".join(f"latency: {1 + 37 * n % 100} ms\n" for n in range(100)))
    metric = parse_metric(f"lat@{way}={LATENCY}", {})
    assert metric.name == f"lat@{way}"
    figure = read_figure(metric, [output])
    assert figure.value == pytest.approx(value)
    assert figure.unit == "ms"


def test_matches_of_several_windows_count(output: Path) -> None:
    line = "latency: 7 " + "x" * 100 + "\n"
    count = 2 * WINDOW_BYTES // len(line)
    output.write_text("latency: 1000\n" + line * count)
    assert read_figure(parse_metric(f"lat@sum={LATENCY}", {}), [output]).value == 1000 + 7 * count


def test_match_in_the_middle_that_is_part_of_a_number_is_refused(output: Path) -> None:
    output.write_text("latency: 3\nlatency: 60,2\nlatency: 4\n")
    figure = read_figure(parse_metric(f"lat@p50={LATENCY}", {}), [output])
    assert (figure.value, figure.cut) == (None, "60,2")
    assert read_figure(parse_metric(f"lat={LATENCY}", {}), [output]).value == 4


@pytest.mark.parametrize(
    ("text", "pattern", "value", "reason"),
    [
        ("3 ms\n4000 us\n", "([0-9]+)", None, "the matches are printed in ms and in µs"),
        ("3 ms\n4000 us\n", "([0-9]+) (.s)", 0.004, None),
        ("3 ms\n4\n", "([0-9]+)", 4.0, None),
        ("3k\n4\n", "([0-9]+)", None, "the matches are printed in k and without a unit"),
        ("\x1b[1m3\x1b[0m ms\n\x1b[1m4\x1b[0m ms\n", "([0-9]+) ms", 4.0, None),
        ("3 ms\n- ms\n", "(.) ms", None, "'-' in the output is not a number"),
    ],
)
def test_units_and_numbers_of_each_match_are_checked(
    output: Path, text: str, pattern: str, value: float | None, reason: str | None
) -> None:
    output.write_text(text)
    figure = read_figure(parse_metric(f"lat@max={pattern}", {}), [output])
    assert (figure.value, figure.reason) == (value, reason)


def test_no_match_shows_the_nearest_line(output: Path) -> None:
    output.write_text("latency: none\n")
    found = read_figure(parse_metric(f"lat@p99={LATENCY}", {}), [output])
    assert "no match" in (found.reason or "") and "'latency: none'" in (found.reason or "")


@pytest.mark.parametrize("name", ["p0", "p100", "p101", "avg", "", "p99x", "p"])
def test_unknown_statistic_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="unknown statistic"):
        demand_statistic(name, "lat")


def test_requirement_names_such_a_metric() -> None:
    metric = parse_metric(f"lat@p99.9={LATENCY}", {})
    (plain, of_launches) = parse_requirements(
        ["lat@p99.9<=20", "lat@p99.9:p90<=30"], {metric.name: metric}
    )
    assert (plain.metric, plain.quantile) == ("lat@p99.9", 0.5)
    assert (of_launches.metric, of_launches.quantile) == ("lat@p99.9", 0.9)


class TestFiles:
    @pytest.fixture
    def workload(self, tmp_path: Path) -> Workload:
        metric = Metric(name="lat@sum", pattern=LATENCY, statistic="sum", file="lat.log")
        return Workload(argv=("true",), metrics=(metric,), cwd=str(tmp_path))

    def test_file_that_is_written_anew_counts_whole(
        self, workload: Workload, tmp_path: Path
    ) -> None:
        for last in (7, 70):
            before = read_file_states(workload)
            (tmp_path / "lat.log").write_text(f"latency: 5\nlatency: {last}\n")
            assert read_metrics(workload, FACTS, (), before=before).values == {"lat@sum": 5 + last}

    def test_only_appended_lines_count(self, workload: Workload, tmp_path: Path) -> None:
        for last in (7, 70):
            before = read_file_states(workload)
            with (tmp_path / "lat.log").open("a") as file:
                file.write(f"latency: 5\nlatency: {last}\n")
            assert read_metrics(workload, FACTS, (), before=before).values == {"lat@sum": 5 + last}

    def test_stale_file_is_no_figure(self, workload: Workload, tmp_path: Path) -> None:
        path = tmp_path / "lat.log"
        path.write_text("latency: 5\n")
        before = read_file_states(workload)
        reading = read_metrics(workload, FACTS, (), before=before)
        assert reading.values == {}
        assert "did not write" in reading.absent["lat@sum"]
        os.utime(path, ns=(0, 0))  # the same text, written again
        assert read_metrics(workload, FACTS, (), before=before).values == {"lat@sum": 5}

    def test_missing_file_is_named(self, workload: Workload, tmp_path: Path) -> None:
        reading = read_metrics(workload, FACTS, (), before=read_file_states(workload))
        assert str(tmp_path / "lat.log") in reading.absent["lat@sum"]

    def test_part_of_a_number_in_a_file_is_refused(
        self, workload: Workload, tmp_path: Path
    ) -> None:
        (tmp_path / "lat.log").write_text("latency: 5,5\nlatency: 5\n")
        assert read_metrics(workload, FACTS, ()).cut == {"lat@sum": "5,5"}
