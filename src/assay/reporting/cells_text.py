"""Cells, claims and effects of a sweep as Markdown and CSV, for ``--export``."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from assay.records import ArmResult, Claim, Conclusion, FactorEffect, StudySpec, Value
from assay.records.configuration import show_value
from assay.reporting.formatting import change, change_interval, claimed_change
from assay.reporting.text import (
    CSV_COLUMNS,
    arm_scale,
    arm_values,
    csv_cell,
    escape,
    markdown_table,
    observed_metric_tables,
    requirement_table,
)
from assay.search.conclusion.cells import (
    baseline_text,
    best_claim,
    cell_word,
    claims_by_arm,
    is_best,
    settings_of,
    sorted_by_settings,
    varied_names,
)
from assay.search.space.named_configurations import NamedLookup
from assay.wording.observed_metrics import observed_metrics
from assay.wording.sweep import alias_text, effect_name, sweep_sentences


def to_markdown(conclusion: Conclusion, spec: StudySpec) -> str:
    """Return sentences, a table of cells and one of effects, in GitHub's dialect."""
    metric = spec.workload.objective
    first = spec.arms[0]
    sentences = sweep_sentences(conclusion, metric, best_claim(conclusion))
    sentences += filter(None, [baseline_text(first.name, first.configuration, spec.space)])
    parts = ["  \n".join(map(escape, sentences))]
    parts.append(_cell_table(conclusion, spec))
    parts += observed_metric_tables(conclusion, spec)
    if conclusion.effects:
        parts.append(_effect_table(conclusion.effects))
    if conclusion.requirements:
        parts.append(requirement_table(conclusion))
    if conclusion.notes:
        parts.append("\n".join(f"- {escape(note)}" for note in conclusion.notes))
    return "\n\n".join(parts) + "\n"


def to_csv(conclusion: Conclusion, spec: StudySpec) -> str:
    """Return a line for each cell and metric: settings, then the columns of ``text.to_csv``."""
    objective = spec.workload.objective
    names, lookup = varied_names(spec.space), NamedLookup(spec.space)
    claims = {claim.b: claim for claim in conclusion.claims}
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*map(csv_cell, names), *CSV_COLUMNS])
    for metric in (objective, *observed_metrics(spec)):
        for arm in sorted_by_settings(conclusion.arms, spec.space):
            settings = settings_of(arm, conclusion, spec.space, lookup)
            shown = [show_value(v) if isinstance(v, bool) else v for v in settings]
            claim = claims.get(arm.name) if metric is objective else None
            values = [*shown, *arm_values(arm, claim, metric)]
            writer.writerow([csv_cell(value) for value in values])
    return out.getvalue()


def _cell_table(conclusion: Conclusion, spec: StudySpec) -> str:
    metric = spec.workload.objective
    scale = arm_scale(conclusion, metric)
    unit = f" {scale.unit}" if scale.unit else ""
    names, lookup = varied_names(spec.space), NamedLookup(spec.space)
    best, claims = best_claim(conclusion), claims_by_arm(conclusion)
    heads = [*map(escape, names), "n", f"median{escape(unit)}", "change", "interval", "verdict"]
    lines = []
    for arm in sorted_by_settings(conclusion.arms, spec.space):
        settings = [_setting(value) for value in settings_of(arm, conclusion, spec.space, lookup)]
        found = arm.summary.get(metric.name)
        figures = ["0", ""] if found is None else [str(found.n), scale.number(found.median)]
        lines.append(
            [*settings, *figures, *_verdict_words(arm, conclusion, claims.get(arm.name), best)]
        )
    return markdown_table(heads, lines, left=len(names))


def _setting(value: Value | None) -> str:
    return "" if value is None else escape(show_value(value))


def _verdict_words(
    arm: ArmResult, conclusion: Conclusion, claim: Claim | None, best: Claim | None
) -> list[str]:
    word = cell_word(arm, conclusion, claim)
    if claim is None:
        return ["", "", word]
    if is_best(claim, best):
        word = f"**{word}, best**"
    return [claimed_change(claim), change_interval(claim.ci), word]


def _effect_table(effects: Sequence[FactorEffect]) -> str:
    lines = [
        [
            escape(effect_name(e)),
            change(e.ratio),
            change_interval(e.ci),
            e.verdict.value,
            escape(alias_text(e)),
        ]
        for e in effects
    ]
    heads = ["effect", "change", "interval", "verdict", "aliases"]
    return markdown_table(heads, lines)
