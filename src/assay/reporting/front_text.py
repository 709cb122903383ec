"""Pareto front of several objectives as Markdown and CSV, for ``--export``."""

from __future__ import annotations

import csv
import io

from assay.records import Claim, Conclusion, FrontPoint, StudySpec
from assay.reporting.formatting import change_interval, claimed_change, label_of
from assay.reporting.text import (
    CSV_COLUMNS,
    arm_values,
    csv_cell,
    escape,
    markdown_table,
    observed_metric_tables,
)
from assay.wording.observed_metrics import observed_metrics
from assay.wording.sentence import verdict_word


def to_markdown(conclusion: Conclusion, spec: StudySpec) -> str:
    """Return the answer, a table of confirmed points, and notes, in GitHub's dialect."""
    parts = [escape(conclusion.recommendation.sentence)] if conclusion.recommendation else []
    numbered = [(str(n), point) for n, point in enumerate(conclusion.pareto_front, 1)]
    numbered += [(escape("-"), point) for point in conclusion.excluded_points]
    if numbered:
        head = ["point", "settings"]
        for metric in spec.targets:
            head += [escape(label_of(metric)), "interval", "verdict"]
        lines = [_line(number, point, spec) for number, point in numbered]
        parts.append(markdown_table(head, lines, left=2))
    parts += observed_metric_tables(conclusion, spec)
    if conclusion.notes:
        parts.append("\n".join(f"- {escape(note)}" for note in conclusion.notes))
    return "\n\n".join(parts) + "\n"


def _line(number: str, point: FrontPoint, spec: StudySpec) -> list[str]:
    claims = [point.claim_on(metric.name) for metric in spec.targets]
    return [number, escape(point.name), *(cell for claim in claims for cell in _cells(claim))]


def _cells(claim: Claim | None) -> tuple[str, str, str]:
    if claim is None:
        return "", "", "no value"
    return claimed_change(claim), change_interval(claim.ci), verdict_word(claim)


def to_csv(conclusion: Conclusion, spec: StudySpec) -> str:
    """Return a line for each arm and metric under ``CSV_COLUMNS`` (RFC 4180)."""
    claims = {(claim.b, claim.metric): claim for claim in conclusion.every_claim}
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(CSV_COLUMNS)
    for metric in (*spec.targets, *observed_metrics(spec)):
        for arm in conclusion.arms:
            values = arm_values(arm, claims.get((arm.name, metric.name)), metric)
            writer.writerow([csv_cell(value) for value in values])
    return out.getvalue()
