"""Requested metrics besides the objective: rows with intervals in all formats."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import msgspec
import pytest
import report_studies as studies

from assay.cli.show.result import result_lines
from assay.cli.show.secondary_metrics import secondary_metric_lines
from assay.records import Kind, Metric
from assay.reporting import cells_text
from assay.reporting.html import render
from assay.reporting.inputs import ReportInput
from assay.reporting.text import to_csv, to_markdown
from assay.stats.summary import summarise
from assay.study.result import StudyResult
from assay.wording.observed_metrics import observed_metrics

P99 = Metric(name="lat@p99", unit="s", pattern="p99 ([0-9.]+)")


def with_p99(report: ReportInput) -> ReportInput:
    """Put a second metric into each launch; the last arm has none."""
    assert report.conclusion is not None
    workload = report.spec.workload
    workload = msgspec.structs.replace(
        workload, metrics=(*workload.metrics, P99), requested_metrics=("wall_s", "lat@p99")
    )
    arms = [
        msgspec.structs.replace(
            arm,
            summary={
                **arm.summary,
                "lat@p99": summarise([0.010 + 0.001 * at, 0.011, 0.012, 0.013, 0.012, 0.011]),
            },
        )
        for at, arm in enumerate(report.conclusion.arms[:-1])
    ]
    return replace(
        report,
        spec=msgspec.structs.replace(report.spec, workload=workload),
        conclusion=msgspec.structs.replace(
            report.conclusion, arms=(*arms, report.conclusion.arms[-1])
        ),
    )


@pytest.fixture(params=["compare", "measure", "tune", "sweep"])
def report(request: pytest.FixtureRequest) -> ReportInput:
    study: ReportInput = getattr(studies, request.param)()
    if request.param == "measure":
        conclusion = study.conclusion
        study = replace(
            study, conclusion=msgspec.structs.replace(conclusion, arms=conclusion.arms * 2)
        )
    return with_p99(study)


def test_terminal_has_a_row_for_each_arm(report: ReportInput) -> None:
    result = StudyResult(report.study_id, report.spec, report.conclusion, 1.0)
    text = "\n".join(result_lines(result))
    lines = secondary_metric_lines(report.conclusion, report.spec)
    assert set(lines) <= set(text.splitlines())
    assert len(lines) == 2 + len(report.conclusion.arms)
    assert lines[1].split() == ["lat@p99", "n", "mean", "interval", "median", "max"]
    assert " 11.5 ms  " in lines[2] and re.search(r"\d ms to \d+\.\d ms", lines[2])
    assert "no value" in lines[-1]


@pytest.mark.parametrize("width", [30, 60])
def test_narrow_terminal_has_the_same_numbers(report: ReportInput, width: int) -> None:
    text = "\n".join(secondary_metric_lines(report.conclusion, report.spec, width))
    assert text.count("interval ") == len(report.conclusion.arms) - 1
    assert "mean 11.5 ms" in text


def test_markdown_has_a_table(report: ReportInput) -> None:
    write = cells_text.to_markdown if report.spec.kind is Kind.SWEEP else to_markdown
    text = write(report.conclusion, report.spec)
    assert "| metric | arm | n | mean | interval |" in text
    rows = [line for line in text.splitlines() if line.startswith("| lat@p99 |")]
    assert len(rows) == len(report.conclusion.arms)
    assert "| 11.5 ms |" in rows[0] and " ms to " in rows[0]


def test_csv_has_a_line_for_each_arm_and_metric(report: ReportInput) -> None:
    write = cells_text.to_csv if report.spec.kind is Kind.SWEEP else to_csv
    rows = list(csv.DictReader(io.StringIO(write(report.conclusion, report.spec))))
    arms = len(report.conclusion.arms)
    assert [row["metric"] for row in rows] == [report.metric.name] * arms + ["lat@p99"] * arms
    ours = [row for row in rows if row["metric"] == "lat@p99" and row["n"] != "0"]
    assert all(
        float(row["mean_low"]) < float(row["mean"]) < float(row["mean_high"]) for row in ours
    )
    assert all(row["ratio"] == row["verdict"] == "" for row in ours)


def test_page_has_a_table(report: ReportInput) -> None:
    page = render(report)
    assert "Other metrics" in page and page.count("lat@p99") >= len(report.conclusion.arms)


def test_report_without_observed_metrics_is_unchanged() -> None:
    report = studies.compare()
    assert observed_metrics(report.spec) == ()
    assert secondary_metric_lines(report.conclusion, report.spec) == []
    assert "| metric |" not in to_markdown(report.conclusion, report.spec)
    assert "Other metrics" not in render(report)
