"""Comparison of two conditions as Markdown."""

from __future__ import annotations

from assay.machine.cpulist import format_list
from assay.records.comparison import Condition, ConditionDifference, OccasionComparison
from assay.reporting.scale import Scale, scale_for
from assay.reporting.text import escape, markdown_table
from assay.wording.occasions import (
    effect_sentence,
    launches_sentence,
    occasions_sentences,
    origin,
    verdict_sentence,
)


def to_markdown(found: OccasionComparison) -> str:
    """Return the verdict, a table of both conditions, and a table of their differences."""
    scale = scale_for([found.a.mean, found.b.mean], found.unit)
    sentences = [
        verdict_sentence(found),
        effect_sentence(found),
        launches_sentence(found) or "",
        *occasions_sentences(found),
    ]
    parts = [escape(sentence) for sentence in sentences if sentence]
    parts.append(_conditions(found, scale))
    if found.differences:
        parts.append(_differences(found))
    listed = [*found.notes, *([found.remedy] if found.remedy else [])]
    if listed:
        parts.append("\n".join(f"- {escape(line)}" for line in listed))
    return "\n\n".join(parts) + "\n"


def _conditions(found: OccasionComparison, scale: Scale) -> str:
    unit = f" in {scale.unit}" if scale.unit else ""
    head = ["condition", "measured", "n", escape(f"mean{unit}"), "sd"]
    rows = [_row(side, scale) for side in (found.a, found.b)]
    return markdown_table(head, rows, left=2)


def _row(condition: Condition, scale: Scale) -> list[str]:
    mean, sd = scale.number(condition.mean), scale.spread(condition.sd)
    return [escape(condition.name), escape(origin(condition)), str(condition.n), mean, sd]


def _differences(found: OccasionComparison) -> str:
    head = ["subject", "item", escape(found.a.name), escape(found.b.name)]
    return markdown_table(
        head, [_difference(difference) for difference in found.differences], left=4
    )


def _difference(difference: ConditionDifference) -> list[str]:
    numbers = f" ({format_list(difference.numbers)})" if difference.numbers else ""
    texts = [
        difference.subject,
        f"{difference.path}{numbers}",
        difference.a or "-",
        difference.b or "-",
    ]
    return [escape(" ".join(text.split())) for text in texts]
