"""Launches disturbed by other processes: shown with their own marks, excluded from figures."""

import base64
import gzip
import json
import re
from dataclasses import replace

import msgspec
import pytest
import report_studies as studies

from assay.records import Evidence, Kind, Stage, Workload
from assay.reporting.arms import arm_rows
from assay.reporting.figures import figures
from assay.reporting.html import render
from assay.reporting.limitations import limitations
from assay.reporting.pictures.rows import box_limits, box_svg
from assay.reporting.pictures.series import convergence_svg
from assay.reporting.pictures.theme import LIGHT
from assay.reporting.scale import scale_for
from assay.reporting.trials import State, trials
from assay.search.conclusion.conclude import conclude
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.tpe import TpeSearcher


def timed(launches=20):
    """Return a measurement of wall time."""
    report = studies.measure(launches=launches)
    workload = Workload(argv=report.spec.workload.argv)
    spec = msgspec.structs.replace(report.spec, workload=workload)
    return disturbed(replace(report, spec=spec), ())


def disturbed(report, blocks, factor=3.0):
    """Return a study with load on half of the CPUs and slower launches in some blocks."""
    samples = tuple(
        _disturbed(sample, factor) if sample.launch.block in blocks else sample
        for sample in report.samples
    )
    spec = report.spec
    found = conclude(spec, samples, SearchSpace(spec.space), TpeSearcher(), None)
    return replace(report, samples=samples, conclusion=found)


def _disturbed(sample, factor):
    wall_s = sample.wall_s * factor
    return studies._with(
        sample,
        wall_s=wall_s,
        metrics={"wall_s": wall_s},
        evidence=(
            Evidence(kind="host_cpus", value=2.0),
            Evidence(kind="foreign_load", value=wall_s, unit="s", external=True),
        ),
    )


def drawn(report):
    shown = trials(report)
    rows = arm_rows(report, shown)
    return shown, rows, figures(report, shown, rows)


@pytest.fixture
def measured():
    return disturbed(timed(), range(3, 9))


@pytest.fixture
def lost():
    """Disturb all blocks."""
    return disturbed(timed(), range(100))


def test_figures_use_launches_of_conclusion(measured):
    shown, rows, pictures = drawn(measured)
    kept = measured.conclusion.arms[0].summary["wall_s"]
    assert kept.n == 14
    assert rows[0].summary == kept
    assert sorted(rows[0].values)[-1] == kept.max
    assert len(pictures.noise.percents) == kept.n
    assert len(pictures.convergence.drift) == kept.n
    assert sum(trial.state is State.LEFT_OUT for trial in shown) == 6


def test_unfinished_study_uses_same_launches(measured):
    _, rows, _ = drawn(replace(measured, conclusion=None))
    assert rows[0].summary == measured.conclusion.arms[0].summary["wall_s"]


def test_left_out_launches_do_not_stretch_axes(measured):
    _, _, pictures = drawn(measured)
    assert box_limits(pictures.boxes.boxes)[1] < 3.0
    assert pictures.convergence.frame[1] < 3.0


def test_left_out_launches_have_own_marks():
    report = disturbed(timed(), range(3, 9), factor=1.0)
    _, _, pictures = drawn(report)
    assert sum(dot.left_out for dot in pictures.boxes.boxes[0].dots) == 6
    assert pictures.boxes.boxes[0].note == "6 left out"
    assert sum(mark.left_out for mark in pictures.convergence.marks) == 6
    for picture in (box_svg(pictures.boxes), convergence_svg(pictures.convergence)):
        assert "s-warn" in picture
    page = render(report)
    legend = re.findall(r'<p class="intro">([^<]*)</p>', page)
    assert sum("Plus signs are left-out launches" in words for words in legend) == 2
    assert "6 launches in 6 blocks: other processes used more than 10 % of the CPUs" in page
    assert LIGHT["warn"] not in {LIGHT["other"], LIGHT["baseline"], LIGHT["winner"]}


def test_undisturbed_study_has_no_left_out_marks():
    page = render(timed())
    assert "Plus signs" not in page
    assert "plus signs" not in page


def test_limitations_use_undisturbed_launches(measured):
    _, rows, _ = drawn(measured)
    told = limitations(measured, rows, (), scale_of(rows))
    assert not any("vary widely" in note for note in told)
    assert not any("Other processes used" in note for note in told)
    assert any("6 of 20 blocks disturbed" in note for note in told)
    open_study = replace(measured, conclusion=None)
    told = limitations(open_study, rows, (), scale_of(rows))
    assert any(note.startswith("6 of 20 launches left out: other processes used") for note in told)


def scale_of(rows):
    return scale_for([value for row in rows for value in row.values], "s")


def test_completely_disturbed_study_shows_all_launches_marked(lost):
    page = render(lost)
    assert "Other processes disturbed 20 of 20 blocks" in page
    assert "these are the figures of a disturbed machine" in page
    assert "20 of 20 blocks, too many to leave out" in page
    _, rows, pictures = drawn(lost)
    assert rows[0].summary == lost.conclusion.arms[0].summary["wall_s"]
    assert (rows[0].summary.n, rows[0].disturbed) == (20, 20)
    assert len(pictures.boxes.boxes[0].dots) == 20
    assert len(pictures.convergence.marks) == 20
    assert 'data-key="disturbed"' in page
    assert "What was watched, in the launches that were left out" not in page


def test_completely_disturbed_calibration_is_reported():
    spec = msgspec.structs.replace(timed().spec, kind=Kind.CALIBRATE)
    report = disturbed(replace(timed(), spec=spec), range(100))
    page = render(report)
    assert "--null" not in page
    shows = page.split('id="calibration"')[1].split("</section>")[0]
    assert "20 of 20 blocks (100 %)" in shows


def test_calibration_without_interval_does_not_suggest_null():
    spec = msgspec.structs.replace(timed().spec, kind=Kind.CALIBRATE)
    report = replace(timed(), spec=spec)
    report = replace(
        report, conclusion=msgspec.structs.replace(report.conclusion, kind=Kind.CALIBRATE)
    )
    page = render(report)
    assert "no interval: too few complete blocks" in page
    assert "--null" not in page


def test_embedded_samples_mark_left_out_ones(measured):
    page = render(measured)
    block = re.search(r'<script[^>]*id="assay-samples"([^>]*)>(.*?)</script>', page, re.DOTALL)
    if "data-encoding" in block[1]:
        samples = json.loads(gzip.decompress(base64.b64decode(block[2])))
    else:
        samples = json.loads(block[2])
    assert sum(sample["left_out"] for sample in samples) == 6


def test_survey_is_not_left_out():
    report = timed(4)
    first = _disturbed(report.samples[0], 1.0)
    survey = msgspec.structs.replace(
        first, launch=msgspec.structs.replace(first.launch, stage=Stage.SURVEY)
    )
    assert replace(report, samples=(survey, *report.samples[1:])).left_out == frozenset()
