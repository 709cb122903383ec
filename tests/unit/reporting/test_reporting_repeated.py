"""Tables of sweeps with a repeated baseline or tied cells; studies of spreads."""

from dataclasses import replace

import msgspec
import pytest
import report_studies as studies

from assay.cli.show.cells import cell_lines
from assay.records import Goal, Statistic, Verdict
from assay.reporting.arms import arm_rows
from assay.reporting.cells_text import to_markdown
from assay.reporting.gains import gain_figure
from assay.reporting.html import render
from assay.reporting.text import to_markdown as arms_to_markdown
from assay.reporting.trials import trials

AGAIN = "default (again)"


@pytest.fixture
def twice():
    """Return a study with a second baseline, whose only claim is the noise floor."""
    report = studies.sweep()
    found = report.conclusion
    again = msgspec.structs.replace(found.arms[0], name=AGAIN)
    floor = msgspec.structs.replace(
        found.claims[0], b=AGAIN, ratio=1.003, ci=(0.99, 1.01), verdict=Verdict.SAME
    )
    return msgspec.structs.replace(
        found, arms=(found.arms[0], again, *found.arms[1:]), noise_floor=floor
    ), report.spec


def test_second_baseline_is_distinct_on_terminal(twice):
    lines = list(cell_lines(*twice))
    (again,) = [line for line in lines if line.endswith("baseline (again)")]
    assert "+0.3 %" in again
    assert "no value" not in again
    assert sum(line.endswith("baseline") for line in lines) == 1


def test_second_baseline_is_distinct_in_markdown(twice):
    lines = to_markdown(*twice).splitlines()
    (again,) = [line for line in lines if line.endswith("| baseline (again) |")]
    assert "no value" not in again


def test_cells_with_median_have_value(twice):
    conclusion, spec = twice
    bare = msgspec.structs.replace(conclusion, claims=(), noise_floor=None)
    (_, *lines) = cell_lines(bare, spec)
    for line in lines:
        assert not line.endswith("no value")
    assert any(line.endswith("no claim") for line in lines)


def test_tied_cells_are_both_best():
    report = studies.sweep()
    found = report.conclusion
    best = min(found.claims, key=lambda claim: claim.ratio)
    tied = tuple(
        msgspec.structs.replace(c, ratio=best.ratio, verdict=Verdict.FASTER)
        if c.b == found.claims[0].b
        else c
        for c in found.claims
    )
    conclusion = msgspec.structs.replace(found, claims=tied)
    lines = list(cell_lines(conclusion, report.spec))
    assert sum(line.endswith("faster, best") for line in lines) == 2
    assert to_markdown(conclusion, report.spec).count("**faster, best**") == 2


@pytest.fixture
def of_spread():
    report = studies.compare(arms=2)
    spec = msgspec.structs.replace(report.spec, statistic=Statistic.SPREAD)
    claim = msgspec.structs.replace(
        report.conclusion.claims[0], method="spread", ratio=2.1, ci=(1.7, 2.6)
    )
    claim = msgspec.structs.replace(claim, verdict=Verdict.SLOWER, spread=None, spread_ratio=None)
    return replace(
        report, spec=spec, conclusion=msgspec.structs.replace(report.conclusion, claims=(claim,))
    )


def test_page_names_spread_as_compared_statistic(of_spread):
    page = render(of_spread)
    assert "change of spread of wall time" in page
    assert '<span class="badge tone-slower">varies more</span>' in page
    table = page.split('class="claims"')[1].split("</table>")[0]
    assert ">varies more<" in table
    assert ">slower<" not in table
    spread = table.split('data-head="Spread"')[1].split("</td>")[0]
    assert "2.10\u00d7" in spread
    assert "spread of wall time, lower is better" in page


def test_wider_spread_is_worse_for_any_goal(of_spread):
    metric = msgspec.structs.replace(of_spread.metric, goal=Goal.HIGHER)
    workload = msgspec.structs.replace(of_spread.spec.workload, metrics=(metric,))
    spec = msgspec.structs.replace(of_spread.spec, workload=workload)
    report = replace(of_spread, spec=spec)
    assert gain_figure(report, arm_rows(report, trials(report))).goal is Goal.LOWER


def test_mean_has_standard_name():
    page = render(studies.compare(arms=2))
    assert "change of wall time" in page
    assert "varies more" not in page
    assert "spread of wall time" not in page


def test_markdown_has_verdict_on_spread(of_spread):
    text = arms_to_markdown(of_spread.conclusion, of_spread.spec)
    assert "| varies more |" in text
