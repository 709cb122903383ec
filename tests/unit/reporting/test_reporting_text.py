"""Markdown and CSV of a conclusion."""

import csv
import io
from dataclasses import replace

import msgspec
import pytest
import report_studies as studies

from assay.records import Claim, Goal, Metric, Verdict
from assay.reporting.answer import answer, claim_sentence
from assay.reporting.text import CSV_COLUMNS, to_csv, to_markdown
from assay.wording.sentence import evidence_text

WALL = Metric(name="wall_s", unit="s")


def claim(**changes):
    fields = {
        "a": "A",
        "b": "B",
        "metric": "wall_s",
        "ratio": 0.8,
        "ci": (0.75, 0.85),
        "verdict": Verdict.FASTER,
        "blocks": 12,
        "margin": 0.01,
        "alpha": 0.05,
        "method": "mean",
    }
    return Claim(**{**fields, **changes})


def test_csv_has_a_line_for_each_arm():
    report = studies.compare()
    lines = list(csv.DictReader(io.StringIO(to_csv(report.conclusion, report.spec))))
    assert tuple(lines[0]) == CSV_COLUMNS
    assert [line["arm"] for line in lines] == [a.name for a in report.conclusion.arms]
    assert lines[0]["ratio"] == "" and lines[0]["verdict"] == ""
    assert float(lines[1]["ratio"]) == report.conclusion.claims[0].ratio
    assert float(lines[2]["median"]) == report.conclusion.arms[2].summary["wall_s"].median


def test_csv_quotes_formulas():
    report = studies.hostile()
    rows = list(csv.reader(io.StringIO(to_csv(report.conclusion, report.spec))))
    assert len(rows) == len(studies.HOSTILE) + 1
    assert all(not cell.startswith(("=", "@")) for row in rows for cell in row)
    assert any(row[0] == '\'=HYPERLINK("http://x")' for row in rows)


def test_markdown_escapes_names():
    report = studies.hostile()
    lines = to_markdown(report.conclusion, report.spec).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    widths = {line.replace("\\|", "").count("|") for line in tables}
    assert widths == {11, 7}
    assert not any("<script" in line.replace("\\<", "") for line in lines)


def test_markdown_of_a_comparison():
    report = studies.compare()
    text = to_markdown(report.conclusion, report.spec)
    assert "takes 29.0 % less time than" in text
    assert "| wall time in ms | n | min |" in text
    assert "| faster | 20 |" in text


@pytest.mark.parametrize("bound_only", [False, True])
def test_ratio_that_is_bound_is_marked(bound_only):
    report = studies.compare()
    bound = msgspec.structs.replace(
        report.conclusion.claims[0], ratio=3.0, ci=(2.5, None), bound_only=bound_only
    )
    conclusion = msgspec.structs.replace(report.conclusion, claims=(bound,))
    assert ("\u2265 3.00\u00d7" in to_markdown(conclusion, report.spec)) == bound_only


@pytest.mark.parametrize(
    ("changes", "metric", "words"),
    [
        ({}, WALL, "B takes 20.0 % less time than A."),
        ({"ratio": 2.5, "verdict": Verdict.SLOWER}, WALL, "B takes 2.50 times as long as A."),
        (
            {"ratio": 1.2, "verdict": Verdict.FASTER},
            Metric(name="rate", goal=Goal.HIGHER),
            "B raises rate by 20.0 % against A.",
        ),
        ({"verdict": Verdict.SAME}, WALL, "B and A are the same in time, to within 1 %."),
        (
            {"verdict": Verdict.UNCLEAR, "blocks_needed": 40},
            WALL,
            "Whether B differs from A in time is unclear. "
            f"About 40 pairs of launches in all would decide, {40 - claim().blocks} more than now.",
        ),
        ({"bound_only": True}, WALL, "B takes at least 20.0 % less time than A."),
    ],
)
def test_claims_are_sentences(changes, metric, words):
    assert claim_sentence(claim(**changes), metric) == words


def recommended(sentence):
    report = studies.tune(8, confirm_blocks=6)
    chosen = report.conclusion.recommendation
    chosen = msgspec.structs.replace(chosen, sentence=sentence(chosen.claim))
    return replace(
        report, conclusion=msgspec.structs.replace(report.conclusion, recommendation=chosen)
    )


def test_interval_is_shown_once():
    told = answer(recommended(lambda found: f"It gains ({evidence_text(found, WALL)})."), [], None)
    assert told.details == ()
    bare = answer(recommended(lambda _: "It gains."), [], None)
    assert len(bare.details) == 1 and "% interval" in bare.details[0]
