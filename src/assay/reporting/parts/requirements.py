"""Requirements: verdict on each requirement for each arm."""

from __future__ import annotations

from assay.records import RequirementResult, RequirementVerdict, StudySpec
from assay.reporting.arms import MAX_DRAWN_ROWS
from assay.reporting.formatting import show_name
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el, join
from assay.reporting.parts.common import IN_JSON, first_rows, scroll
from assay.units import show_quantity
from assay.untrusted import clean
from assay.wording.requirement import (
    guarantee_text,
    needed_launches_text,
    required_text,
    unit_of,
)

_HEADS = ("Arm", "Verdict", "Observed", "Worst", "Satisfied by", "Of all launches")
_NUMBERS = ("Observed", "Worst", "Satisfied by")
_TALL = 16
"""Maximum number of lines of a table without its own scroll bar."""
_DASH = "\u2013"

_TONES = {
    RequirementVerdict.HOLDS: "faster",
    RequirementVerdict.BROKEN: "slower",
    RequirementVerdict.UNCLEAR: "unclear",
}

_INTRO = (
    "A requirement is a bound on a quantile of a metric, by default the median. It holds if enough "
    "launches satisfy the bound individually, for any distribution of the metric. Observed is the "
    "quantile of the undisturbed launches. The last column is the guaranteed share among all "
    "launches, including future ones."
)


def required(report: ReportInput) -> Html | None:
    """Return a table for each requirement; ``None`` without results."""
    conclusion, spec = report.conclusion, report.spec
    if conclusion is None or not conclusion.requirements:
        return None
    tables = []
    for requirement in spec.requirements:
        results = [r for r in conclusion.requirements if r.requirement == requirement]
        if results:
            tables.append(_table(spec, required_text(spec, [requirement]), results))
    return join(el("p", _INTRO, class_="intro"), *tables)


def _table(spec: StudySpec, text: str, found: list[RequirementResult]) -> Html:
    heads = [el("th", h, scope="col", class_="num" if h in _NUMBERS else None) for h in _HEADS]
    table = el(
        "table",
        el("caption", clean(text)),
        el("thead", el("tr", heads)),
        el("tbody", [_line(spec, result) for result in found[:MAX_DRAWN_ROWS]]),
        class_="required",
    )
    return join(
        scroll(f"Requirement {clean(text)}", table, tall=len(found) > _TALL),
        first_rows(min(len(found), MAX_DRAWN_ROWS), len(found), "arms", IN_JSON),
    )


def _line(spec: StudySpec, found: RequirementResult) -> Html:
    unit = unit_of(spec, found.metric)
    unknown = f" ({found.unknown_launches} unknown)" if found.unknown_launches else ""
    word = "withheld" if found.verdict_withheld else found.verdict.value
    return el(
        "tr",
        el("th", show_name(found.arm), scope="row"),
        el("td", el("span", word, class_=f"word tone-{_TONES[found.verdict]}")),
        *(
            el("td", _shown(value, unit), class_="num")
            for value in (found.value, found.worst_value)
        ),
        el("td", f"{found.satisfied_launches:,} of {found.launches:,}{unknown}", class_="num"),
        el(
            "td",
            guarantee_text(found).removesuffix(" of all launches") + needed_launches_text(found),
        ),
    )


def _shown(value: float | None, unit: str) -> str:
    return _DASH if value is None else show_quantity(value, unit)
