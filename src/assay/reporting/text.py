"""Arms and claims of a conclusion as Markdown and CSV, for ``--export``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from assay.records import ArmResult, Claim, Conclusion, Metric, StudySpec
from assay.reporting.answer import claim_sentence
from assay.reporting.formatting import change_interval, claimed_change, label_of
from assay.reporting.scale import Scale, scale_for
from assay.units import show_quantity
from assay.untrusted import clean, no_formula
from assay.wording.observed_metrics import (
    ObservedMetricRow,
    mean_interval,
    observed_metric_rows,
    observed_metrics,
)
from assay.wording.requirement import requirement_text
from assay.wording.sentence import verdict_word

_NUMBERS = ("n", "min", "q1", "median", "q3", "max", "mean", "sd", "sem")

CSV_COLUMNS = (
    "arm",
    "metric",
    "unit",
    *_NUMBERS,
    "failures",
    "timeouts",
    "ratio",
    "ci_low",
    "ci_high",
    "verdict",
    "blocks",
    "mean_low",
    "mean_high",
)
"""Columns of the CSV export: a line for each arm and metric, in the unit of the metric.

Missing values are empty. The claim is on the objective. ``mean_low`` and ``mean_high`` are the
interval of the mean.
"""

_MARKED = re.compile(r"([\\`*_{}\[\]()#+|<>~&!-])")


def to_markdown(conclusion: Conclusion, spec: StudySpec) -> str:
    """Return sentences, a table of arms and a table of claims, in GitHub's dialect."""
    metric = spec.workload.objective
    scale = arm_scale(conclusion, metric)
    parts = [escape(claim_sentence(claim, metric)) for claim in conclusion.claims]
    chosen = conclusion.recommendation
    if chosen is not None and chosen.unproven:
        parts.insert(0, escape(chosen.sentence))
    parts.append(_arm_table(conclusion, metric, scale))
    parts += observed_metric_tables(conclusion, spec)
    if conclusion.claims:
        parts.append(_claim_table((*conclusion.claims, *conclusion.steps)))
    if conclusion.requirements:
        parts.append(requirement_table(conclusion))
    if conclusion.notes:
        parts.append("\n".join(f"- {escape(note)}" for note in conclusion.notes))
    return "\n\n".join(parts) + "\n"


def observed_metric_tables(conclusion: Conclusion, spec: StudySpec) -> list[str]:
    """Return a table of the requested metrics besides the objective, if any.

    Args:
        conclusion, spec: of a study.
    """
    lines = [_metric_row(row) for row in observed_metric_rows(spec, conclusion.arms)]
    head = ["metric", "arm", "n", "mean", "interval", "min", "median", "max"]
    return [markdown_table(head, lines, left=2)] if lines else []


def _metric_row(row: ObservedMetricRow) -> list[str]:
    found, unit = row.summary, row.metric.unit
    named = [escape(row.metric.name), escape(row.arm.name)]
    if found is None:
        return [*named, "0", "no value", *[""] * 4]
    mean, *five = (
        escape(show_quantity(value, unit))
        for value in (found.mean, found.min, found.median, found.max)
    )
    return [*named, str(found.n), mean, escape(mean_interval(found, unit)), *five]


def to_csv(conclusion: Conclusion, spec: StudySpec) -> str:
    """Return a line for each arm and metric under ``CSV_COLUMNS`` (RFC 4180).

    Text that a spreadsheet would read as a formula is quoted.
    """
    claims = {claim.b: claim for claim in conclusion.claims}
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(CSV_COLUMNS)
    objective = spec.workload.objective
    for metric in (objective, *observed_metrics(spec)):
        for arm in conclusion.arms:
            claim = claims.get(arm.name) if metric is objective else None
            writer.writerow([csv_cell(value) for value in arm_values(arm, claim, metric)])
    return out.getvalue()


def escape(text: str) -> str:
    """Escape text for Markdown."""
    return _MARKED.sub(r"\\\1", clean(text))


def arm_scale(conclusion: Conclusion, metric: Metric) -> Scale:
    """Return the scale for the medians of all arms."""
    medians = [a.summary[metric.name].median for a in conclusion.arms if metric.name in a.summary]
    return scale_for(medians, metric.unit)


def _arm_table(conclusion: Conclusion, metric: Metric, scale: Scale) -> str:
    unit = f" in {scale.unit}" if scale.unit else ""
    head = [f"{label_of(metric)}{unit}", *_NUMBERS]
    return markdown_table(head, [_arm_line(arm, metric, scale) for arm in conclusion.arms])


def _arm_line(arm: ArmResult, metric: Metric, scale: Scale) -> list[str]:
    summary = arm.summary.get(metric.name)
    if summary is None:
        return [escape(arm.name), "0", *[""] * (len(_NUMBERS) - 1)]
    values = [getattr(summary, key) for key in _NUMBERS[1:]]
    shown = ["" if value is None else scale.number(value) for value in values]
    return [escape(arm.name), str(summary.n), *shown]


def _claim_table(claims: Sequence[Claim]) -> str:
    lines = [
        [
            escape(claim.b),
            escape(claim.a),
            claimed_change(claim),
            change_interval(claim.ci),
            verdict_word(claim),
            str(claim.blocks),
        ]
        for claim in claims
    ]
    return markdown_table(
        ["arm", "against", "change", "interval", "verdict", "pairs"], lines, left=2
    )


def requirement_table(conclusion: Conclusion) -> str:
    """Return a table of requirements by arm, in the unit of the metric."""
    lines = [
        [
            escape(result.arm),
            escape(requirement_text(result.requirement)),
            result.verdict.value,
            "" if result.value is None else f"{result.value:g}",
            "" if result.worst_value is None else f"{result.worst_value:g}",
            f"{result.satisfied_launches} of {result.launches}",
        ]
        for result in conclusion.requirements
    ]
    return markdown_table(
        ["arm", "requirement", "verdict", "observed", "worst", "satisfied by"], lines, left=3
    )


def markdown_table(head: Sequence[str], lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return a table of escaped cells, with the first ``left`` columns aligned left."""
    marks = ["---" if i < left else "---:" for i in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *lines))


def arm_values(
    arm: ArmResult, claim: Claim | None, metric: Metric
) -> list[str | float | int | None]:
    """Return the values of ``CSV_COLUMNS`` for one arm."""
    summary = arm.summary.get(metric.name)
    numbers = [getattr(summary, key) for key in _NUMBERS] if summary else [0, *[None] * 8]
    about = (
        [claim.ratio, claim.ci[0], claim.ci[1], claim.verdict.value, claim.blocks]
        if claim
        else [None] * 5
    )
    ends = (summary.ci if summary else None) or (None, None)
    named = (arm.name, metric.name, metric.unit)
    return [*named, *numbers, arm.failures, arm.timeouts, *about, *ends]


def csv_cell(value: str | float | int | None) -> str | float | int:
    """Return a value for a spreadsheet; text that looks like a formula is quoted."""
    if value is None:
        return ""
    return no_formula(clean(value)) if isinstance(value, str) else value
