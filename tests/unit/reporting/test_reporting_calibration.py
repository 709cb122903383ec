"""Page of a calibration, and the noise floor of a machine in other studies."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import report_studies

from assay.records import DEFAULT, Arm, Budget, Kind, MachineFloor, Status, StudySpec
from assay.reporting.html import render
from assay.reporting.inputs import ReportInput
from assay.testing.search_contracts import SimulatedProgram

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from simulated_studies import carry_out, workload

FLOOR = MachineFloor(
    study="cal1234", started_at=1.8e9, command="./a <b>", metric="wall_s", ci=(0.5, 2.0)
)


def text_of(page: str) -> str:
    """Return the text of a page without its pictures."""
    bare = re.sub(r"<(script|style|svg).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", bare).replace("\u00a0", " ").split())


@pytest.fixture(scope="module")
def calibrated() -> ReportInput:
    spec = StudySpec(
        kind=Kind.CALIBRATE,
        workload=workload(),
        budget=Budget(launches=81),
        arms=(Arm(name="default", configuration=DEFAULT),),
    )
    study = carry_out(spec, SimulatedProgram(takes_s=lambda configuration: 0.05, noise=0.01))
    like = report_studies.compare()
    return replace(
        like,
        spec=spec,
        samples=tuple(study.samples),
        conclusion=study.conclusion,
        status=Status.DONE,
        script="",
    )


@pytest.mark.rotating
def test_calibration_page_has_results(calibrated: ReportInput) -> None:
    text = text_of(render(calibrated))
    assert "Noise floor of this machine: two identical arms differ by" in text
    assert "False verdicts of assay here" in text
    assert "Difference within a block" in text
    assert "Smallest gain by budget" in text
    for budget in ("1 min", "5 min", "20 min"):
        assert budget in text
    assert "0 of 40 blocks" in text
    assert "No claims" not in text


def test_running_calibration_has_no_verdict(calibrated: ReportInput) -> None:
    text = text_of(render(replace(calibrated, conclusion=None, status=Status.INTERRUPTED)))
    assert "No verdict yet" in text
    assert "Calibration" in text


def test_comparison_page_has_calibrated_floor() -> None:
    bare = report_studies.compare()
    assert bare.conclusion is not None and bare.conclusion.noise_floor is None
    without = text_of(render(bare))
    assert "This study did not measure the noise floor" in without
    text = text_of(render(replace(bare, floor=FLOOR)))
    assert "calibrated 2027-01-15 with ./a &lt;b&gt;, study cal1234" in text
    assert "This study did not measure the noise floor" not in text
    assert "within the noise floor of this machine" in text


def test_small_floor_is_no_limitation() -> None:
    bare = report_studies.compare()
    narrow = MachineFloor(
        study="cal1234", started_at=1.8e9, command="./a", metric="wall_s", ci=(0.999, 1.001)
    )
    text = text_of(render(replace(bare, floor=narrow)))
    assert "within the noise floor of this machine" not in text
